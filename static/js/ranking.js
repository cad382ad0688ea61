// Puts a list in order: dragged by mouse or finger, moved by buttons and by keys. Without it every entry has a select.
// The entry that moves is never taken out of the page, the others move across it: so it keeps the focus.

// As many as the server keeps (evaluation/protocols/answers/trace.py); of more, their number is told.
const MAX_MOVES = 2000;
const STEPS = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1 };
const JUMPS = { ...STEPS, Home: () => 0, End: (at, last) => last };
// Of dragging: from where on it is one, how near to an edge the page scrolls along, and how fast at most (in pixels).
const FAR_ENOUGH = 4;
const EDGE = 72;
const FASTEST = 14;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const clock = document.querySelector("#judge [name=visible_ms]");

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const isTied = (entry) => Boolean(entry?.classList.contains("tied"));
const number = (entry) => entry.querySelector(".place b");

class Ranking {
  constructor(question) {
    this.question = question;
    this.list = question.querySelector(".ranks");
    this.start = question.querySelector("[name$='.start']").value;
    this.confirmed = question.querySelector(".confirm input");
    this.trace = question.querySelector("[name^='trace.']");
    this.moves = JSON.parse(this.trace.value || "[]");
    this.held = null;
    this.list.addEventListener("click", (event) => this.press(event));
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusout", () => this.putDown());
    this.confirmed.addEventListener("input", () => this.show());
    question.closest("form").addEventListener("submit", () => this.putDown());
    this.show();
    question.classList.add("ready");
  }

  get entries() {
    return [...this.list.children];
  }

  at(entry) {
    return this.entries.indexOf(entry);
  }

  say(what, entry) {
    const values = { x: entry.dataset.label, n: this.at(entry) + 1, all: this.list.children.length };
    this.question.querySelector("[role=status]").textContent = fill(this.question.dataset[what], values);
  }

  // Everything that follows from the order.
  show() {
    const all = this.entries;
    all[0].classList.remove("tied");
    let rank = 0;
    all.forEach((entry, at) => {
      if (!isTied(entry)) rank = at + 1;
      const shared = isTied(entry) || isTied(all[at + 1]);
      entry.querySelector("select").value = String(rank);
      number(entry).textContent = shared ? `=${rank}` : String(rank);
      entry.querySelector(".up").setAttribute("aria-disabled", String(at === 0));
      entry.querySelector(".down").setAttribute("aria-disabled", String(at === all.length - 1));
      entry.querySelector(".tie")?.setAttribute("aria-pressed", String(isTied(entry)));
    });
    const untouched = all.map((entry) => entry.dataset.part).join() === this.start && !all.some(isTied);
    if (!untouched) this.confirmed.checked = false;
    this.question.classList.toggle("moved", !untouched);
    this.question.toggleAttribute("data-open", untouched && !this.confirmed.checked);
  }

  put(entry, to) {
    // Who was the same as this one is not the same as the one above it.
    if (!isTied(entry)) entry.nextElementSibling?.classList.remove("tied");
    entry.classList.remove("tied");
    for (let at = this.at(entry); at < to; at++) this.list.insertBefore(entry.nextElementSibling, entry);
    for (let at = this.at(entry); at > to; at--) entry.after(entry.previousElementSibling);
    // Among equals it becomes one of them.
    if (isTied(entry.nextElementSibling)) entry.classList.add("tied");
  }

  // `follow` is kept in view.
  glide(change, follow) {
    const before = new Map(this.entries.map((entry) => [entry, entry.getBoundingClientRect().top]));
    change();
    follow?.scrollIntoView({ block: "nearest" });
    if (calm.matches) return;
    for (const entry of this.entries) {
      const by = before.get(entry) - entry.getBoundingClientRect().top;
      const way = [{ transform: `translateY(${by}px)` }, { transform: "none" }];
      if (by) entry.animate(way, { duration: 160, easing: "ease-out" });
    }
  }

  record(entry, from, by) {
    document.dispatchEvent(new Event("assay:count"));
    const ms = Number(clock?.value) || Math.round(performance.now());
    const move = { part: entry.dataset.part, from: from + 1, to: this.at(entry) + 1, by, ms };
    if (entry.querySelector(".tie")) move.tied = isTied(entry);
    const dropped = this.moves.at(-1)?.dropped;
    if (dropped) this.moves.at(-1).dropped = dropped + 1;
    else this.moves.push(this.moves.length < MAX_MOVES ? move : { dropped: 1 });
    this.trace.value = JSON.stringify(this.moves);
  }

  // A move is over: it is kept, said and told to the page.
  finish(entry, from, by) {
    this.show();
    this.record(entry, from, by);
    this.say(isTied(entry) ? "tied" : "moved", entry);
    this.question.dispatchEvent(new Event("input", { bubbles: true }));
  }

  move(entry, to, by) {
    const from = this.at(entry);
    if (to < 0 || to >= this.list.children.length || to === from) {
      this.say("moved", entry);
      return;
    }
    this.glide(() => this.put(entry, to), entry);
    if (this.held) {
      this.show();
      this.say(isTied(entry) ? "tied" : "moved", entry);
    } else {
      this.finish(entry, from, by);
    }
  }

  pickUp(entry) {
    const entries = this.entries;
    this.held = { entry, from: entries.indexOf(entry), entries, tied: entries.map(isTied) };
    this.mark(entry, true);
    this.say("held", entry);
  }

  putDown() {
    if (!this.held) return;
    const { entry, from, entries, tied } = this.held;
    this.held = null;
    this.mark(entry, false);
    const same = this.entries.every((each, at) => each === entries[at] && isTied(each) === tied[at]);
    if (same) this.say("put", entry);
    else this.finish(entry, from, "key");
  }

