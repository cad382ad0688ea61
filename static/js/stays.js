// The question that stays in view: others learn how high it is. One that would take too much of the window is read where
// it stands, and what stays of it once it is scrolled past is its beginning, with a button that shows all of it. Nothing
// below moves by that: what is taken from its height is given to the space over what follows. A document on a small
// screen likewise.
const root = document.documentElement;
const all = [...document.querySelectorAll(".stays")];
const bar = document.querySelector(".bar");
const docks = [...document.querySelectorAll(".asked-beside, .dock")];
const narrow = matchMedia("(max-width: 52rem)");
// Of the window's height, and in pixels.
const SHARE = 0.2;
const most = () => Math.min(narrow.matches ? 132 : 160, innerHeight * SHARE);
// Of several, the one that sticks in a window of this size.
let question = null;
let isLong = false;
let least = 0;
let whole = 0;
let after = null;
// From the question's end to what follows, and what of it is the margin of that.
let gap = 0;
let margin = 0;

const set = (name, isOn) => question.classList.toggle(name, isOn);
const styleOf = (node) => getComputedStyle(node);

function measure() {
  const isAll = question?.matches(".all");
  for (const each of all) {
    each.classList.remove("long", "clamped", "all", "under");
  }
  if (after) after.style.marginTop = "";
  after = null;
  question = all.find((each) => each.getClientRects().length && styleOf(each).position === "sticky");
  least = question?.offsetHeight ?? 0;
  isLong = least > most();
  if (isLong) {
    whole = least;
    after = question.nextElementSibling;
    while (!after.getClientRects().length) after = after.nextElementSibling;
    question.classList.add("long");
    gap = after.getBoundingClientRect().top - question.getBoundingClientRect().bottom;
    // Between blocks the larger margin counts, elsewhere both.
    margin = styleOf(question.parentElement).display === "block" ? gap : parseFloat(styleOf(after).marginTop);
    // A page that were lower for a moment would be scrolled up.
    after.style.marginTop = `${margin + whole}px`;
    set("clamped", true);
    least = question.offsetHeight;
    set("clamped", false);
    after.style.marginTop = "";
  }
  root.style.setProperty("--stays", `${least}px`);
  follow();
  if (isAll && question.matches(".clamped")) show(true);
}

/** Once no more of it is in view than what stays of it, only that stays; where the page ends it makes room for what is
    docked at the foot. */
function follow() {
  if (!question) return;
  const end = question.getBoundingClientRect().top + least - 1;
  set("under", docks.some((dock) => styleOf(dock).bottom !== "auto" && dock.getBoundingClientRect().top < end));
  if (!isLong) return;
  const isPast = after.getBoundingClientRect().top - gap <= bar.offsetHeight + least;
  if (isPast === question.matches(".clamped")) return;
  set("clamped", isPast);
  show(false);
}

function show(isAll) {
  const [asked, button] = [question.firstElementChild, question.querySelector(".show-all")];
  set("all", isAll);
  const height = isAll ? question.offsetHeight : least;
  after.style.marginTop = question.matches(".clamped") ? `${margin + whole - height}px` : "";
  button.setAttribute("aria-expanded", String(isAll));
  button.textContent = isAll ? button.dataset.less : button.dataset.all;
  // All of it may be more than the window holds, and then scrolls by keyboard, too.
  if (isAll) asked.tabIndex = 0;
  else if (!asked.matches(".source")) asked.removeAttribute("tabindex");
  if (!isAll) asked.scrollTop = 0;
}

for (const each of all) {
  const button = each.querySelector(".show-all");
  button.dataset.all = button.textContent;
  button.addEventListener("click", () => show(!question.matches(".all")));
  // Whoever goes back into it by keyboard reads what is there.
  each.firstElementChild.addEventListener("focusin", () => each.matches(".clamped:not(.all)") && show(true));
  let width = 0;
  new ResizeObserver(() => {
    if (each.offsetWidth !== width || !each.matches(".clamped")) measure();
    width = each.offsetWidth;
  }).observe(each);
}
if (all.length) {
  addEventListener("resize", measure);
  addEventListener("scroll", follow, { passive: true });
}
