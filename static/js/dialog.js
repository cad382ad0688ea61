// A question whose answer a button has fetched is asked in a dialog on the page, and what is filled in is kept first.
document.addEventListener("htmx:after:swap", (event) => {
  const dialog = event.detail.ctx?.target ?? event.target;
  if (!dialog.matches?.("dialog") || dialog.open) return;
  document.dispatchEvent(new Event("assay:save"));
  dialog.showModal();
});
