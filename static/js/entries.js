// A set of entries: accepting, editing, rejecting, adding, merging and ordering them, and citing fragments for the one
// that is worked on. All of it changes fields that are there without it, too: their values are the whole state.

// As many as the server keeps (evaluation/protocols/answers/trace.py); of more, their number is told.
const MAX_ACTS = 2000;
const MAX_ENTRIES = 30;
const KEEP = "1";
const REJECT = "0";
const clock = document.querySelector("#judge [name=visible_ms]");
const panel = document.querySelector(".fragments");

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const field = (row, name) => row.querySelector(`[name$=".${name}"]`);
const keepOf = (row) => row.querySelector("[type=radio]:checked")?.value ?? "";
const isIn = (row) => keepOf(row) !== REJECT;
const originsOf = (row) => field(row, "origins").value.split(" ").filter(Boolean);
const boxes = (row) => [...row.querySelectorAll(".chip input[name]")];
const fragmentOf = (box) => Number(box.name.split(".").at(-1));
const boxOf = (row, fragment) => boxes(row).find((box) => fragmentOf(box) === fragment);
const chipsOf = (row) => [...row.querySelectorAll("[data-quoted]")];
const quotedOf = (row) => chipsOf(row).map((box) => JSON.parse(box.dataset.quoted));
const lines = (text) => text.split("\n").map((line) => line.trim().replace(/\s+/g, " ")).filter(Boolean);
const joined = (texts, glue) => [...new Set(texts.filter(Boolean))].join(glue);

/** What an entry says, in the spelling of `data-drafted`. */
function said(row) {
  const cited = boxes(row).filter((box) => box.checked).map(fragmentOf);
  const condition = field(row, "condition").value.trim();
  const answers = lines(field(row, "answers").value);
  return [condition, answers, [...cited, ...quotedOf(row)], field(row, "reason").value.trim()];
}

const isAsDrafted = (row) => JSON.stringify(said(row)) === JSON.stringify(JSON.parse(row.dataset.drafted || "null"));

