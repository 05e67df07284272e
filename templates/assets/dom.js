// Small DOM helpers for every page's script.

import { say, write } from "./texts.js";

export const byId = (id) => document.getElementById(id);

export function element(tag, content, className) {
  const made = document.createElement(tag);
  if (content !== undefined) made.append(...[content].flat());
  if (className) made.className = className;
  return made;
}

// aria-disabled instead of disabled: a disabled button would lose the focus.
export function enable(button, may) {
  button.setAttribute("aria-disabled", String(!may));
}

export function isEnabled(button) {
  return button.getAttribute("aria-disabled") !== "true";
}

/**
 * Shows an address in groups, for comparing and reading aloud. It stays one text, so that copying it is
 * exact.
 */
export function showAddress(place, address) {
  const groups = address.match(/^0x|^[a-z]+:|.{1,4}/g) ?? [];
  place.replaceChildren(...groups.map((group) => element("span", group)));
  place.classList.add("address");
  place.dir = "ltr";
  place.role = "img";
  place.ariaLabel = groups.join(" ");
}

/** The beginning and the end of an address, to know it again by. */
export function shortened(address) {
  return address.length > 13 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
}

/**
 * Copies the text of an element. `status` says so, or that the text is selected if the browser does not allow
 * copying.
 */
export async function copy(from, status) {
  try {
    await navigator.clipboard.writeText(from.textContent);
    status.replaceChildren(element("p", write("copied")));
  } catch {
    getSelection().selectAllChildren(from);
    status.replaceChildren(element("p", write("selected")));
  }
}

/** Offers a text as a download. */
export function download(text, name) {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Pasted text often has white space around it. White space inside belongs to the wallet's response, which can
// be JSON.
export function trimmed(text) {
  return text.replace(/^[\s\u200b\u2060\ufeff]+|[\s\u200b\u2060\ufeff]+$/gu, "");
}

/** The first letter of a name, as a placeholder for a picture. */
export function initial(name) {
  return Array.from(name.trim())[0]?.toUpperCase() ?? "";
}

/**
 * A place where a page shows messages: progress in one live region, errors in the other, and the buttons to
 * go on.
 */
export function surface(id) {
  const root = byId(id);
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  return { root, status: root.querySelector('[role="status"]'), alert: root.querySelector('[role="alert"]'), retry: part("retry"), cancel: part("cancel") };
}

/** Sets the title: with the name of a state, or as an error. */
export function setTitle(title, { state, isError }) {
  if (isError) document.title = say("title_error", { title });
  else document.title = state ? say("title_state", { state, title }) : title;
}
