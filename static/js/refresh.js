// What refreshes by itself does so while it is in view and nobody is at one of its buttons, and at once when the window
// comes back. What was unfolded in it stays unfolded.
const refreshing = "[hx-trigger^='every']";
document.addEventListener("htmx:before:request", (event) => {
  const { target } = event;
  // What was replaced meanwhile is told by the document.
  if (target === document || !target.matches(refreshing)) return;
  if (document.hidden || target.contains(document.activeElement)) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const each of document.querySelectorAll(refreshing)) {
    htmx.ajax("GET", each.getAttribute("hx-get"), { target: each, swap: each.getAttribute("hx-swap") });
  }
});

const unfolded = new Set();
const nameOf = (details) =>
  `${details.closest(refreshing)?.getAttribute("hx-get")} ${details.querySelector("summary").textContent.trim()}`;
// A toggle does not bubble.
document.addEventListener("toggle", ({ target }) => {
  if (!target.matches("details") || !target.isConnected) return;
  if (target.open) unfolded.add(nameOf(target));
  else unfolded.delete(nameOf(target));
}, true);
document.addEventListener("htmx:after:swap", () => {
  for (const each of document.querySelectorAll(`:is(${refreshing}) details`)) {
    if (unfolded.has(nameOf(each))) each.open = true;
  }
});
