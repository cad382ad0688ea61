// The preview beside a draft's form. A redrawn screen is a frame that comes behind the last one and takes its place once
// it is there; what is wrong is said at its field, and the last good screen stays.
const form = document.querySelector("form.design");
const screens = document.querySelector("#preview-screen");
const notes = document.querySelector("#preview-notes");
const width = form.querySelector("[name=preview_width]");
const pageOf = form.querySelector("[name=preview_page]");

// An address of a section leads to the page that it is on.
const elsewhere = document.querySelector(`.design-pages a:not([aria-current])[data-places~="${CSS.escape(location.hash.slice(1))}"]`);
if (elsewhere && !document.getElementById(location.hash.slice(1))) location.replace(elsewhere.href + location.hash);

function fit() {
  const wanted = Number(width.value);
  for (const frame of screens.querySelectorAll("iframe")) {
    const scale = wanted ? Math.min(1, screens.clientWidth / wanted) : 1;
    frame.style.width = wanted ? `${wanted}px` : "100%";
    frame.style.height = `${screens.clientHeight / scale}px`;
    frame.style.transform = scale < 1 ? `scale(${scale})` : "";
  }
}

// Nothing in the frame is sent or left; it scrolls where the one before it had been scrolled to.
function arrive(frame) {
  const page = frame.contentDocument;
  if (!page?.body) return;
  page.addEventListener("submit", (event) => event.preventDefault(), true);
  page.addEventListener("click", (event) => event.target.closest("a[href]:not([href^='#'])") && event.preventDefault());
  const before = [...screens.querySelectorAll("iframe")].filter((each) => each !== frame);
  const last = before.at(-1);
  if (last?.dataset.page === pageOf.value) frame.contentWindow.scrollTo(0, last.contentWindow.scrollY);
  frame.dataset.page = pageOf.value;
  for (const each of before) each.remove();
  fit();
}

screens.addEventListener("load", (event) => event.target.matches("iframe") && arrive(event.target), true);
for (const frame of screens.querySelectorAll("iframe")) {
  if (frame.contentDocument?.readyState === "complete") arrive(frame);
}
new ResizeObserver(fit).observe(screens);
width.addEventListener("change", fit);

// Each problem at its field; without a field it stays in the pane.
function mark() {
  for (const each of form.querySelectorAll(".live-error")) each.remove();
  for (const problem of notes.querySelectorAll("[data-field]:not([data-field=''])")) {
    const name = CSS.escape(problem.dataset.field);
    const field = form.querySelector(`[name="${name}"], [name^="${name}_"]`);
    const place = field?.closest(".flex-container, .field");
    if (!place) continue;
    const sentence = document.createElement("p");
    sentence.className = "live-error";
    sentence.textContent = problem.textContent;
    place.append(sentence);
  }
}
new MutationObserver(mark).observe(notes, { childList: true });

// An answer that is no preview (signed out, out of order) changes nothing but the note.
form.addEventListener("htmx:before:swap", (event) => {
  const answer = event.detail.ctx.response.raw;
  if (answer.ok && !answer.redirected) return;
  event.preventDefault();
  notes.textContent = notes.dataset.failed;
});

// Where one writes is what one sees: the page of a text, the place of a question.
form.addEventListener("focusin", (event) => {
  const text = event.target.closest("[data-text]")?.dataset.text;
  const option = text && [...pageOf.options].find((each) => each.dataset.texts?.split(" ").includes(text));
  if (option && pageOf.value !== option.value) {
    pageOf.value = option.value;
    pageOf.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const key = event.target.closest("#questions-group .inline-related")?.querySelector("[name$='-key']")?.value;
  const page = screens.querySelector("iframe")?.contentDocument;
  if (!key || !page) return;
  const field = page.querySelector(`[name="${CSS.escape(key)}"], [name^="${CSS.escape(key)}."]`);
  const place = field?.closest("fieldset, section, .question")?.getBoundingClientRect();
  // The frame alone: scrollIntoView would scroll the form, too, from under the pointer that is being pressed.
  const view = page.defaultView;
  if (place) view.scrollBy({ top: place.top + place.height / 2 - view.innerHeight / 2, behavior: "instant" });
});

// Of a new question, the fields of its kind.
function showKind(row) {
  const kind = row.querySelector("select[name$='-kind']");
  for (const group of row.querySelectorAll(".of-kind")) group.hidden = group.dataset.kind !== kind.value;
}
for (const row of form.querySelectorAll(".inline-related:has(.of-kind)")) showKind(row);
form.addEventListener("change", (event) => {
  const row = event.target.closest(".inline-related:has(.of-kind)");
  if (row && event.target.matches("select[name$='-kind']")) showKind(row);
});
document.addEventListener("formset:removed", () => form.dispatchEvent(new Event("input")));
