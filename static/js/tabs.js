// Responses as tabs: on a small screen where they are longer than it, and always where each has scales of its own.
// Every one has to be opened before the item is submitted; those that were opened on an earlier visit are.
const form = document.getElementById("judge");
const group = form.querySelector("[data-tabs]");
const panes = group ? [...group.querySelectorAll(".pane")] : [];
const narrow = matchMedia("(max-width: 52rem)");
const warning = document.querySelector(".unopened");
const shown = form.elements["~screen"];

const cells = [...form.querySelectorAll(".checked .cell")];

const paneOf = (cell) => panes.find((pane) => cell?.querySelector("input").name.endsWith(`.${pane.dataset.part}`));
const nameOf = (pane) => pane.querySelector("h2").textContent.trim();
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Those that were in view before the page was loaded once more. */
function openedBefore() {
  try {
    return Object.keys(JSON.parse(shown.value).in_view);
  } catch {
    return [];
  }
}

class Tabs {
  constructor() {
    this.opened = new Set(openedBefore());
    this.places = new Map();
    this.current = panes[0];
    this.bar = document.createElement("div");
    this.bar.className = "tabs";
    this.list = document.createElement("div");
    this.list.setAttribute("role", "tablist");
    this.list.setAttribute("aria-label", group.dataset.label);
    this.bar.append(this.list);
    if (group.dataset.both) this.addBoth();
    this.tabs = new Map(panes.map((pane, at) => [pane, this.tab(pane, at)]));
    this.list.append(...this.tabs.values());
    if (group.dataset.overall && form.querySelector(".dock")) this.addOverall();
    this.list.addEventListener("keydown", (event) => this.key(event));
    form.addEventListener("input", () => this.show());
  }

  get isOn() {
    return group.classList.contains("tabbed");
  }

