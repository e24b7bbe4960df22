// Sets the colours before the page is drawn: those that the reader has chosen, else the system's.
const chosen = localStorage.getItem("colours");
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.dataset.colours = chosen ?? system;

addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("colours");
  const show = () => {
    const isDark = document.documentElement.dataset.colours === "dark";
    button.setAttribute("aria-pressed", String(isDark));
  };
  button.addEventListener("click", () => {
    const next = document.documentElement.dataset.colours === "dark" ? "light" : "dark";
    document.documentElement.dataset.colours = next;
    localStorage.setItem("colours", next);
    show();
  });
  show();
});
