// A submitted item is answered with the next page itself, which spares a round trip. From then on this is that page's
// address: loaded anew it is asked for and nothing is sent. Without scripts the answer is a redirect.
const SUBMITTED = /a\/[\w-]+\/submit\/$/;
const judge = document.getElementById("judge");
if (judge && SUBMITTED.test(judge.action)) judge.action += "?next";
if (SUBMITTED.test(location.pathname)) history.replaceState(null, "", location.pathname.replace(SUBMITTED, ""));

// A form is sent once: a second click while the answer is on its way changes nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
// Coming back with the browser's own button shows the page as it was left.
addEventListener("pageshow", () => document.querySelectorAll("form").forEach((form) => delete form.dataset.sent));
// What an item's page keeps in the browser until it is saved (static/js/drafts.js) goes with the next page.
try {
  const mine = document.getElementById("judge")?.dataset.draft ?? "";
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("assay:unsent:") && key !== `assay:unsent:${mine}`) sessionStorage.removeItem(key);
  }
} catch {
  // Blocked storage: nothing was kept.
}