function brief(row) {
  const text = field(row, "condition").value.trim() || lines(field(row, "answers").value)[0] || "";
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

class Entries {
  constructor(question) {
    this.question = question;
    this.list = question.querySelector(".entry-list");
    this.words = JSON.parse(question.dataset.words);
    this.settles = question.dataset.settles !== undefined;
    this.trace = question.querySelector("[name^='trace.']");
    this.acts = JSON.parse(this.trace.value || "[]");
    this.active = null;
    this.edited = "";
    // Merging is done here at once, and not when the form is sent.
    for (const box of this.list.querySelectorAll("[name$='.merge']")) box.checked = false;
    this.list.addEventListener("input", (event) => this.input(event));
    this.list.addEventListener("click", (event) => this.press(event));
    this.list.addEventListener("focusin", (event) => this.enter(event));
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("toggle", (event) => this.open(event), true);
    question.addEventListener("click", (event) => this.take(event));
    question.querySelector(".add-entry").addEventListener("click", () => this.add());
    panel?.addEventListener("click", (event) => this.toggleFragment(event));
    this.activate(this.rows.find(isIn) ?? null);
    this.show();
    question.classList.add("ready");
  }

  get rows() {
    return [...this.list.children];
  }

  get kept() {
    return this.rows.filter(isIn);
  }

  number(row) {
    return this.kept.indexOf(row) + 1;
  }

  // Where else an entry stands, to be taken over once more: then it is not in the list while it is not taken.
  isOffered(row) {
    const home = row.dataset.home;
    return Boolean(home) && originsOf(row).length === 1 && (this.settles || home.startsWith("m"));
  }

  owner(row) {
    const origins = originsOf(row);
    if (!origins.length) return undefined;
    return this.kept.find((other) => origins.every((origin) => originsOf(other).includes(origin)));
  }

  status(row) {
    const origins = originsOf(row);
    if (keepOf(row) === REJECT) {
      if (!origins.length) return "removed";
      return this.owner(row) ? "gone" : "rejected";
    }
    if (!origins.length) return "added";
    if (origins.length > 1) return "merged";
    if (keepOf(row) !== KEEP) return "draft";
    return isAsDrafted(row) ? "accepted" : "edited";
  }

  // Whom to go on with when this one leaves the set.
  neighbour(row) {
    const rows = this.rows;
    const at = rows.indexOf(row);
    return rows.slice(at).find(isIn) ?? rows.slice(0, at).findLast(isIn) ?? null;
  }

  // --- drawing -----------------------------------------------------------------------------------------------------

  // Everything that follows from the fields.
  show() {
    const kept = this.kept;
    this.rows.forEach((row, at) => this.showRow(row, at, kept));
    for (const offer of this.question.querySelectorAll(".offer")) {
      const row = this.row(offer.dataset.offers);
      const taken = Boolean(row) && isIn(row);
      const button = offer.querySelector(".take");
      button.setAttribute("aria-pressed", String(taken));
      const words = taken ? fill(this.words.taken, { n: this.number(row) }) : this.words.take;
      button.querySelector(".take-words").textContent = words;
    }
    this.question.querySelector(".no-entries").hidden = this.rows.some((row) => !row.classList.contains("offered"));
    this.question.dataset.open = String(kept.filter((row) => keepOf(row) !== KEEP).length + (kept.length ? 0 : 1));
    if (this.active && !isIn(this.active)) this.activate(this.neighbour(this.active));
    this.showFragments();
  }

  showRow(row, at, kept) {
    const status = this.status(row);
    const n = kept.indexOf(row) + 1;
    const owner = status === "gone" ? kept.indexOf(this.owner(row)) + 1 : 0;
    const offered = !n && this.isOffered(row) && !owner;
    for (const name of ["draft", "accepted", "edited", "merged", "added", "rejected", "removed", "gone"]) {
      row.classList.toggle(name, name === status);
    }
    row.classList.toggle("offered", offered);
    // What only stands where it can be taken over is not sent.
    row.querySelector("fieldset").disabled = offered;
    for (const number of row.querySelectorAll(".nth")) number.textContent = n ? String(n) : "";
    row.querySelector(".status").textContent = fill(this.words[status], { n: owner });
    row.querySelector(".brief").textContent = brief(row) || this.words.blank;
    row.querySelector(".accept")?.setAttribute("aria-pressed", String(keepOf(row) === KEEP));
    row.querySelector(".up").setAttribute("aria-disabled", String(n <= 1));
    row.querySelector(".down").setAttribute("aria-disabled", String(n === kept.length));
    field(row, "place").replaceChildren(new Option(String(at + 1), String(at + 1), true, true));
  }

  activate(row) {
    this.active?.classList.remove("active");
    this.active?.removeAttribute("aria-current");
    this.active = row;
    row?.classList.add("active");
    row?.setAttribute("aria-current", "true");
    this.showFragments();
  }

  showFragments() {
    if (!panel) return;
    const row = this.active;
    const citing = row ? fill(this.words.citing, { n: this.number(row) }) : this.words.citing_none;
    panel.querySelector(".citing").textContent = row && brief(row) ? `${citing}: ${brief(row)}` : citing;
    for (const entry of panel.querySelectorAll("[data-fragment]")) {
      const cited = Boolean(row && boxOf(row, Number(entry.dataset.fragment))?.checked);
      const button = entry.querySelector(".cite");
      entry.classList.toggle("cited", cited);
      button.setAttribute("aria-pressed", String(cited));
      button.setAttribute("aria-disabled", String(!row));
      button.firstElementChild.textContent = cited ? this.words.cited : this.words.cite;
    }
  }

  say(text) {
    this.question.querySelector(":scope > [role=status]").textContent = text;
  }

  sayStatus(row) {
    const says = row.querySelector(".status").textContent;
    const n = this.number(row);
    this.say(n ? fill(this.words.said, { n, says }) : fill(this.words.said_gone, { says, brief: brief(row) }));
  }

  // --- keeping -----------------------------------------------------------------------------------------------------

  record(act, row, more = {}) {
    document.dispatchEvent(new Event("assay:count"));
    const ms = Number(clock?.value) || Math.round(performance.now());
    const dropped = this.acts.at(-1)?.dropped;
    if (dropped) this.acts.at(-1).dropped = dropped + 1;
    else if (this.acts.length >= MAX_ACTS) this.acts.push({ dropped: 1 });
    else this.acts.push({ act, row: row?.dataset.row ?? "", ...more, ms });
    this.trace.value = JSON.stringify(this.acts);
  }

  // Something is done: it is kept, drawn and told to the page.
  finish(act, row, more) {
    this.show();
    this.record(act, row, more);
    this.question.dispatchEvent(new Event("input", { bubbles: true }));
  }

  setKeep(row, keep) {
    row.querySelector(`[type=radio][value="${keep}"]`).checked = true;
  }

  row(key) {
    return this.rows.find((row) => row.dataset.row === key);
  }

  // --- what is typed -------------------------------------------------------------------------------------------------

  enter(event) {
    const row = event.target.closest("li");
    this.edited = "";
    if (isIn(row) && row !== this.active) this.activate(row);
  }

  input(event) {
    const row = event.target.closest("li");
    const target = event.target;
    if (target.matches(".by-number input")) return event.stopPropagation();
    if (target.matches(".chip input")) return this.dropChip(event, row, target);
    if (!target.matches("textarea")) return undefined;
    this.setKeep(row, KEEP);
    const name = target.name.split(".").at(-1);
    if (this.edited !== target.name) this.record("edit", row, { field: name });
    this.edited = target.name;
    return this.show();
  }

  dropChip(event, row, box) {
    event.stopPropagation();
    const chips = [...row.querySelectorAll(".chip")];
    const chip = box.closest(".chip");
    const others = chips.filter((each) => each !== chip && each.querySelector("input").checked);
    const next = others.find((each) => chips.indexOf(each) > chips.indexOf(chip)) ?? others.at(-1);
    const goal = next?.querySelector("input") ?? row.querySelector(".by-number input") ?? field(row, "reason");
    if (box.matches("[data-quoted]")) {
      chip.remove();
      this.keepQuoted(row);
      this.setKeep(row, KEEP);
      this.finish("uncite", row);
    } else {
      this.cited(row, box);
    }
    goal.focus({ preventScroll: true });
  }

  // The quotations are those of the chips, in their order.
  keepQuoted(row) {
    const quoted = quotedOf(row);
    field(row, "quoted").value = quoted.length ? JSON.stringify(quoted) : "";
  }

  key(event) {
    if (!event.target.matches(".by-number input")) return;
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const row = event.target.closest("li");
    const fragment = Number(event.target.value);
    const box = boxOf(row, fragment);
    if (box) {
      box.checked = !box.checked;
      this.cited(row, box);
    } else {
      this.say(fill(this.words.no_fragment, { fragment: event.target.value }));
    }
    event.target.value = "";
  }

  toggleFragment(event) {
    const button = event.target.closest(".cite");
    if (!button || !this.active) return;
    const box = boxOf(this.active, Number(button.closest("[data-fragment]").dataset.fragment));
    box.checked = !box.checked;
    this.cited(this.active, box);
  }

  cited(row, box) {
    this.setKeep(row, KEEP);
    const fragment = fragmentOf(box);
    this.finish(box.checked ? "cite" : "uncite", row, { fragment });
    const words = box.checked ? this.words.now_cites : this.words.no_longer;
    this.say(fill(words, { n: this.number(row), fragment }));
  }

  // --- what is pressed -----------------------------------------------------------------------------------------------

  press(event) {
    const button = event.target.closest("button");
    const row = event.target.closest("li");
    if (isIn(row) && row !== this.active) this.activate(row);
    if (!button) return;
    if (button.matches(".accept")) this.accept(row);
    else if (button.matches(".edit")) field(row, "condition").focus();
    else if (button.matches(".reject")) this.reject(row);
    else if (button.matches(".restore")) this.restore(row);
    else if (button.matches(".up")) this.move(row, -1);
    else if (button.matches(".down")) this.move(row, 1);
    else if (button.matches("[data-with]")) this.merge(row, this.row(button.dataset.with));
  }

  accept(row) {
    if (keepOf(row) === KEEP) return;
    this.setKeep(row, KEEP);
    this.finish("accept", row);
    this.sayStatus(row);
  }

  reject(row) {
    this.setKeep(row, REJECT);
    this.finish("reject", row);
    this.sayStatus(row);
    const offer = this.question.querySelector(`[data-offers="${row.dataset.row}"] .take`);
    const goal = row.classList.contains("offered") ? (offer ?? this.question.querySelector(".add-entry")) : null;
    // An older revision may be folded, and what is folded takes no focus.
    const folded = goal?.closest("details");
    if (folded) folded.open = true;
    (goal ?? row.querySelector(".restore")).focus({ preventScroll: true });
  }

  restore(row) {
    const owner = this.status(row) === "gone" ? this.owner(row) : undefined;
    if (this.isFull()) return;
    if (owner) {
      const mine = originsOf(row);
      field(owner, "origins").value = originsOf(owner).filter((each) => !mine.includes(each)).join(" ");
    }
    this.setKeep(row, KEEP);
    this.activate(row);
    this.finish("restore", row);
    this.sayStatus(row);
    field(row, "condition").focus({ preventScroll: true });
  }

  move(row, by) {
    const kept = this.kept;
    const from = kept.indexOf(row);
    const other = kept[from + by];
    if (other) {
      // The other one goes across: so this one keeps the focus.
      if (by < 0) row.after(other);
      else row.before(other);
      this.finish("move", row, { from: from + 1, to: from + by + 1 });
      row.scrollIntoView({ block: "nearest" });
    }
    this.say(fill(this.words.moved, { n: this.number(row), all: kept.length }));
  }

  isFull() {
    const full = this.kept.length >= MAX_ENTRIES;
    if (full) this.say(this.words.full);
    return full;
  }

  add() {
    if (this.isFull()) return;
    const numbers = this.rows.map((row) => Number(row.dataset.row.slice(1))).filter((number) => number < 100);
    let number = Math.max(0, ...numbers) + 1;
    while (this.row(`e${number}`)) number += 1;
    const key = `e${number}`;
    const row = this.question.querySelector("template").content.querySelector("li").cloneNode(true);
    for (const node of [row, ...row.querySelectorAll("*")]) {
      for (const { name, value } of [...node.attributes]) {
        if (value.includes(".eN")) node.setAttribute(name, value.replaceAll(".eN", `.${key}`));
      }
    }
    row.dataset.row = key;
    this.list.append(row);
    this.activate(row);
    this.finish("add", row);
    field(row, "condition").focus();
    row.scrollIntoView({ block: "nearest" });
  }

  // --- merging -------------------------------------------------------------------------------------------------------

  open(event) {
    if (!event.target.matches?.(".merge-with") || !event.target.open) return;
    const row = event.target.closest("li");
    const list = event.target.querySelector(".merge-list");
    const buttons = this.kept.filter((other) => other !== row).map((other) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "plain", dir: "auto" });
      button.dataset.with = other.dataset.row;
      button.textContent = `${this.number(other)} ${brief(other) || this.words.blank}`;
      return button;
    });
    list.replaceChildren(...(buttons.length ? buttons : [list.dataset.none]));
    for (const details of this.list.querySelectorAll(".merge-with[open]")) {
      if (details !== event.target) details.open = false;
    }
  }

  // The other one's words come into this one; the other one is no longer in the set and can be restored.
  merge(row, other) {
    const both = (name) => [row, other].map((each) => field(each, name).value.trim());
    field(row, "condition").value = joined(both("condition"), "; ");
    field(row, "answers").value = joined(both("answers").flatMap(lines), "\n");
    field(row, "reason").value = joined(both("reason"), "\n");
    field(row, "origins").value = joined([...originsOf(row), ...originsOf(other)], " ");
    for (const box of boxes(other)) if (box.checked) boxOf(row, fragmentOf(box)).checked = true;
    this.mergeQuoted(row, other);
    this.setKeep(row, KEEP);
    this.setKeep(other, REJECT);
    row.querySelector(".merge-with").open = false;
    this.finish("merge", row, { with: other.dataset.row });
    this.sayStatus(row);
    field(row, "condition").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  mergeQuoted(row, other) {
    const known = new Set(chipsOf(row).map((box) => box.dataset.quoted));
    for (const box of chipsOf(other)) {
      if (known.has(box.dataset.quoted)) continue;
      const last = [...row.querySelectorAll(".chip")].at(-1) ?? row.querySelector(".cites-name");
      last.after(" ", box.closest(".chip").cloneNode(true));
    }
    this.keepQuoted(row);
  }

  // --- taking over ---------------------------------------------------------------------------------------------------

  take(event) {
    const button = event.target.closest(".take, .take-all, .take-instead");
    if (!button) return;
    if (button.matches(".take")) {
      const row = this.row(button.closest(".offer").dataset.offers);
      if (!row) return;
      if (isIn(row)) this.leave(row);
      else if (this.status(row) === "gone") this.restore(row);
      else this.takeRow(row);
      return;
    }
    const { part } = button.dataset;
    if (button.matches(".take-instead")) {
      for (const row of this.kept.filter((each) => !this.standsFor(each, part))) {
        this.setKeep(row, REJECT);
        this.record("reject", row);
      }
    }
    // What was merged into an entry that stays is in the set already.
    const wanted = this.rows.filter((row) => !isIn(row) && this.standsFor(row, part) && !this.owner(row));
    for (const row of wanted) this.takeRow(row);
  }

  // Whether a row is what the page has of an entry of this draft: its own, or one merged from it where that is gone.
  standsFor(row, part) {
    const alone = new Set(this.rows.filter((each) => each !== row).map((each) => field(each, "origins").value));
    return originsOf(row).some((origin) => origin.startsWith(`${part}.`) && !alone.has(origin));
  }

  takeRow(row) {
    if (this.isFull()) return;
    this.list.append(row);
    this.setKeep(row, KEEP);
    this.activate(row);
    this.finish("add", row, { of: originsOf(row)[0] });
    this.sayStatus(row);
  }

  leave(row) {
    this.setKeep(row, REJECT);
    this.finish("reject", row);
    this.sayStatus(row);
  }
}

for (const question of document.querySelectorAll("[data-kind=entries]")) {
  const entries = new Entries(question);
  // A revision that came while the page was open brings rows of its own (rounds.js).
  document.addEventListener("assay:revised", (event) => {
    const known = new Set(entries.rows.map((row) => row.dataset.row));
    entries.list.append(...event.detail.rows.filter((row) => !known.has(row.dataset.row)));
    entries.show();
  });
  document.addEventListener("assay:asked", () => entries.finish("revise", null));
}
