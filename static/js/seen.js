// How the item is shown, which response came into view first, and for how long each was in view: numbers alone, kept
// beside the answers. What an earlier visit to the same item counted is gone on with. And whether the page was translated,
// and a code that this browser makes up for this participant, which tells whether they go on in another one.
const form = document.getElementById("judge");
const field = form.elements["~screen"];
const panes = [...form.querySelectorAll(".pane[data-part]")];
const dock = form.querySelector(".dock");
// Under the bar and above the dock a response can be read.
const MARGINS = "-15% 0px -30% 0px";

function before() {
  try {
    const known = JSON.parse(field.value);
    return { first: known.first ?? "", in_view: { ...known.in_view }, translated: known.translated };
  } catch {
    return { first: "", in_view: {} };
  }
}

const known = before();
const seen = new Set();
let since = performance.now();

function browser() {
  try {
    const key = `assay:browser:${location.pathname.match(/\/p\/([\w-]+)\//)[1]}`;
    const made = crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
    if (!localStorage.getItem(key)) localStorage.setItem(key, made);
    return localStorage.getItem(key);
  } catch {
    // Blocked storage, or nobody's page: nothing is said.
    return undefined;
  }
}

function layout() {
  if (form.querySelector(".tabbed")) return "tabs";
  const [first, second] = panes.map((pane) => pane.getBoundingClientRect());
  return second && Math.abs(first.top - second.top) < 1 ? "columns" : "stacked";
}

function count() {
  const now = performance.now();
  if (document.visibilityState === "visible") {
    for (const part of seen) known.in_view[part] = Math.round((known.in_view[part] ?? 0) + now - since);
  }
  since = now;
}

function write() {
  count();
  const docked = Boolean(dock) && getComputedStyle(dock).position === "sticky";
  // As Chrome and those made of it mark a page that they have translated.
  known.translated ||= document.documentElement.matches(".translated-ltr, .translated-rtl") || undefined;
  field.value = JSON.stringify({ layout: layout(), docked, ...known, browser: browser() });
}

const watch = new IntersectionObserver(
  (entries) => {
    count();
    for (const { target, isIntersecting } of entries) {
      const { part } = target.dataset;
      if (!isIntersecting) {
        seen.delete(part);
        continue;
      }
      seen.add(part);
      known.first ||= part;
      known.in_view[part] ??= 0;
    }
  },
  { rootMargin: MARGINS },
);
// A short one at the end of a page may never get there; all of it in the window counts as having come into view.
const whole = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) known.in_view[target.dataset.part] ??= 0;
    }
  },
  { threshold: 1 },
);
for (const pane of panes) {
  watch.observe(pane);
  whole.observe(pane);
}
// A tab that was opened counts as opened, though nothing of it may have come into view.
document.addEventListener("assay:opened", ({ detail }) => {
  known.in_view[detail] ??= 0;
});
document.addEventListener("visibilitychange", () => {
  // Until now it was what it no longer is.
  if (document.visibilityState === "visible") since = performance.now();
  else {
    const now = performance.now();
    for (const part of seen) known.in_view[part] = Math.round((known.in_view[part] ?? 0) + now - since);
    since = now;
  }
});
document.addEventListener("assay:count", write);
form.addEventListener("submit", write);
write();
