// What was wrong is red until it is mended: then mark and sentence go, and its line in the list of errors is struck out.
const form = document.getElementById("judge");
const summary = form?.querySelector(".errors");

const isWritten = (text) => [...text.value.trim().replace(/\s+/g, " ")].length >= Number(text.dataset.least || 1);

/** Whether what an input belongs to is answered now. */
function isMended(target, group) {
  if (target.matches("textarea")) return isWritten(target);
  return target.matches("[type=radio], select") || Boolean(group.querySelector("input:checked")) || target.checked;
}

/** Take the sentence away that an element is described by. */
function unsay(element) {
  const ids = (element.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
  const kept = ids.filter((id) => !document.getElementById(id)?.matches(".error"));
  for (const id of ids) if (!kept.includes(id)) document.getElementById(id)?.remove();
  if (kept.length) element.setAttribute("aria-describedby", kept.join(" "));
  else element.removeAttribute("aria-describedby");
}

/** Of a question in several parts: its own sentence goes with the last of them. */
function settle(question) {
  const groups = [...question.querySelectorAll("[role=radiogroup]")];
  if (question.querySelector("[aria-invalid]") || groups.some((each) => !each.querySelector("input:checked"))) return;
  for (const line of question.querySelectorAll(".error")) line.remove();
  question.classList.remove("wrong");
}

function strike() {
  if (!summary) return;
  for (const line of summary.querySelectorAll("li")) {
    const target = document.getElementById(decodeURIComponent(line.querySelector("a").hash.slice(1)));
    const place = target?.closest("[aria-invalid], .wrong, [data-question], .ask");
    line.classList.toggle("mended", Boolean(place) && !place.matches("[aria-invalid], .wrong"));
  }
  summary.hidden = !summary.querySelector("li:not(.mended)");
}

/** Orders and sets tell of a change themselves, as a whole. */
function mendWhole(question) {
  if (question.dataset.kind === "ranking" && question.dataset.open === undefined) {
    for (const each of question.querySelectorAll("[aria-invalid], select")) {
      each.removeAttribute("aria-invalid");
      unsay(each);
    }
    settle(question);
  }
  for (const row of question.querySelectorAll(".calibrated.wrong:not(.draft)")) mendRow(row);
}

function mendRow(row) {
  unsay(row.querySelector("fieldset"));
  row.classList.remove("wrong");
}

form?.addEventListener("input", ({ target }) => {
  const question = target.closest("[data-question]");
  const row = target.closest(".calibrated.wrong");
  if (row && target.value?.trim()) mendRow(row);
  if (question?.matches("[data-kind=ranking], [data-kind=entries]")) mendWhole(question);
  else if (question) mend(target, question);
  strike();
});

function mend(target, question) {
  const marked = target.closest("[aria-invalid]") ?? target.closest("[role=group]");
  if (!isMended(target, marked ?? question)) return;
  if (marked) {
    marked.removeAttribute("aria-invalid");
    unsay(marked);
  }
  for (let each = target.closest(".wrong"); each; each = each.parentElement.closest(".wrong")) settle(each);
}
