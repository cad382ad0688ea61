// The choice and its reason stay in view while responses are read: that is the style sheet's doing. Here: how much room
// that takes, so that what has the focus is never behind it; letting go where it would take more than a third of the
// screen; folding it away; and staying clear of a phone's keyboard.
const NAME = "assay:dock";
// No keyboard is lower.
const KEYBOARD = 120;
const root = document.documentElement;
const form = document.getElementById("judge");
const dock = form.querySelector(".dock");
const foot = document.querySelector(".foot");
const view = window.visualViewport;

const isWritten = (node) => node?.matches?.("textarea, input:not([type=radio], [type=checkbox], [type=hidden])");
const isDocked = () => getComputedStyle(dock).position === "sticky";

function measure() {
  root.style.setProperty("--foot", `${foot?.offsetHeight ?? 0}px`);
  if (!dock) return;
  const height = dock.offsetHeight + (foot?.offsetHeight ?? 0);
  // While somebody writes on a phone the window may be as high as what its keyboard leaves.
  if (!isWritten(document.activeElement)) dock.classList.toggle("released", height > innerHeight / 3);
  root.style.setProperty("--dock", isDocked() ? `${dock.offsetHeight}px` : "0px");
}

/** What is chosen so far, in one line for the folded dock. */
function say() {
  const line = dock.querySelector(".dock-said");
  const parts = [...dock.querySelectorAll("[data-question]:not([data-kind=flag])")].map((question) => {
    const chosen = question.querySelector("input:checked + span");
    const text = question.querySelector("textarea")?.value.trim();
    const words = chosen?.firstChild?.textContent.trim() || chosen?.textContent.trim() || text || line.dataset.open;
    const said = document.createElement("span");
    const asked = document.createElement("span");
    asked.className = "quiet";
    asked.textContent = `${question.querySelector("h2").textContent.trim()} `;
    said.append(asked, words);
    return said;
  });
  line.replaceChildren(...parts);
}

function fold(isFolded) {
  dock.classList.toggle("folded", isFolded);
  dock.querySelector(".fold").setAttribute("aria-expanded", String(!isFolded));
  dock.querySelector(".dock-said").hidden = !isFolded;
  say();
  measure();
}

function remember(isFolded) {
  try {
    localStorage.setItem(NAME, isFolded ? "folded" : "open");
  } catch {
    // Blocked storage: the choice holds for this page.
  }
}

function isRemembered() {
  try {
    return localStorage.getItem(NAME) === "folded";
  } catch {
    return false;
  }
}

// A keyboard that lies over the page leaves the window as it is, and only what is visible of it shrinks.
function dodge() {
  const covered = Math.round(innerHeight - view.height - view.offsetTop);
  const isOpen = isWritten(document.activeElement) && view.scale < 1.05 && innerHeight - view.height > KEYBOARD;
  root.classList.toggle("typing", isOpen);
  root.style.setProperty("--covered", isOpen ? `${Math.max(0, covered)}px` : "0px");
}

// Of a field to write in, browsers bring the caret into view and no more: not out from behind the foot.
document.addEventListener("focusin", ({ target }) => {
  const isInView = dock?.contains(target) && isDocked();
  if (isWritten(target) && !isInView) target.scrollIntoView({ block: "nearest" });
});

const watch = new ResizeObserver(measure);
if (foot) watch.observe(foot);
if (dock) {
  watch.observe(dock);
  dock.querySelector(".fold").addEventListener("click", () => {
    const isFolded = !dock.classList.contains("folded");
    fold(isFolded);
    remember(isFolded);
  });
  document.addEventListener("assay:reveal", (event) => dock.contains(event.target) && fold(false));
  form.addEventListener("input", () => dock.classList.contains("folded") && say());
  if (isRemembered()) fold(true);
}
addEventListener("resize", measure);
document.addEventListener("assay:turned", measure);
document.addEventListener("focusout", () => setTimeout(measure));
if (view) {
  view.addEventListener("resize", dodge);
  view.addEventListener("scroll", dodge);
  document.addEventListener("focusin", dodge);
  document.addEventListener("focusout", dodge);
}
measure();
