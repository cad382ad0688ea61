// 1, T, 2 choose the preference outside of text fields, and can be turned off; Ctrl or Cmd and Enter submits,
// or asks the model where one writes to it.
// Where the focus is in a scale, a number chooses its point. N goes to the next open answer. Choosing never scrolls.
const form = document.getElementById("judge");
const toggle = document.getElementById("shortcuts");
const NAME = "assay:shortcuts";

const isText = (target) => target.matches?.("textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]");

// On a keyboard of another script a key stands for the Latin letter or the digit in its place.
const keyOf = ({ key, code }) => (/^[!-~]$/.test(key) ? key : (/^(?:Key|Digit)(.)$/.exec(code)?.[1] ?? key));

// Of a number with several signs, what was typed of it and when: the next key within this time goes on with it.
const TYPING_MS = 1000;
let typed = { text: "", at: -TYPING_MS, scale: null };

/** The point of the scale that the key means, on its own or after what was typed just before; 10 is also 0 for short. */
function pointOf(scale, event) {
  const goesOn = typed.scale === scale && event.timeStamp - typed.at < TYPING_MS;
  const key = keyOf(event);
  const text = (goesOn ? typed.text : "") + key;
  typed = { text, at: event.timeStamp, scale };
  const points = new Map([...scale.querySelectorAll("input")].map((input) => [input.value, input]));
  const short = { 0: "10", "-": "-1" };
  const wanted = [text, key, short[key]].find((value) => points.has(value));
  // What begins no longer number than this one is done with: the next key is a number of its own.
  if (wanted !== text && key !== "-") typed.text = key;
  return points.get(wanted);
}

/** Of several questions with the same keys: the one that has the focus, else the first that is still open. */
function optionOf(event) {
  const selector = `input[data-key="${CSS.escape(keyOf(event).toUpperCase())}"]`;
  const all = [...form.querySelectorAll(selector)];
  const isOpen = (input) => !form.querySelector(`input[name="${CSS.escape(input.name)}"]:checked`);
  return event.target.closest?.("[data-question]")?.querySelector(selector) ?? all.find(isOpen) ?? all[0];
}

function choose(event) {
  if (!toggle?.checked || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
  if (keyOf(event).toLowerCase() === "n") {
    event.preventDefault();
    document.dispatchEvent(new Event("assay:next"));
    return;
  }
  const scale = /^[-\d]$/.test(keyOf(event)) ? event.target.closest?.(".scale") : null;
  const input = scale ? pointOf(scale, event) : optionOf(event);
  if (!input) return;
  event.preventDefault();
  input.focus({ preventScroll: true });
  input.click();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return choose(event);
  if (event.target.matches?.("#judge :is([type=radio], [type=checkbox])") && !event.ctrlKey && !event.metaKey) {
    // Enter on a choice or a box takes it; it must not send the form by accident.
    event.preventDefault();
    event.target.click();
  } else if ((event.ctrlKey || event.metaKey) && !event.target.closest?.(".help")) {
    event.preventDefault();
    // Who writes to the model sends it that, and not the item.
    if (event.target.matches?.("#instruction")) form.querySelector(".ask-model").click();
    else form.requestSubmit();
  }
});

function apply() {
  document.body.classList.toggle("no-keys", !toggle.checked);
}

function remember() {
  apply();
  try {
    localStorage.setItem(NAME, toggle.checked ? "on" : "off");
  } catch {
    // Blocked storage: the choice holds for this page.
  }
}

// A page without such keys has nothing to turn off.
if (toggle) {
  toggle.addEventListener("change", remember);
  try {
    toggle.checked = localStorage.getItem(NAME) !== "off";
  } catch {
    // Blocked storage: shortcuts are on.
  }
  apply();
}
