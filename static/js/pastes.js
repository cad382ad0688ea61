// How many characters are pasted into a text: the number alone, never the text. What is moved about within it is no paste.
for (const area of document.querySelectorAll("#judge [data-kind=text] textarea")) {
  const count = area.parentElement.querySelector("[name^='trace.']");
  if (!count) continue;
  let own = null;
  const add = (length) => {
    const before = JSON.parse(count.value || "[]")[0]?.pasted ?? 0;
    count.value = JSON.stringify([{ pasted: before + length }]);
  };
  const remember = () => {
    own = area.value.slice(area.selectionStart, area.selectionEnd);
  };
  area.addEventListener("copy", remember);
  area.addEventListener("cut", remember);
  area.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text !== own) add(text.length);
  });
  // That scripts ran is known from now on: without them nothing is said of pasting.
  add(0);
}
