// Marks the section in view in the bar's table of contents. Without it the links work all the same.
const links = new Map([...document.querySelectorAll("nav.toc a")].map((link) => [link.hash.slice(1), link]));
const sections = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);

// A folded section is a line, and is not read yet.
function isRead(section) {
  return section.querySelector("details.fold")?.open ?? true;
}

function mark() {
  const line = window.innerHeight / 3;
  const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
  const read = sections.filter(isRead);
  const passed = read.filter((section) => section.getBoundingClientRect().top <= line);
  const current = atEnd && window.scrollY > 0 ? read.at(-1) : (passed.at(-1) ?? read[0]);
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// A link into a folded section or block opens it, and so has htmx fetch what is in it.
function reveal(hash) {
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!target) return;
  const folded = [target.querySelector(":scope > details.fold"), target];
  for (let each = target.parentElement; each; each = each.parentElement) folded.push(each);
  const closed = folded.filter((each) => each?.localName === "details" && !each.open);
  for (const each of closed) each.open = true;
  if (closed.length) target.scrollIntoView();
  mark();
}

function open() {
  reveal(location.hash);
}

// A table that fits is no stop on the way through the page with the Tab key.
function stops() {
  for (const scroller of document.querySelectorAll(".scroll")) {
    if (scroller.scrollWidth > scroller.clientWidth) scroller.setAttribute("tabindex", "0");
    else scroller.removeAttribute("tabindex");
  }
}

window.addEventListener("scroll", mark, { passive: true });
window.addEventListener("resize", mark, { passive: true });
window.addEventListener("resize", stops, { passive: true });
window.addEventListener("hashchange", open);
// Once more where the address has the same hash already.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link) reveal(link.hash);
});
document.addEventListener("toggle", stops, { capture: true });
document.addEventListener("toggle", mark, { capture: true });
document.addEventListener("htmx:after:swap", stops);
// Not before htmx, which begins once the document is there, listens to folded blocks.
window.addEventListener("load", open);
mark();
stops();
