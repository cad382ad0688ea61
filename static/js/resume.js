// Offers who came by a plain link before to go on where they stopped.
const offer = document.querySelector(".resume");
let address = null;
try {
  address = localStorage.getItem(`assay:${offer.dataset.slug}`);
} catch {
  // Blocked storage: no offer.
}
if (/^\/([\w-]+\/)*p\/[\w-]+\/$/.test(address ?? "")) {
  const link = offer.querySelector("a");
  link.href = address;
  link.hidden = false;
}
