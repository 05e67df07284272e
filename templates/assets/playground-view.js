// How the playground shows requests and responses. Values from others are written only as text.

import { answerText, curlText, decoded, jsonOf, requestText } from "./playground-wire.js";
import { say } from "./texts.js";

/** Creates an element with attributes, and children that are elements or texts. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Copies a text, and shows on the button whether that worked. */
export async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = say("copied");
  } catch {
    button.textContent = say("not_copied");
  }
  setTimeout(() => {
    button.textContent = say("copy");
  }, 2000);
}

function button(label, pressed) {
  const made = make("button", { type: "button", class: "link" }, label);
  made.addEventListener("click", () => pressed(made));
  return made;
}

/** The text in pieces, with a marker in place of each secret. */
function masked(text, secrets) {
  let pieces = [text];
  for (const secret of secrets) {
    pieces = pieces.flatMap((piece) => {
      if (typeof piece !== "string") return [piece];
      return piece.split(secret).flatMap((part, index) => (index === 0 ? [part] : [make("span", { class: "secret" }, `•••••••• (${say("hidden")})`), part]));
    });
  }
  return pieces;
}

function block(label, text) {
  const shown = make("pre", { tabindex: "0", role: "group", "aria-label": label });
  shown.append(text);
  return shown;
}

function folded(label, ...children) {
  return make("details", {}, make("summary", {}, label), ...children);
}

/** The first line: the request and its result. */
function headline({ method, url, status, ms, visited }) {
  const line = make("p", { class: "line" }, make("code", { class: "method" }, method), " ", make("code", {}, new URL(url).pathname));
  if (!visited && status) line.append(" ", make("code", { class: `status s${String(status)[0]}` }, String(status)));
  if (!visited) line.append(" ", make("span", { class: "hint" }, status ? say("took", { ms }) : say("no_answer")));
  return line;
}

/** The access token in a response, decoded. */
function opened(exchange) {
  const token = jsonOf(exchange.answer ?? "")?.access_token;
  const parts = token ? decoded(token) : null;
  if (!parts) return null;
  const time = new Date(Number(parts.payload.exp) * 1000).toLocaleTimeString(document.documentElement.lang || undefined);
  return folded(
    say("decoded"),
    make("h3", {}, say("decoded_header")),
    block(say("decoded_header"), JSON.stringify(parts.header, null, 2)),
    make("h3", {}, say("decoded_payload")),
    block(say("decoded_payload"), JSON.stringify(parts.payload, null, 2)),
    make("p", { class: "hint" }, say("decoded_hint", { time })),
  );
}

/**
 * One exchange: the request next to the response, the same request as a command, and the contents of the
 * token.
 */
export function exchangeView(exchange) {
  const parts = [[say("request"), requestText(exchange)]];
  if (!exchange.visited && exchange.status) parts.push([say("answer"), answerText(exchange)]);
  parts.push([say("curl"), curlText(exchange)]);
  const blocks = parts.map(([label]) => block(label, ""));
  let visible = false;
  const write = () => blocks.forEach((shown, index) => shown.replaceChildren(...masked(parts[index][1], visible ? [] : exchange.secrets)));
  write();
  const wire = make("div", { class: "wire" });
  for (const [index, [label]] of parts.slice(0, -1).entries()) wire.append(make("div", {}, make("h3", {}, label), blocks[index]));
  const command = parts.at(-1)[1];
  const line = headline(exchange);
  const view = make("article", { class: "exchange" }, line, wire);
  if (exchange.secrets.length > 0) {
    line.append(
      button(say("show_secrets"), (toggle) => {
        visible = !visible;
        toggle.textContent = visible ? say("hide_secrets") : say("show_secrets");
        write();
      }),
    );
  }
  if (!exchange.cameBack) view.append(folded(say("curl"), make("p", {}, button(say("copy"), (pressed) => copy(pressed, command))), blocks.at(-1)));
  const token = opened(exchange);
  if (token) view.append(token);
  return view;
}
