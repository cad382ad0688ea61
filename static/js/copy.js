// Copies the completion code; where the browser refuses, the code is selected for copying by hand.
const button = document.querySelector("[data-copy]");
button?.addEventListener("click", async () => {
  const code = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = button.dataset.done;
  } catch {
    getSelection().selectAllChildren(code);
  }
});
