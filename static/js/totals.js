// Totals per response, and what is still to be answered. Their room is there before they have a value.
const form = document.getElementById("judge");
const missing = document.querySelector(".missing");
const questions = [...form.querySelectorAll("[data-question]")];

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const groups = (question) => [...question.querySelectorAll("[role=radiogroup]")];
const isOpen = (group) => !group.querySelector("input:checked");

function open(question) {
  if (question.dataset.required === undefined) return 0;
  if (question.dataset.kind === "ranking") return question.dataset.open === undefined ? 0 : 1;
  if (question.dataset.kind === "entries") return Number(question.dataset.open);
  if (question.dataset.kind === "text") return question.querySelector("textarea").value.trim() ? 0 : 1;
  return groups(question).filter(isOpen).length;
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
  const n = questions.reduce((sum, question) => sum + open(question), 0);
  missing.textContent = n > 1 ? fill(missing.dataset.text, { n }) : n ? missing.dataset.one : missing.dataset.none;
  missing.classList.toggle("all", n === 0);
}

form.addEventListener("input", show);
show();

// A table that is wider than its card scrolls, and so must be reachable by keyboard.
for (const table of form.querySelectorAll(".body table")) {
  if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}
