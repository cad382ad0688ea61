// Keeps the way back for who came by a plain link: the page's address, under the study's name.
// Storage may be blocked, as in a panel's frame; then there is no offer, and nothing else is lost.
const page = location.pathname.match(/^.*\/p\/[\w-]+\//);
try {
  if (page) localStorage.setItem(`assay:${document.body.dataset.slug}`, page[0]);
} catch {
  // Nothing to do: the address itself still works.
}
