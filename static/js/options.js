// Of the options that kinds of judges have, those of the chosen kind are shown.
const kind = document.querySelector("select[name=backend]");
const options = [...document.querySelectorAll("details[data-backend]")];
function show() {
  for (const each of options) {
    each.hidden = each.dataset.backend !== kind.value;
    each.open = !each.hidden;
  }
}
kind.addEventListener("change", show);
show();
