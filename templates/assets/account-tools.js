// What the account page and the pages below it share: local times, and buttons that copy.

import { byId, copy } from "./dom.js";
import "./times.js";

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(byId(button.dataset.copy), byId(button.dataset.said ?? "copied")));
}
