// Asks the model for a revised draft and waits for it, without leaving the page.
const POLL_MS = 2000;
// After so many looks in a row that came to nothing, waiting is over.
const MAX_MISSES = 30;
const form = document.getElementById("judge");
const words = JSON.parse(document.querySelector("[data-kind=entries]").dataset.words);
const box = () => document.querySelector(".rounds");
const say = (text) => {
  box().querySelector(".asking").textContent = text;
};
let misses = 0;
let renewals = 0;

/** An answer that a further look would not change. */
class Failure extends Error {}

const instruction = () => box().querySelector("#instruction");

function unlock(text) {
  const field = instruction();
  const button = box().querySelector(".ask-model");
  if (button) button.disabled = false;
  say(text);
  if (!field) return;
  field.readOnly = false;
  // It is one's own again, and drafts have it again.
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

async function get(address) {
  const answer = await fetch(address, { credentials: "omit" });
  if (answer.status >= 400 && answer.status < 500) throw new Failure();
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

/**
 * Puts what the page has of the rounds by now in the place of what it had; the rows of a new revision come along.
 * The participant's page may be about another item by now.
 */
async function renew(waiting) {
  renewals += 1;
  const mine = renewals;
  const answer = await get(box().dataset.page);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector(".rounds");
  if (fresh?.dataset.rounds !== box().dataset.rounds) throw new Failure();
  // A later look was faster.
  if (mine !== renewals) return;
  const before = instruction();
  const focused = box().contains(document.activeElement);
  box().replaceWith(fresh);
  const field = instruction();
  // What is written stays; what was asked goes, whatever draft the fresh page was made from.
  if (field) field.value = before && !before.readOnly ? before.value : "";
  if (waiting) say(words.asking);
  if (focused) (fresh.querySelector("#instruction:not([readonly])") ?? fresh.querySelector("summary"))?.focus();
  const rows = [...page.querySelectorAll('.entry-list [data-home^="m"]')];
  document.dispatchEvent(new CustomEvent("assay:revised", { detail: { rows } }));
}

async function poll() {
  try {
    const answer = await get(box().dataset.rounds);
    const last = (await answer.json()).at(-1);
    if (last?.state !== "waiting") {
      await renew(false);
      say(last?.state === "done" ? words.answered : (last?.problem ?? ""));
      return;
    }
    misses = 0;
  } catch (error) {
    // The network or the server is away: the next look may find it.
    misses += 1;
    if (error instanceof Failure || misses > MAX_MISSES) {
      unlock(words.unseen);
      return;
    }
  }
  setTimeout(poll, POLL_MS);
}

/** What keeps the model from being asked, in words; nothing where it has been. */
async function send(button) {
  const { name, value } = instruction();
  try {
    const answer = await fetch(button.getAttribute("formaction"), {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      credentials: "omit",
      body: JSON.stringify({ ...Object.fromEntries(new FormData(form)), [name]: value }),
    });
    const body = await answer.json();
    return answer.ok ? "" : body.error || words.failed;
  } catch {
    return words.failed;
  }
}

async function ask(button) {
  button.disabled = true;
  instruction().readOnly = true;
  say(words.asking);
  document.dispatchEvent(new Event("assay:asked"));
  const problem = await send(button);
  if (problem) {
    unlock(problem);
    return;
  }
  misses = 0;
  setTimeout(poll, POLL_MS);
  // So that the round is listed at once; if this look fails, the next ones tell.
  renew(true).catch(() => {});
}

// A draft that is saved while the model is asked, or later, does not bring the instruction back (drafts.js). The page
// of patterns shows rounds outside of a form.
form?.addEventListener("formdata", ({ formData }) => {
  const field = instruction();
  if (field?.readOnly) formData.delete(field.name);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".ask-model");
  if (!button) return;
  event.preventDefault();
  ask(button);
});
if (box().dataset.waiting !== undefined) setTimeout(poll, POLL_MS);
