// What refreshes by itself does so while it is in view and nobody is at one of its buttons, and at once when the window
// comes back.
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
