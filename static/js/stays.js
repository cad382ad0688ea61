// The question that stays in view: others learn how high it is, and where it is cut off it scrolls by keyboard, too.
const question = document.querySelector(".stays");

function measure() {
  const isInView = getComputedStyle(question).position === "sticky";
  document.documentElement.style.setProperty("--stays", isInView ? `${question.offsetHeight}px` : "0px");
  if (question.scrollHeight > question.clientHeight + 1) question.tabIndex = 0;
  else question.removeAttribute("tabindex");
}

if (question) {
  new ResizeObserver(measure).observe(question);
  addEventListener("resize", measure);
}
