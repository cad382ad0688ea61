// S goes to the next item without settling this one, outside of text fields; it is turned off with the other keys.
const skip = document.getElementById("skip-item");
const toggle = document.getElementById("shortcuts");

const isText = (target) => target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !toggle?.checked || isText(event.target)) return;
  if (event.key.toLowerCase() === "s") skip.click();
});
