// What refreshes by itself does so while it is in view, and at once when the window comes back.
const refreshing = "[hx-trigger^='every']";
document.addEventListener("htmx:before:request", (event) => {
  if (document.hidden && event.target.matches(refreshing)) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const each of document.querySelectorAll(refreshing)) {
    htmx.ajax("GET", each.getAttribute("hx-get"), { target: each, swap: each.getAttribute("hx-swap") });
  }
});
