// Totals per response, and what is still to be answered, with the way there. Their room is there before they have a
// value.
const form = document.getElementById("judge");
const missing = document.querySelector(".missing");
const list = document.getElementById("open-answers");
// Those outside of the form are sent with it, too.
const questions = [...document.querySelectorAll("[data-question]")];

const forms = JSON.parse(missing.dataset.text);
const plural = new Intl.PluralRules(document.documentElement.lang);

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const groups = (question) => [...question.querySelectorAll("[role=radiogroup]")];
// Older browsers have no such lists, and show the number alone.
const isListed = () => list.popover !== undefined && list.matches(":popover-open");
const isOpen = (group) => !group.querySelector("input:checked");

/** Whether a text has the characters that it needs, as the server counts them (static/js/counts.js). */
const isWritten = (text) => [...text.value.trim().replace(/\s+/g, " ")].length >= Number(text.dataset.least || 1);

/** What of a question is still open: for each answer, the element that takes it. */
function open(question) {
  const { required, kind } = question.dataset;
  if (required === undefined) return [];
  if (kind === "ranking") return question.dataset.open === undefined ? [] : [question.querySelector(".handle")];
  if (kind === "entries") {
    const undecided = question.querySelector(".calibrated.draft") ?? question.querySelector(".calibrated");
    return Array(Number(question.dataset.open)).fill(undecided ?? question.querySelector("button"));
  }
  const text = kind === "text" ? question.querySelector("textarea, input[type=text]") : null;
  if (text) return isWritten(text) ? [] : [text];
  if (kind === "tags") return isOpen(question) ? [question.querySelector("input")] : [];
  return groups(question).filter(isOpen).map((group) => group.querySelector("input"));
}

/** Whose answer it is: a response with scales of its own, a follow-up question's card, or the question. */
function subject(question) {
  const card = question.closest(".rated, .follow-up");
  return card ?? question;
}

function nameOf(node) {
  const label = node.matches(".follow-up") ? node.querySelector(".label") : null;
  const name = label ?? node.querySelector("h2") ?? node.querySelector(".who");
  return name?.textContent.trim() ?? "";
}

function go(target) {
  target.dispatchEvent(new Event("assay:reveal", { bubbles: true }));
  const isInView = target.closest(".dock, .rates, .asked-beside");
  // What scripts put in the place of another is reached through its question.
  if (!target.getClientRects().length) target.closest("[data-question]")?.scrollIntoView({ block: "center" });
  else target.closest(".calibrated, .cell, .rate, .check, .ask")?.scrollIntoView({ block: isInView ? "nearest" : "center" });
  target.focus({ preventScroll: true, focusVisible: true });
}

/** The next open answer after where the focus is; after the last, the first. */
function goToNext() {
  const all = questions.flatMap(open);
  const here = document.activeElement;
  const isAfter = (each) => here.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const next = all.find((each) => each !== here && isAfter(each)) ?? all.find((each) => each !== here);
  if (next) go(next);
}

function showList() {
  const found = new Map();
  for (const question of questions) {
    const answers = open(question);
    if (!answers.length) continue;
    const about = subject(question);
    found.set(about, [...(found.get(about) ?? []), ...answers]);
  }
  const buttons = [...found].map(([about, answers]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    const count = document.createElement("span");
    count.className = "quiet";
    if (answers.length > 1) count.textContent = String(answers.length);
    button.append(nameOf(about), count);
    button.addEventListener("click", () => {
      list.hidePopover();
      go(answers[0]);
    });
    return button;
  });
  list.replaceChildren(...buttons);
}

function show() {
  for (const tally of form.querySelectorAll("[data-tally]")) {
    const question = form.querySelector(`[data-question="${CSS.escape(tally.dataset.tally)}"]`);
    const ends = `.${tally.dataset.part}`;
    const all = groups(question).filter((group) => group.querySelector("input").name.endsWith(ends));
    const met = all.filter((group) => group.querySelector("input").checked).length;
    const text = fill(question.dataset.met, { met, all: all.length });
    if (tally.textContent !== text) tally.textContent = text;
  }
  const n = questions.reduce((sum, question) => sum + open(question).length, 0);
  missing.textContent = n ? fill(forms[plural.select(n)] ?? forms.other, { n }) : missing.dataset.none;
  missing.classList.toggle("all", n === 0);
  missing.disabled = n === 0;
  if (isListed()) showList();
}

/** None of these, or some of them: either takes the other's tick away. */
function part({ target }) {
  const boxes = target.closest("[data-kind=tags]")?.querySelectorAll("input") ?? [];
  const isNone = (box) => box.name.endsWith(".~none");
  if (target.checked) for (const box of boxes) if (isNone(box) !== isNone(target)) box.checked = false;
}

form.addEventListener("input", part);
document.addEventListener("input", show);
list.addEventListener("beforetoggle", (event) => event.newState === "open" && showList());
document.addEventListener("assay:next", goToNext);
show();

// A table that is wider than its card scrolls, and so must be reachable by keyboard.
for (const table of form.querySelectorAll(".body table")) {
  if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}
