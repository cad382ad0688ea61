// Puts the rows of a form in order: dragged by mouse or finger, moved by buttons and by keys. Their places are numbers in
// fields, which are all there is without it. The row that moves is never taken out of the page: so it keeps the focus.

const FAR_ENOUGH = 4;
const EDGE = 72;
const FASTEST = 14;
const STEPS = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1, Home: () => 0, End: (at, last) => last };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

class Order {
  constructor(group) {
    this.group = group;
    this.list = group.querySelector(".module");
    this.held = null;
    group.addEventListener("click", (event) => this.press(event));
    group.addEventListener("keydown", (event) => this.key(event));
    group.addEventListener("focusout", (event) => event.target.matches(".handle") && this.putDown());
    group.addEventListener("formset:added", () => this.number());
    this.number();
    group.classList.add("ready");
  }

  get rows() {
    return [...this.list.children].filter((row) => row.matches(".inline-related:not(.empty-form)"));
  }

  at(row) {
    return this.rows.indexOf(row);
  }

  number() {
    const rows = this.rows;
    rows.forEach((row, at) => {
      row.querySelector("[name$='-position']").value = String(at);
      row.querySelector(".up").setAttribute("aria-disabled", String(at === 0));
      row.querySelector(".down").setAttribute("aria-disabled", String(at === rows.length - 1));
    });
  }

  say(what, row) {
    const x = row.querySelector(".inline_label").textContent.trim();
    const values = { x, n: this.at(row) + 1, all: this.rows.length };
    this.group.querySelector("[role=status]").textContent = fill(this.group.dataset[what], values);
  }

  // The others move across the row.
  put(row, to) {
    const rows = this.rows;
    const from = rows.indexOf(row);
    for (let at = from + 1; at <= to; at++) row.before(rows[at]);
    for (let at = from - 1; at >= to; at--) row.after(rows[at]);
  }

  glide(change, row) {
    const before = new Map(this.rows.map((each) => [each, each.getBoundingClientRect().top]));
    change();
    row?.scrollIntoView({ block: "nearest" });
    if (calm.matches) return;
    for (const [each, top] of before) {
      const by = top - each.getBoundingClientRect().top;
      const way = [{ transform: `translateY(${by}px)` }, { transform: "none" }];
      if (by) each.animate(way, { duration: 160, easing: "ease-out" });
    }
  }

  finish(row) {
    this.number();
    this.say("moved", row);
    this.group.dispatchEvent(new Event("input", { bubbles: true }));
  }

  move(row, to) {
    if (to >= 0 && to < this.rows.length && to !== this.at(row)) {
      this.glide(() => this.put(row, to), row);
      if (!this.held) this.finish(row);
    }
    this.say("moved", row);
  }

  pickUp(row) {
    this.held = { row, from: this.at(row) };
    this.mark(true);
    this.say("held", row);
  }

  putDown() {
    if (!this.held) return;
    const { row, from } = this.held;
    this.mark(false);
    this.held = null;
    if (this.at(row) !== from) this.finish(row);
  }

  putBack() {
    const { row, from } = this.held;
    this.glide(() => this.put(row, from), row);
    this.mark(false);
    this.held = null;
    this.say("back", row);
  }

  mark(held) {
    this.held.row.classList.toggle("held", held);
    this.held.row.querySelector(".handle").setAttribute("aria-pressed", String(held));
  }

  press(event) {
    const button = event.target.closest(".handle, .up, .down");
    if (!button) return;
    const row = button.closest(".inline-related");
    if (!button.matches(".handle")) {
      this.move(row, this.at(row) + (button.matches(".up") ? -1 : 1));
    } else if (event.detail === 0) {
      // Space, Enter and what stands for them; a mouse drags.
      if (this.held) this.putDown();
      else this.pickUp(row);
    }
  }

  key(event) {
    if (!event.target.matches(".handle") || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest(".inline-related");
    const step = this.held && STEPS[event.key];
    if (this.held && event.key === "Escape") this.putBack();
    else if (step) this.move(row, step(this.at(row), this.rows.length - 1));
    else return;
    event.preventDefault();
  }
}

// Dragging by the handle: the rows are folded meanwhile, and those that are passed make room at once.
class Drag {
  constructor(order) {
    this.order = order;
    this.row = null;
    order.group.addEventListener("pointerdown", (event) => this.begin(event));
    order.group.addEventListener("pointermove", (event) => this.follow(event));
    order.group.addEventListener("pointerup", () => this.end(true));
    order.group.addEventListener("pointercancel", () => this.end(false));
    order.group.addEventListener("lostpointercapture", () => this.end(true));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.end(false));
  }

  begin(event) {
    const handle = event.target.closest(".handle");
    if (!handle || event.button !== 0 || !event.isPrimary || this.row) return;
    this.order.putDown();
    handle.setPointerCapture(event.pointerId);
    this.row = handle.closest(".inline-related");
    this.from = this.order.at(this.row);
    this.startY = this.y = event.clientY;
    this.lifted = false;
  }

  follow(event) {
    if (!this.row) return;
    this.y = event.clientY;
    if (!this.lifted && Math.abs(this.y - this.startY) >= FAR_ENOUGH) this.lift();
    if (this.lifted) this.draw();
  }

  // Folding the rows moves them all: the page is scrolled so that this one stays under the pointer.
  lift() {
    const before = this.row.getBoundingClientRect().top;
    this.lifted = true;
    this.grip = this.startY - before;
    this.order.group.classList.add("sorting");
    this.row.classList.add("dragged");
    scrollBy({ top: this.row.getBoundingClientRect().top - before, behavior: "instant" });
    requestAnimationFrame(() => this.scroll());
  }

  draw() {
    const { order, row } = this;
    row.style.transform = "";
    const rows = order.rows;
    const height = row.offsetHeight;
    const middle = this.y - this.grip + height / 2;
    const boxes = rows.filter((each) => each !== row).map((each) => each.getBoundingClientRect());
    order.put(row, boxes.filter((box) => box.top + box.height / 2 < middle).length);
    row.style.transform = `translateY(${this.y - this.grip - row.getBoundingClientRect().top}px)`;
  }

  scroll() {
    if (!this.row || !this.lifted) return;
    const up = Math.max(0, EDGE - this.y);
    const down = Math.max(0, this.y - innerHeight + EDGE);
    if (up || down) {
      scrollBy({ top: Math.max(-FASTEST, Math.min(FASTEST, (down - up) / 4)), behavior: "instant" });
      this.draw();
    }
    requestAnimationFrame(() => this.scroll());
  }

  end(dropped) {
    const { order, row, from } = this;
    this.row = null;
    if (!row || !this.lifted) return;
    row.style.transform = "";
    if (!dropped) order.put(row, from);
    order.group.classList.remove("sorting");
    row.classList.remove("dragged");
    row.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (order.at(row) !== from) order.finish(row);
  }
}

for (const group of document.querySelectorAll(".ordered")) new Drag(new Order(group));