  tab(pane, at) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${pane.dataset.part}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", pane.id);
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = nameOf(pane);
    // On a small screen the number stands for the name, which is read out all the same.
    const number = document.createElement("span");
    number.className = "nth";
    number.setAttribute("aria-hidden", "true");
    number.textContent = String(at + 1);
    const state = document.createElement("span");
    state.className = "state";
    const tally = pane.querySelector("header .tally");
    const total = document.createElement("span");
    if (tally) {
      total.className = "tally";
      Object.assign(total.dataset, tally.dataset);
      total.textContent = tally.textContent;
    }
    tab.append(name, number, total, state);
    tab.addEventListener("click", () => this.open(pane));
    return tab;
  }

  /** Beside the tabs of a small screen, where the scales and the choice take turns in the dock. */
  addOverall() {
    this.overall = document.createElement("button");
    this.overall.type = "button";
    this.overall.className = "overall";
    this.overall.textContent = group.dataset.overall;
    this.overall.addEventListener("click", () => this.face(form.dataset.face !== "dock"));
    this.bar.append(this.overall);
    this.face(false);
  }

  /** Beside the tabs of a large screen: the response that is open and the one before it, without their scales. */
  addBoth() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "both";
    button.textContent = group.dataset.both;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const isBoth = group.classList.toggle("paired");
      button.setAttribute("aria-pressed", String(isBoth));
      this.open(this.current);
    });
    this.bar.append(button);
  }

  face(isDock) {
    form.dataset.face = isDock ? "dock" : "scales";
    this.overall?.setAttribute("aria-pressed", String(isDock));
    document.dispatchEvent(new Event("assay:turned"));
  }

  turn(on) {
    if (on === this.isOn) return;
    group.classList.toggle("tabbed", on);
    if (on) group.prepend(this.bar);
    else this.bar.remove();
    for (const pane of panes) {
      if (on) {
        pane.setAttribute("role", "tabpanel");
        pane.setAttribute("aria-labelledby", `tab-${pane.dataset.part}`);
      } else {
        pane.removeAttribute("role");
        pane.removeAttribute("aria-labelledby");
        pane.hidden = false;
      }
    }
    if (on) this.open(this.current);
    else {
      group.classList.remove("paired");
      this.showCells();
    }
  }

  /** Of a checklist beside the responses, the choices of the one that is open. */
  showCells() {
    for (const cell of cells) cell.classList.toggle("other", this.isOn && paneOf(cell) !== this.current);
  }

  open(pane) {
    const line = parseFloat(getComputedStyle(this.bar).top) || 0;
    const start = scrollY + group.getBoundingClientRect().top - line;
    const isStuck = scrollY >= start - 1;
    if (isStuck) this.places.set(this.current, scrollY);
    if (pane !== this.current) this.before = this.current;
    this.before ??= panes[1];
    this.current = pane;
    const shown = group.matches(".paired") ? [pane, this.before] : [pane];
    const fresh = shown.map((each) => each.dataset.part).filter((part) => !this.opened.has(part));
    for (const part of fresh) this.opened.add(part);
    for (const [each, tab] of this.tabs) {
      each.hidden = !shown.includes(each);
      tab.setAttribute("aria-selected", String(each === pane));
      tab.tabIndex = each === pane ? 0 : -1;
    }
    this.showCells();
    this.face(false);
    // Each is read on where it was left; one that is new, from its beginning.
    if (isStuck) scrollTo({ top: Math.max(start, this.places.get(pane) ?? start), behavior: "instant" });
    if (warning && !this.unopened.length) warning.hidden = true;
    this.show();
    for (const part of fresh) document.dispatchEvent(new CustomEvent("assay:opened", { detail: part }));
  }

  get unopened() {
    return this.isOn ? panes.filter((pane) => !this.opened.has(pane.dataset.part)) : [];
  }

  show() {
    for (const [pane, tab] of this.tabs) {
      const scales = [...pane.querySelectorAll("[role=radiogroup]")];
      const rated = scales.filter((scale) => scale.querySelector("input:checked")).length;
      const isUnread = !this.opened.has(pane.dataset.part);
      const state = tab.querySelector(".state");
      const isDone = scales.length > 0 && rated === scales.length;
      const text = scales.length ? (isDone ? "✓" : `${rated}/${scales.length}`) : "";
      const rest = [nameOf(pane)];
      if (scales.length) rest.push(fill(group.dataset.rated, { n: rated, all: scales.length }));
      if (isUnread) rest.push(group.dataset.unread);
      if (scales.length || isUnread) tab.setAttribute("aria-label", rest.join(", "));
      else tab.removeAttribute("aria-label");
      if (state.textContent !== text) state.textContent = text;
      tab.classList.toggle("unread", isUnread);
      tab.classList.toggle("done", isDone);
    }
  }

  key(event) {
    const at = panes.indexOf(this.current);
    const forward = getComputedStyle(group).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: forward, ArrowLeft: -forward }[event.key];
    const to = step ? at + step : { Home: 0, End: panes.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const pane = panes[(to + panes.length) % panes.length];
    this.open(pane);
    this.tabs.get(pane).focus({ preventScroll: true });
  }

  /** Who submits without having opened all of them is told which one is missing, and nothing is sent. */
  hold(event) {
    const [first] = this.unopened;
    if (!first || event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const names = this.unopened.map(nameOf);
    warning.textContent = fill(warning.dataset.text, { x: names.join(", ") });
    warning.hidden = false;
    this.tabs.get(first).focus({ preventScroll: true });
  }
}

if (panes.length > 1) {
  const tabs = new Tabs();
  // Of the responses one after the other; measured once, so that nothing changes under the reader.
  const isLong = () => narrow.matches && (tabs.isOn || group.offsetHeight > innerHeight);
  const apply = () => tabs.turn(group.dataset.tabs === "always" || isLong());
  apply();
  narrow.addEventListener("change", apply);
  document.addEventListener("assay:reveal", (event) => {
    const pane = event.target.closest?.(".pane") ?? paneOf(event.target.closest?.(".checked .cell"));
    if (tabs.isOn && pane) tabs.open(pane);
    else tabs.face(Boolean(event.target.closest?.(".dock")));
  });
  if (warning && shown) form.addEventListener("submit", (event) => tabs.hold(event), { capture: true });
}

// A link to what is in a closed tab or a folded dock opens it first.
document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    target?.dispatchEvent(new Event("assay:reveal", { bubbles: true }));
  },
  { capture: true },
);
