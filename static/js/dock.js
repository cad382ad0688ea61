// The choice and its reason stay in view while responses are read: that is the style sheet's doing. Here: how much room
// that takes, so that what has the focus is never behind it; folding the reason away, as somebody likes it and wherever
// both would take more than a third of the window (or, without the foot, two fifths of a very low one); letting go where
// the choice alone would; and staying clear of a phone's keyboard.
const NAME = "assay:dock";
// No keyboard is lower.
const KEYBOARD = 120;
// Of a list of choices that scrolls in the dock, in lines of text, the least that is of use.
const LEAST = 5;
const root = document.documentElement;
const form = document.getElementById("judge");
const dock = form.querySelector(".dock");
const button = dock?.querySelector(".fold");
const reason = button && document.getElementById(button.getAttribute("aria-controls"));
const foot = document.querySelector(".foot");
const view = window.visualViewport;
let isFolded = isRemembered();
// In a window that is too low for both, the reason is open only when asked for, or when something is wrong with it, and
// for as long as the page is.
let isShort = false;
let isOpened = Boolean(reason?.closest(".wrong"));

const isWritten = (node) => node?.matches?.("textarea, input:not([type=radio], [type=checkbox], [type=hidden])");
const sticks = (node) => getComputedStyle(node).position === "sticky";

function measure() {
  const below = foot && sticks(foot) ? foot.offsetHeight : 0;
  root.style.setProperty("--foot", `${below}px`);
  if (!dock) return;
  // While somebody writes on a phone the window may be as high as what its keyboard leaves.
  if (!isWritten(document.activeElement)) arrange(innerHeight * (below ? 1 / 3 : 2 / 5) - below);
  root.style.setProperty("--dock", sticks(dock) ? `${dock.offsetHeight}px` : "0px");
}

function arrange(room) {
  dock.classList.remove("released", "folded", "tight");
  const isDocked = sticks(dock);
  isShort = isDocked && dock.offsetHeight > room;
  if (button) {
    const isShut = isShort ? !isOpened : isFolded;
    dock.classList.toggle("folded", isShut);
    button.setAttribute("aria-expanded", String(!isShut));
    dock.style.setProperty("--fold", `${button.offsetWidth}px`);
    if (!isShut && isShort) return;
  }
  if (!isDocked || dock.offsetHeight <= room) return;
  dock.style.setProperty("--room", `${room}px`);
  const isOfUse = room >= LEAST * parseFloat(getComputedStyle(root).fontSize);
  dock.classList.add(isOfUse ? "tight" : "released");
  if (!isOfUse) dock.classList.remove("folded");
}

function open(isOpen) {
  if (isShort) isOpened = isOpen;
  else isFolded = !isOpen;
  measure();
}

function remember() {
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

/** What has the focus by keyboard, in a panel that scrolls by itself, comes out from behind what sticks to the edges. */
function uncover(target) {
  if (!target.closest(".rates, .asked-beside, .to-check") || !target.matches(":focus-visible")) return;
  const shown = target.closest("label") ?? target;
  shown.scrollIntoView({ block: "nearest" });
  const heads = [...document.querySelectorAll(".bar, .stays, .tabs, .response > header")];
  const stuck = heads.filter((head) => head.getClientRects().length && sticks(head));
  // Where each would be, since one that is pushed out by the end of its part comes back.
  const top = Math.max(0, ...stuck.map((head) => parseFloat(getComputedStyle(head).top) + head.offsetHeight));
  const below = ["--foot", "--dock"].map((name) => parseFloat(root.style.getPropertyValue(name)) || 0);
  const bottom = innerHeight - below[0] - below[1];
  const box = shown.getBoundingClientRect();
  if (box.top < top) scrollBy({ top: box.top - top - 8, behavior: "instant" });
  else if (box.bottom > bottom) scrollBy({ top: box.bottom - bottom + 8, behavior: "instant" });
}

document.addEventListener("focusin", ({ target }) => uncover(target));

// Of a field to write in, browsers bring the caret into view and no more: not out from behind the foot.
document.addEventListener("focusin", ({ target }) => {
  const isInView = dock?.contains(target) && sticks(dock);
  if (isWritten(target) && !isInView) target.scrollIntoView({ block: "nearest" });
});

const watch = new ResizeObserver(measure);
if (foot) watch.observe(foot);
if (dock) watch.observe(dock);
if (button) {
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "false";
    open(isOpen);
    if (!isShort) remember();
    if (isOpen) reason.focus({ preventScroll: true });
  });
  document.addEventListener("assay:reveal", ({ target }) => target.closest("[data-question]")?.contains(reason) && open(true));
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
