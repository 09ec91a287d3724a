// Keys that move and zoom the range of a page of timelines: each follows the link that says it in data-keys.

const links = new Map();
for (const link of document.querySelectorAll("a[data-keys]")) {
  for (const key of link.dataset.keys.split(" ")) links.set(key, link);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [role=region]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const link = links.get(event.key);
  if (link) {
    event.preventDefault();
    link.click();
  }
});
