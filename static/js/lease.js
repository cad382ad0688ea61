// Warns before the item's place is given up, and asks for more time. The warning lies over the page and moves nothing.
const box = document.querySelector(".lease");
const words = box.querySelector("[role=status]");
const warnMs = Number(box.dataset.warn) * 1000;
const forms = JSON.parse(box.dataset.soon);
const plural = new Intl.PluralRules(document.documentElement.lang);
let end = performance.now() + Number(box.dataset.seconds) * 1000;

function show() {
  const left = end - performance.now();
  box.hidden = left > warnMs;
  if (box.hidden) return;
  const minutes = Math.ceil(left / 60000);
  const soon = forms[plural.select(minutes)] ?? forms.other;
  const text = left > 0 ? soon.replace("{n}", minutes) : box.dataset.over;
  if (words.textContent !== text) words.textContent = text;
}

box.querySelector("button").addEventListener("click", () => document.dispatchEvent(new Event("assay:save")));
document.addEventListener("assay:saved", (event) => {
  end = performance.now() + event.detail.lease_seconds * 1000;
  show();
});
show();
setInterval(show, 5000);
