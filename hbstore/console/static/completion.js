// Completes names and words in the editor of statements. What can be named comes from /databases/{database}/names.
// The list opens while a name is typed, or with Ctrl+Space. Arrows move in it, Enter and Tab take a word, Escape closes
// it; the text keeps the focus, and says by aria-activedescendant which word is chosen.

const WORDS = [
  ["cube select", "… FROM a cube WHERE time_range_in(…)"], ["select", ""], ["distinct", ""], ["from", ""], ["where", ""],
  ["time_range_in", "(time dimension, 'from', 'to')"], ["and", ""], ["or", ""], ["not", ""], ["in", ""], ["between", ""],
  ["like", ""], ["is null", ""], ["join", ""], ["left join", ""], ["on", ""], ["group by", ""], ["having", ""],
  ["order by", ""], ["asc", ""], ["desc", ""], ["limit", ""], ["as", ""], ["options", "(name = value, …)"],
  ["sum", "(…)"], ["count", "(…)"], ["min", "(…)"], ["max", "(…)"], ["avg", "(…)"],
  ["case", ""], ["when", ""], ["then", ""], ["else", ""], ["end", ""],
  ["show partitions", "of a table"], ["describe", "a table"],
].map(([name, description]) => ({ name, kind: "keyword", type: "", description }));
const MOST = 50; // words in the list
const BEHIND_FROM = /\b(?:from|join|describe|partitions|table|into)\s+[\w.`]*$/i;

const box = document.querySelector("[data-editor] textarea");
const databases = document.querySelector("[data-editor] select[name=database]");
const list = document.createElement("ul");
const said = document.createElement("p");
let names = [];
let shown = [];
let chosen = 0;
let loading; // until the names are there

Object.assign(list, { id: "words", className: "words", hidden: true, ariaLabel: "Words" });
list.setAttribute("role", "listbox");
said.className = "unseen";
said.setAttribute("role", "status");
box.parentElement.append(list, said);
box.setAttribute("aria-autocomplete", "list");
box.setAttribute("aria-haspopup", "listbox");
box.setAttribute("aria-controls", "words");
document.querySelector("[data-with-script]").hidden = false;

async function load() {
  names = [];
  try {
    const address = `/databases/${encodeURIComponent(databases.value)}/names`;
    const reply = await fetch(address, { headers: { Accept: "application/json" } });
    if (reply.ok) names = (await reply.json()).names;
  } catch {
    // there are words without names, too
  }
}

// The name before the caret, as far as it is typed.
function typed() {
  return box.value.slice(0, box.selectionStart).match(/[\w.]*$/)[0];
}

// What may stand at the caret: relations behind FROM, else fields of the relations that the statement names, and words.
function candidates() {
  const behindFrom = BEHIND_FROM.test(box.value.slice(0, box.selectionStart));
  const relations = names.map(({ name, kind, description }) => ({ name, kind, type: "", description }));
  if (behindFrom) return relations;
  const mentioned = new Set(box.value.toLowerCase().match(/\w+/g));
  const named = names.filter(({ name }) => mentioned.has(name));
  const of = named.length ? named : names.filter(({ kind }) => kind === "cube");
  const fields = of.flatMap((one) => [
    ...one.fields,
    ...(named.length > 1 ? one.fields.map((field) => ({ ...field, name: `${one.name}.${field.name}` })) : []),
  ]);
  const seen = new Set();
  return [...fields, ...WORDS, ...relations].filter(({ name }) => !seen.has(name) && seen.add(name));
}

function open(asked) {
  const start = typed().toLowerCase();
  if (!start && !asked) return close();
  const found = candidates().filter(({ name }) => name.toLowerCase().includes(start));
  found.sort((one, other) => !one.name.toLowerCase().startsWith(start) - !other.name.toLowerCase().startsWith(start));
  shown = found.slice(0, MOST);
  if (!shown.length || (!asked && shown[0].name.toLowerCase() === start)) return close();
  list.replaceChildren(...shown.map(option));
  list.hidden = false;
  place(start.length);
  said.textContent = `${found.length} ${found.length === 1 ? "word" : "words"}`;
  choose(0);
}

function option({ name, kind, type, description }, at) {
  const item = document.createElement("li");
  item.id = `word-${at}`;
  item.setAttribute("role", "option");
  const parts = [["b", name], ["small", description], ["span", [kind, type].filter(Boolean).join(" · ")]];
  for (const [tag, text] of parts) {
    const part = document.createElement(tag);
    part.textContent = text;
    item.append(part, " ");
  }
  item.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the text keeps the focus
    choose(at);
    take();
  });
  return item;
}

function choose(at) {
  chosen = (at + shown.length) % shown.length;
  [...list.children].forEach((item, number) => item.setAttribute("aria-selected", number === chosen));
  list.children[chosen].scrollIntoView({ block: "nearest" });
  box.setAttribute("aria-activedescendant", `word-${chosen}`);
}

function close() {
  list.hidden = true;
  said.textContent = "";
  box.removeAttribute("aria-activedescendant");
}

function take() {
  const { name } = shown[chosen];
  box.setSelectionRange(box.selectionStart - typed().length, box.selectionEnd);
  close();
  document.execCommand("insertText", false, name); // as if it were typed, so that it can be undone
  close();
}

// Below the name that is typed: a hidden copy of the text tells where that is.
function place(length) {
  const mirror = document.createElement("div");
  const style = getComputedStyle(box);
  mirror.className = "mirror";
  for (const name of ["font", "padding", "borderWidth", "borderStyle", "width", "tabSize"]) mirror.style[name] = style[name];
  mirror.textContent = box.value.slice(0, box.selectionStart - length);
  const caret = document.createElement("span");
  caret.textContent = box.value.slice(box.selectionStart - length) || ".";
  mirror.append(caret);
  box.parentElement.append(mirror);
  const { offsetLeft, offsetTop } = caret;
  const left = caret.getClientRects()[0].left - mirror.getBoundingClientRect().left;
  mirror.remove();
  list.style.left = `${Math.max(0, Math.min(left ?? offsetLeft, box.clientWidth - list.offsetWidth))}px`;
  list.style.top = `${Math.min(offsetTop - box.scrollTop + parseFloat(style.lineHeight), box.offsetHeight)}px`;
}

const KEYS = {
  ArrowDown: () => choose(chosen + 1),
  ArrowUp: () => choose(chosen - 1),
  Enter: take,
  Tab: take,
  Escape: close,
};

box.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (key === " " && ctrlKey) loading.then(() => document.activeElement === box && open(true));
  else if (!list.hidden && KEYS[key] && !(ctrlKey || metaKey || altKey || shiftKey)) KEYS[key]();
  else return;
  event.preventDefault();
});
box.addEventListener("input", () => open(false));
box.addEventListener("blur", close);
box.addEventListener("click", close);
databases.addEventListener("change", () => (loading = load()));
loading = load();
