// Keeps what was filled in: after a short quiet, when the page is left, and when more time is asked for. Until the server
// has it, the browser does, where it may: a page that is loaded again sends what its predecessor could not. Without a
// connection a submit waits for it.
const QUIET_MS = 800;
const AGAIN_MS = 5000;
const form = document.getElementById("judge");
const saved = document.querySelector(".saved");
const unsaved = document.querySelector(".unsaved");
const held = form.elements["~held"];
const names = new Set(held.value.split(" ").filter(Boolean));
const KEY = `assay:unsent:${form.dataset.draft}`;
// They count and remember, and say nothing of what is filled in.
const isCounted = (name) => ["visible_ms", "~screen", "~held"].includes(name) || name.startsWith("trace.");
let timer = null;
let dirty = false;
let leaving = false;
let underWay = null;
let isAway = false;
let waiting = null;

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

function keep() {
  try {
    sessionStorage.setItem(KEY, body());
  } catch {
    // Blocked or full storage: the page alone has it.
  }
}

/** What the browser has kept of this item, and from here on no more. */
function takeKept() {
  try {
    const kept = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return kept;
  } catch {
    return null;
  }
}

const send = (options) =>
  fetch(form.dataset.draft, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    body: body(),
    ...options,
  });

/** Send what is filled in; true once the server has it. */
async function save() {
  clearTimeout(timer);
  dirty = false;
  saved.textContent = saved.dataset.saving;
  const current = (underWay = new AbortController());
  try {
    const answer = await send({ signal: current.signal });
    isAway = false;
    if (!answer.ok) throw new Error(String(answer.status));
    const detail = await answer.json();
    if (!dirty) takeKept();
    saved.textContent = saved.dataset.saved;
    unsaved.textContent = "";
    document.dispatchEvent(new CustomEvent("assay:saved", { detail }));
    return true;
  } catch (error) {
    dirty = true;
    // Fetch fails so where nobody answers; what answers with an error is no matter of the connection.
    if (error instanceof TypeError) isAway = true;
    if (!leaving) saved.textContent = unsaved.textContent = saved.dataset.failed;
    return false;
  }
}

function saveSoon() {
  dirty = true;
  keep();
  // From here on "Saved" would be untrue.
  saved.textContent = saved.dataset.saving;
  clearTimeout(timer);
  timer = setTimeout(save, QUIET_MS);
}

/** Of a page that was left or loaded again before the server had it all: sent now, and shown by the server. */
async function sendKept() {
  const kept = takeKept();
  if (!kept) return;
  const [then, now] = [kept, body()].map((text) => JSON.parse(text));
  const fields = [...Object.keys(then), ...Object.keys(now)].filter((name) => !isCounted(name));
  if (fields.every((name) => (then[name] ?? "") === (now[name] ?? ""))) return;
  form.inert = true;
  try {
    const answer = await send({ body: kept });
    if (answer.ok) {
      leaving = true;
      location.reload();
      return;
    }
  } catch {
    sessionStorage.setItem(KEY, kept);
    saved.textContent = unsaved.textContent = saved.dataset.failed;
  }
  form.inert = false;
}

const note = document.createElement("p");
note.className = "error offline";
note.setAttribute("role", "alert");

/** Hold a submit until the connection is back. */
function wait(submitter) {
  keep();
  waiting = { submitter };
  if (!note.isConnected) {
    document.querySelector(".foot, main .actions")?.prepend(note);
    note.textContent = saved.dataset.offline;
  }
  saved.textContent = saved.dataset.failed;
  setTimeout(goOn, AGAIN_MS);
}

async function goOn() {
  if (!waiting) return;
  const { submitter } = waiting;
  waiting = null;
  if (!navigator.onLine || (!(await save()) && isAway)) {
    wait(submitter);
    return;
  }
  note.remove();
  form.requestSubmit(submitter);
}

form.addEventListener("input", (event) => {
  hold(event.target);
  saveSoon();
});
// A response that was opened need not be opened again after a reload.
document.addEventListener("assay:opened", () => form.dataset.changesOnly === undefined && saveSoon());
form.addEventListener("submit", (event) => {
  if (event.defaultPrevented || (navigator.onLine && !isAway && !waiting)) return;
  event.preventDefault();
  // Nothing was sent: the page's other scripts do not hear of it.
  event.stopPropagation();
  if (waiting) return;
  wait(event.submitter);
  if (navigator.onLine) goOn();
});
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
addEventListener("online", () => (waiting ? goOn() : dirty && save()));
sendKept();
