// Marks the section in view in the bar's table of contents. Without it the links work all the same.
const links = new Map([...document.querySelectorAll("nav.toc a")].map((link) => [link.hash.slice(1), link]));
const sections = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);

function mark() {
  const line = window.innerHeight / 3;
  const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
  const passed = sections.filter((section) => section.getBoundingClientRect().top <= line);
  const current = atEnd ? sections.at(-1) : (passed.at(-1) ?? sections[0]);
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// A link into a folded block opens it, and so has htmx fetch what is in it.
function open() {
  document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
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
document.addEventListener("toggle", stops, { capture: true });
document.addEventListener("htmx:after:swap", stops);
// Not before htmx, which begins once the document is there, listens to folded blocks.
window.addEventListener("load", open);
mark();
stops();
