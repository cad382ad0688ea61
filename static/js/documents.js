// Reference documents: open beside the responses where there is room, and searched in the page. Nothing leaves it.
const box = document.getElementById("documents");
const search = box.querySelector(".documents-search");
const input = search.querySelector("input");
const words = search.querySelector("[role=status]");
const forms = JSON.parse(words.dataset.matches);
const plural = new Intl.PluralRules(document.documentElement.lang);
const documents = [...box.querySelectorAll("li")].map((entry) => ({
  entry,
  details: entry.querySelector("details"),
  texts: [...entry.querySelectorAll(".title, .text, .site")].map((node) => ({ node, text: node.textContent })),
}));

/** Puts the text back with every match marked; returns how many there were. */
function mark({ node, text }, wanted) {
  const pieces = [];
  let count = 0;
  let end = 0;
  if (wanted) {
    for (const match of text.matchAll(wanted)) {
      const marked = document.createElement("mark");
      marked.textContent = match[0];
      pieces.push(text.slice(end, match.index), marked);
      end = match.index + match[0].length;
      count += 1;
    }
  }
  node.replaceChildren(...pieces, text.slice(end));
  return count;
}

function say(matches, found) {
  if (!matches) return words.dataset.none;
  const values = { n: matches, documents: found, all: documents.length };
  return (forms[plural.select(matches)] ?? forms.other).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function find() {
  const text = input.value.trim();
  const wanted = text && new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu");
  let matches = 0;
  let found = 0;
  for (const { entry, details, texts } of documents) {
    const count = texts.reduce((sum, each) => sum + mark(each, wanted), 0);
    entry.hidden = Boolean(wanted) && !count;
    if (wanted) details.open = count > 0;
    matches += count;
    found += count > 0;
  }
  if (!wanted) for (const { details } of documents) details.open = false;
  words.textContent = wanted ? say(matches, found) : "";
}

search.hidden = false;
input.addEventListener("input", find);
// What is searched for is no answer: it is neither kept nor does Enter send the form.
box.addEventListener("input", (event) => event.stopPropagation());
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
  if (event.key === "Escape" && input.value) {
    event.preventDefault();
    input.value = "";
    find();
  }
});
document.querySelector(".to-documents a")?.addEventListener("click", () => {
  box.open = true;
});
if (matchMedia("(min-width: 72rem)").matches) box.open = true;
