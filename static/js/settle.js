// S goes to the next item without settling this one, outside of text fields; it is turned off with the other keys.
// Ctrl or Cmd and Enter, which submits, goes to the reason first where it is asked for and there is none.
const skip = document.getElementById("skip-item");
const reason = document.getElementById("settle-reason");
const toggle = document.getElementById("shortcuts");

if (toggle) skip.querySelector("kbd").hidden = false;

const isText = (target) => target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");

function goToReason(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || reason.value.trim()) return;
  event.preventDefault();
  event.stopPropagation();
  reason.focus();
}

if (reason) document.addEventListener("keydown", goToReason, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !toggle?.checked || isText(event.target)) return;
  if (event.key.toLowerCase() === "s") skip.click();
});
