// The editor of statements: Ctrl+Enter runs, and what a cube query would read is said while it is typed. The page of a
// query that runs: its events are followed. Without this script, buttons and a page that loads again do the same.

const PAUSE = 400; // milliseconds without a key before the server is asked
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

  form.addEventListener("input", () => {
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

for (const section of document.querySelectorAll("[data-events]")) {
  const number = new Intl.NumberFormat("en");
  const events = new EventSource(section.dataset.events);
  const figure = (name, text) => (section.querySelector(`[data-figure=${name}]`).textContent = text);
  const of = (done, all) => `${number.format(done)} of ${number.format(all)}`;

  const show = ({ data }) => {
    const { state, progress } = JSON.parse(data);
    if (state !== section.dataset.state) {
      events.close();
      return location.reload(); // which shows what came of it, or that it runs
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
