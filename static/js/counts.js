// How many characters a text has, as it is written, beside the least that it must have.
for (const line of document.querySelectorAll("[data-counts]")) {
  const text = document.getElementById(line.dataset.counts);
  const show = () => {
    // As the server counts: whole characters, and runs of blanks are one.
    const n = [...text.value.trim().replace(/\s+/g, " ")].length;
    line.textContent = line.dataset.text.replace("{n}", n).replace("{least}", text.dataset.least);
    line.classList.toggle("enough", n >= Number(text.dataset.least));
  };
  text.closest(".field")?.append(line);
  text.addEventListener("input", show);
  show();
}
