// 1, T, 2 choose the preference outside of text fields, and can be turned off; Ctrl or Cmd and Enter submits.
const form = document.getElementById("judge");
const toggle = document.getElementById("shortcuts");
const NAME = "assay:shortcuts";

const isText = (target) => target.matches?.("textarea, input:not([type=radio], [type=checkbox]), [contenteditable]");

function choose(event) {
  if (!toggle.checked || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
  const input = form.querySelector(`input[data-key="${CSS.escape(event.key.toUpperCase())}"]`);
  if (!input) return;
  event.preventDefault();
  input.focus();
  input.click();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return choose(event);
  if (event.target.matches?.("[type=radio]") && !event.ctrlKey && !event.metaKey) {
    // Enter on a choice takes it; it must not send the form by accident.
    event.preventDefault();
    event.target.click();
  } else if ((event.ctrlKey || event.metaKey) && !event.target.closest?.(".help")) {
    event.preventDefault();
    form.requestSubmit();
  }
});

function apply() {
  document.body.classList.toggle("no-keys", !toggle.checked);
}

toggle.addEventListener("change", () => {
  apply();
  try {
    localStorage.setItem(NAME, toggle.checked ? "on" : "off");
  } catch {
    // Blocked storage: the choice holds for this page.
  }
});
try {
  toggle.checked = localStorage.getItem(NAME) !== "off";
} catch {
  // Blocked storage: shortcuts are on.
}
apply();
