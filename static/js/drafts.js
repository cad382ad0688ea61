// Keeps what was filled in: after a short quiet, when the page is left, and when more time is asked for.
const QUIET_MS = 800;
const form = document.getElementById("judge");
const saved = document.querySelector(".saved");
let timer = null;
let dirty = false;
let leaving = false;

function body() {
  document.dispatchEvent(new Event("assay:count"));
  return JSON.stringify(Object.fromEntries(new FormData(form)));
}

const send = (options) =>
  fetch(form.dataset.draft, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    body: body(),
    ...options,
  });

async function save() {
  clearTimeout(timer);
  dirty = false;
  saved.textContent = saved.dataset.saving;
  try {
    const answer = await send();
    if (!answer.ok) throw new Error(String(answer.status));
    const detail = await answer.json();
    saved.textContent = saved.dataset.saved;
    document.dispatchEvent(new CustomEvent("assay:saved", { detail }));
  } catch {
    dirty = true;
    saved.textContent = saved.dataset.failed;
  }
}

form.addEventListener("input", () => {
  dirty = true;
  clearTimeout(timer);
  timer = setTimeout(save, QUIET_MS);
});
form.addEventListener("submit", () => {
  leaving = true;
  clearTimeout(timer);
});
document.addEventListener("assay:save", save);
addEventListener("pagehide", () => {
  // Also without a change: the time in view is worth keeping.
  if (!leaving) send({ keepalive: true }).catch(() => {});
});
addEventListener("pageshow", (event) => {
  if (event.persisted) leaving = false;
});
addEventListener("online", () => dirty && save());
