// The question that stays in view: others learn how high it is, and where it is cut off it scrolls by keyboard, too.
const question = document.querySelector(".stays");

if (question) {
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--stays", `${question.offsetHeight}px`);
    if (question.scrollHeight > question.clientHeight + 1) question.tabIndex = 0;
    else question.removeAttribute("tabindex");
  }).observe(question);
}
