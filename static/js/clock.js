// Counts the milliseconds that the page is in view, on top of what an earlier visit to the same item counted.
const field = document.querySelector("#judge [name=visible_ms]");
const before = Number(field.value) || 0;
let counted = 0;
let since = null;

function count() {
  const now = performance.now();
  if (since !== null) counted += now - since;
  since = document.visibilityState === "visible" ? now : null;
  field.value = String(Math.round(before + counted));
}

count();
document.addEventListener("visibilitychange", count);
document.addEventListener("assay:count", count);
document.getElementById("judge").addEventListener("submit", count);
