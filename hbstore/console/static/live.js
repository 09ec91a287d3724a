// Forms with data-live answer while their user types: the page is asked for as the form would, and its #answer taken.
// Without this script the form's button does the same.

const PAUSE = 150; // milliseconds without a key before the server is asked

for (const form of document.querySelectorAll("form[data-live]")) {
  let timer = 0;
  let asked = null;

  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const address = new URL(form.action);
    address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
    const answer = document.querySelector("#answer");
    answer.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(address, { headers: { Accept: "text/html" }, signal: asked.signal });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const found = page.querySelector("#answer") ?? page.querySelector("main");
      answer.replaceChildren(...found.childNodes);
      answer.removeAttribute("aria-busy");
      history.replaceState(null, "", address);
      document.dispatchEvent(new CustomEvent("answered"));
    } catch (error) {
      if (error.name !== "AbortError") answer.removeAttribute("aria-busy");
    }
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
}