  putBack() {
    const { entry, from, entries, tied } = this.held;
    this.held = null;
    this.glide(() => this.put(entry, from), entry);
    entries.forEach((each, at) => each.classList.toggle("tied", tied[at]));
    this.mark(entry, false);
    this.show();
    this.say("back", entry);
  }

  mark(entry, held) {
    entry.classList.toggle("held", held);
    entry.querySelector(".handle").setAttribute("aria-pressed", String(held));
  }

  press(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const entry = button.closest("li");
    if (button.matches(".handle")) {
      // Space, Enter and what stands for them; a mouse drags.
      if (event.detail !== 0) return;
      if (this.held) this.putDown();
      else this.pickUp(entry);
      return;
    }
    button.focus({ preventScroll: true });
    if (button.matches(".tie")) {
      entry.classList.toggle("tied");
      this.finish(entry, this.at(entry), "button");
    } else {
      this.move(entry, this.at(entry) + (button.matches(".up") ? -1 : 1), "button");
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const entry = event.target.closest("li");
    const step = event.altKey ? STEPS[event.key] : this.held && JUMPS[event.key];
    if (this.held && event.key === "Escape") this.putBack();
    else if (step) this.move(entry, step(this.at(entry), this.list.children.length - 1), "key");
    else return;
    event.preventDefault();
  }
}

// Dragging by the handle. Nothing changes its place in the page before the entry is dropped: it and those that it
// passes are only drawn elsewhere, so that nothing jumps.
class Dragging {
  constructor(ranking) {
    this.ranking = ranking;
    this.list = ranking.list;
    this.entry = null;
    this.list.addEventListener("pointerdown", (event) => this.begin(event));
    this.list.addEventListener("pointermove", (event) => this.follow(event));
    this.list.addEventListener("pointerup", (event) => event.pointerId === this.pointer && this.end(true));
    this.list.addEventListener("pointercancel", () => this.end(false));
    this.list.addEventListener("lostpointercapture", () => this.end(false));
    this.list.addEventListener("contextmenu", (event) => this.entry && event.preventDefault());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.end(false));
  }

  begin(event) {
    const handle = event.target.closest(".handle");
    if (!handle || event.button !== 0 || !event.isPrimary || this.entry) return;
    this.ranking.putDown();
    handle.setPointerCapture(event.pointerId);
    this.entry = handle.closest("li");
    this.pointer = event.pointerId;
    this.y = event.clientY;
    this.startY = event.clientY + scrollY;
    this.boxes = null;
  }

  follow(event) {
    if (!this.entry || event.pointerId !== this.pointer) return;
    this.y = event.clientY;
    if (!this.boxes && Math.abs(this.y + scrollY - this.startY) >= FAR_ENOUGH) this.lift();
    if (this.boxes) this.draw();
  }

  lift() {
    this.boxes = this.ranking.entries.map((node) => {
      const box = node.getBoundingClientRect();
      const top = box.top + scrollY;
      return { node, top, bottom: top + box.height, middle: top + box.height / 2, number: number(node).textContent };
    });
    this.from = this.to = this.ranking.at(this.entry);
    this.list.classList.add("sorting");
    this.entry.classList.add("dragged");
    requestAnimationFrame(() => this.scroll());
  }

  draw() {
    const { boxes, from } = this;
    const own = boxes[from];
    const by = Math.min(Math.max(this.y + scrollY - this.startY, boxes[0].top - own.top), boxes.at(-1).bottom - own.bottom);
    const above = boxes.findIndex((box, at) => at < from && own.top + by < box.middle);
    const below = boxes.findLastIndex((box, at) => at > from && own.bottom + by > box.middle);
    this.to = above >= 0 ? above : Math.max(from, below);
    const height = boxes.length > 1 ? boxes[1].top - boxes[0].bottom + own.bottom - own.top : 0;
    boxes.forEach(({ node }, at) => {
      const up = at > from && at <= this.to;
      const down = at < from && at >= this.to;
      if (at !== from) node.style.transform = up || down ? `translateY(${up ? -height : height}px)` : "";
      number(node).textContent = boxes[at === from ? this.to : at - up + down].number;
    });
    this.entry.style.transform = `translateY(${by}px)`;
  }

  // Near what sticks to the window's edges the page scrolls along, as long as there is more of the list there.
  scroll() {
    if (!this.entry || !this.boxes) return;
    const top = Math.max(0, document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0);
    const bottom = Math.min(innerHeight, document.querySelector(".foot")?.getBoundingClientRect().top ?? innerHeight);
    const list = this.list.getBoundingClientRect();
    const up = list.top < top ? Math.max(0, top + EDGE - this.y) : 0;
    const down = list.bottom > bottom ? Math.max(0, this.y - bottom + EDGE) : 0;
    if (up || down) {
      scrollBy({ top: Math.max(-FASTEST, Math.min(FASTEST, (down - up) / 4)), behavior: "instant" });
      this.draw();
    }
    requestAnimationFrame(() => this.scroll());
  }

  end(dropped) {
    const { ranking, entry, boxes, from } = this;
    this.entry = null;
    if (!entry || !boxes) return;
    const to = dropped ? this.to : from;
    ranking.glide(() => {
      this.list.classList.remove("sorting");
      entry.classList.remove("dragged");
      for (const { node } of boxes) node.style.transform = "";
      if (to !== from) ranking.put(entry, to);
    });
    if (to !== from) ranking.finish(entry, from, "drag");
    else ranking.show();
  }
}

for (const question of document.querySelectorAll("[data-kind=ranking]")) new Dragging(new Ranking(question));
