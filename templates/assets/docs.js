// The list at the side of the API documentation: searching it, and marking the current entry. The style sheet
// shows the part of the page that the fragment names, so links, Back and a reload work without this script. The
// module with the forms is loaded when the first one is opened.

import { byId, element } from "./dom.js";
import { say } from "./texts.js";

const contents = byId("contents");
const search = byId("search");
const found = byId("found");
const title = document.title;
const entries = [...contents.querySelectorAll("li")].map((item) => {
  const link = item.querySelector("a");
  return { item, link, part: document.querySelector(`.part${link.hash}`) };
});
const operations = entries.filter(({ part }) => part?.dataset.operation);

// --- searching ---------------------------------------------------------------------------------------------

const lower = (nodes) => [...nodes].map((node) => node.textContent).join(" ").toLowerCase();
/** What an operation is called: its title, method, path, and the fields that it takes. */
const nameOf = (part) => lower(part.querySelectorAll("h2, .line, .takes dt code"));

function matching(words) {
  const having = (text) => operations.filter(({ part }) => words.every((word) => text(part).includes(word)));
  const named = having(nameOf);
  return named.length ? named : having((part) => lower([part]));
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = new Set(words.length ? matching(words) : entries);
  for (const entry of entries) entry.item.hidden = !shown.has(entry);
  for (const group of contents.querySelectorAll("nav > *")) group.hidden = !group.querySelector("li:not([hidden])");
  found.textContent = words.length ? say("found", { count: shown.size, total: operations.length }) : "";
}

search.addEventListener("input", filter);
search.addEventListener("keydown", (event) => {
  const first = entries.find(({ item }) => !item.hidden);
  if (event.key === "Enter" && search.value && first) first.link.click();
});
if (search.value) filter(); // Firefox keeps it over a reload.

// --- trying out --------------------------------------------------------------------------------------------

/**
 * Loads the module with the forms, and has it make one in this place. An error is shown there until the next
 * try.
 */
async function fill(place, make) {
  if (place.querySelector("form")) return;
  place.querySelector(".message.alert")?.remove();
  try {
    await make(await import("./docs-try.js"));
  } catch (error) {
    const message = element("p", say("failed", { error: error.message }), "message alert");
    message.role = "alert";
    place.append(message);
  }
}

for (const details of document.querySelectorAll(".try-out")) {
  details.addEventListener("toggle", () => details.open && fill(details, ({ tryOut }) => tryOut(details)));
}

// On paper nothing can be unfolded.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll(".part details:not([open], .try-out)")].filter((details) => details.checkVisibility());
  for (const details of unfolded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
});

// --- the current part --------------------------------------------------------------------------------------

function mark() {
  const named = entries.find(({ link }) => link.hash === location.hash);
  const current = named ?? entries[0];
  for (const { link } of entries) link.removeAttribute("aria-current");
  current.link.setAttribute("aria-current", "true");
  const heading = named?.part?.querySelector("h2 [lang]") ?? named?.part?.querySelector("h2");
  document.title = heading ? `${heading.textContent} - ${title}` : title;
  // On a wide screen the list scrolls on its own.
  const { top, bottom } = current.link.getBoundingClientRect();
  const frame = contents.getBoundingClientRect();
  if (contents.scrollHeight > contents.clientHeight && (top < frame.top || bottom > frame.bottom)) {
    contents.scrollTop += top - frame.top - frame.height / 2;
  }
  if (current.part?.id === "access") fill(current.part, ({ showAccess }) => showAccess(current.part));
}

addEventListener("hashchange", mark);
mark();
