// The states of the sign-in page: which one it is in, what it says in it, and where the focus goes. The state stands in
// data-state on <main>; its text has the state's name as its key unless a caller names another one.

import { byId, element, enable, setTitle, surface } from "./dom.js";
import { Problem, isWebAddress } from "./server.js";
import { has, say, write } from "./texts.js";

const main = document.querySelector("main");
const title = document.title;

// In these states somebody else has the word (the wallet, the server, or nobody any more): nothing may be signed meanwhile.
const OVER = new Set(["verifying", "success", "denied"]);
const BUSY = new Set(["connecting", "pending", "locked", "pick-account", "preparing", "signing", "rate-limited", ...OVER]);

/** The page for somebody whom the server remembers has no forms to sign by hand, and speaks in two places. */
export const surfaces = { page: surface("page-messages"), wallet: surface("wallet-messages") };
if (byId("manual")) surfaces.manual = surface("manual-messages");

let state = main.dataset.state;
let ended = false;
let turn = 0;
let clock = null; // The countdown of a rate limit, or what follows after some time in a state.
let refresh = () => {};

/** Nobody has begun yet. A request for more than before stays what it is until then. */
export const RESTING = state === "step-up" ? "step-up" : "ready";

export const now = () => state;
export const hasEnded = () => ended;
export const isOver = () => ended || OVER.has(state);
export const isBusy = () => ended || BUSY.has(state);
/** May a way to sign in be taken up? */
export const isOpen = () => !isOver() && state !== "rate-limited";

/** Calls a function after each change of the state, to set what can be pressed. */
export function afterEachChange(action) {
  refresh = action;
}

/** Every step takes a new turn, and an answer to an older step is dropped: the function tells whether it is still one's own. */
export function newTurn() {
  turn += 1;
  const mine = turn;
  return () => mine === turn;
}

/**
 * Puts the page into a state. `on` is the surface that says so, in a new element each time, so that it is read out again.
 * With `later` there is another text after a while.
 */
export function show(on, id, { key = id.replaceAll("-", "_"), values, alert = false, busy = false, retry, cancel, focus, later } = {}) {
  state = id;
  main.dataset.state = id;
  clearTimeout(clock);
  clearSurfaces();
  const said = element("p", key ? write(key, values) : undefined, busy ? "busy" : "");
  if (key) (alert ? on.alert : on.status).append(said);
  if (later) clock = setTimeout(() => said.replaceChildren(...write(later.key, later.values)), later.afterMs);
  offer(on.retry, retry);
  offer(on.cancel, cancel);
  refresh();
  const name = `title_${id.replaceAll("-", "_")}`;
  setTitle(title, { state: has(name) ? say(name) : undefined, isError: alert });
  if (focus !== on.retry || retry) focus?.focus();
}

function clearSurfaces() {
  for (const each of Object.values(surfaces)) {
    each.status.replaceChildren();
    each.alert.replaceChildren();
    for (const button of [each.retry, each.cancel]) {
      if (button) button.hidden = true;
    }
  }
}

function offer(button, action) {
  if (!button || !action) return;
  button.hidden = false;
  button.onclick = action;
}

/** Nothing can be signed on this page any more: it says why, and what the way out is. */
export function end(id, { key = id.replaceAll("-", "_"), how, values, alert = false, link, linkAfterMs = 0 }) {
  ended = true;
  newTurn();
  show(surfaces.page, id, { key: null, alert });
  const heading = element("h1", write(key, values));
  heading.tabIndex = -1;
  (alert ? surfaces.page.alert : surfaces.page.status).append(heading, element("p", how ? write(how, values) : ""));
  main.dataset.ended = id;
  if (link && (link.isOurs || isWebAddress(link.href))) {
    const way = byId("page-link");
    way.href = link.href;
    way.replaceChildren(element("span", write(link.key, values)));
    setTimeout(() => {
      way.hidden = false;
    }, linkAfterMs);
  }
  heading.focus();
}

/** A problem, on the surface where it came up. `field` is what the person has to put right, `retry` what can be tried again. */
export function report(on, problem, { retry, field, focus, client } = {}) {
  if (!(problem instanceof Problem)) throw problem;
  const { id, key, values, seconds } = problem;
  if (id === "session-gone") {
    const link = client.uri && { href: client.uri, key: "back_to" };
    end(id, { how: "session_gone_how", values: { client: client.name }, alert: true, link });
  } else if (id === "rate-limited") {
    waitFor(on, seconds, retry);
  } else if (field && (id === "bad-signature" || id === "refused")) {
    field.setAttribute("aria-invalid", "true");
    show(on, id, { key, values, alert: true, focus: field });
  } else {
    show(on, id, { key, values, alert: true, ...(focus ? { focus } : { retry }) });
  }
}

// The alert is read out once; the seconds then change in a part that is not live.
function waitFor(on, seconds, retry) {
  show(on, "rate-limited", { key: "too_many", values: { seconds }, alert: true });
  const said = on.alert.firstChild;
  const until = Date.now() + seconds * 1000;
  const count = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return show(on, RESTING, { key: "now_again", retry });
    said.ariaLive = "off";
    said.replaceChildren(...write("too_many", { seconds: left }));
    clock = setTimeout(count, 1000);
  };
  clock = setTimeout(count, 1000);
}

/** A button that can be pressed, or that says that it cannot, and whether something is under way. */
export function setButton(button, may, busy = false) {
  enable(button, may);
  button.setAttribute("aria-busy", String(busy));
}
