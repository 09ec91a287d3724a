// The editor of statements: Ctrl+Enter runs, what a cube query would read is said while it is typed, and what was typed
// is kept while the tab is open, for who comes back. The page of a query that runs: its events are followed, and its
// time goes on. Without this script, buttons and a page that loads again do the same.

const PAUSE = 400; // milliseconds without a key before the server is asked
const DRAFT = "draft"; // of this tab, as its session storage has it
const SECOND = 1000;
const CUBE_QUERY = /^(?:\s|--.*\n|\/\*[^]*?\*\/)*cube\s+select\s/i;

for (const form of document.querySelectorAll("[data-editor]")) {
  const box = form.querySelector("textarea");
  const answer = document.querySelector("#answer");
  let timer = 0;
  let asked = null;

  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    if (!CUBE_QUERY.test(box.value)) return answer.replaceChildren();
    answer.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams([...new FormData(form)]);
      const reply = await fetch("/explain", { method: "POST", body, headers: { Accept: "text/html" }, signal });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      answer.replaceChildren(...(page.querySelector("#answer")?.childNodes ?? []));
      answer.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name !== "AbortError") answer.removeAttribute("aria-busy");
    }
  };

  const fields = () => [...form.elements].filter(({ name }) => name);
  const value = (field) => (field.type === "checkbox" ? field.checked : field.value);
  const keep = () => sessionStorage.setItem(DRAFT, JSON.stringify(fields().map((field) => [field.name, value(field)])));
  const draft = new Map(JSON.parse(sessionStorage.getItem(DRAFT) ?? "[]"));
  if (!box.value.trim() && draft.get("text") && !location.search) {
    for (const field of fields()) {
      if (field.type === "checkbox") field.checked = draft.get(field.name);
      else if (draft.has(field.name)) field.value = draft.get(field.name);
    }
    ask();
  }

  form.addEventListener("input", () => {
    keep();
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  form.addEventListener("submit", () => clearTimeout(timer));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button.first"));
  });
}

// A length of time, as the server writes it.
function elapsed(seconds) {
  const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(seconds / unit));
  if (days >= 2) return `${days} d ${hours % 24} h`;
  if (hours) return `${hours} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

for (const section of document.querySelectorAll("[data-events]")) {
  const number = new Intl.NumberFormat("en");
  const events = new EventSource(section.dataset.events);
  const figure = (name, text) => (section.querySelector(`[data-figure=${name}]`).textContent = text);
  const of = (done, all) => (all ? `${number.format(done)} of ${number.format(all)}` : "none yet");
  const clock = section.querySelector("[data-seconds]");
  const began = performance.now() - SECOND * clock.dataset.seconds;
  setInterval(() => figure("elapsed", elapsed(Math.floor((performance.now() - began) / SECOND))), SECOND);

  const show = ({ data }) => {
    const { state, progress, cancel_requested: cancelling } = JSON.parse(data);
    if (state !== section.dataset.state || String(cancelling) !== section.dataset.cancelling) {
      events.close();
      return location.reload(); // which shows what came of it, that it runs, or that it is being cancelled
    }
    const bar = section.querySelector("progress");
    bar.max = progress.tasks || 1;
    bar.value = progress.tasks_done;
    figure("tasks", of(progress.tasks_done, progress.tasks));
    figure("stages", of(progress.stages_done, progress.stages));
    figure("rows", number.format(progress.rows));
  };
  for (const state of ["queued", "running", "succeeded", "failed", "cancelled", "expired"]) {
    events.addEventListener(state, show);
  }
}
