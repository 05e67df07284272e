// The language menu of every page: choosing a language is enough. The button is for browsers without scripts.

const menu = document.getElementById("language-menu");
if (menu) {
  menu.querySelector("button").hidden = true;
  menu.elements.lang.addEventListener("change", () => menu.requestSubmit());
}
