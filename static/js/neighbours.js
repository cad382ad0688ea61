// The arrow keys lead to the item before and after this one in the list, wherever no field has the focus.
const ways = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  const rel = ways[event.key];
  if (!rel || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable], pre, .scroll")) return;
  document.querySelector(`a[rel="${rel}"]`)?.click();
});
