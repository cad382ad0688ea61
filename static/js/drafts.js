// Keeps what was filled in: after a short quiet, when the page is left, and when more time is asked for.
const QUIET_MS = 800;
const form = document.getElementById("judge");
const saved = document.querySelector(".saved");
const held = form.elements["~held"];
const names = new Set(held.value.split(" ").filter(Boolean));
let timer = null;
let dirty = false;
let leaving = false;
let underWay = null;

function body() {
  document.dispatchEvent(new Event("assay:count"));
  return JSON.stringify(Object.fromEntries(new FormData(form)));
}

// What had something in it while the page was open: the server takes it as emptied on purpose when it is empty later.
// An order and a set of entries tell of a change themselves, and then all of their fields had something in them.
function hold(target) {
  const fields = target.name ? [target] : target.querySelectorAll("[name]");
  for (const each of fields) {
    const isBox = each.matches("[type=checkbox], [type=radio]");
    if (isBox ? each.checked || each.defaultChecked : each.value.trim() || each.defaultValue?.trim()) names.add(each.name);
  }
  held.value = [...names].join(" ");
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
    underWay = new AbortController();
    const answer = await send({ signal: underWay.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    const detail = await answer.json();
    saved.textContent = saved.dataset.saved;
    document.dispatchEvent(new CustomEvent("assay:saved", { detail }));
  } catch {
    dirty = true;
    if (!leaving) saved.textContent = saved.dataset.failed;
  }
}

function saveSoon() {
  dirty = true;
  // From here on "Saved" would be untrue.
  saved.textContent = saved.dataset.saving;
  clearTimeout(timer);
  timer = setTimeout(save, QUIET_MS);
}

form.addEventListener("input", (event) => {
  hold(event.target);
  saveSoon();
});
// A response that was opened need not be opened again after a reload.
document.addEventListener("assay:opened", () => form.dataset.changesOnly === undefined && saveSoon());
document.addEventListener("submit", (event) => {
  // An item that is submitted or skipped takes no draft any more, nor one that is on its way.
  if (event.defaultPrevented || (event.target !== form && !event.target.closest("dialog"))) return;
  leaving = true;
  clearTimeout(timer);
  underWay?.abort();
});
document.addEventListener("assay:save", save);
addEventListener("pagehide", () => {
  // Also without a change: the time in view is worth keeping; of answers that are revised nothing but changes is.
  if (!leaving && (dirty || form.dataset.changesOnly === undefined)) send({ keepalive: true }).catch(() => {});
});
addEventListener("pageshow", (event) => {
  if (event.persisted) leaving = false;
});
addEventListener("online", () => dirty && save());
