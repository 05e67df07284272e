// The states of the sign-in page: the current one, what the page says in it, and where the focus goes. The
// state is in data-state on <main>. The key of its text is the state's name, unless the caller gives another
// one.

import { byId, element, enable, setTitle, shortened, showAddress, surface } from "./dom.js";
import { Problem, isWebAddress } from "./server.js";
import { has, say, write } from "./texts.js";

const main = document.querySelector("main");
const title = document.title;

// In these states the user waits for someone else (the wallet or the server), or it is over. Nothing can be
// signed.
const OVER = new Set(["verifying", "success", "denied"]);
const BUSY = new Set(["connecting", "pending", "locked", "pick-account", "preparing", "signing", "rate-limited", ...OVER]);

const NOT_ADMITTED = "not-admitted";

/** The page for a remembered user has no forms to sign by hand, and shows messages in two places. */
export const surfaces = { page: surface("page-messages"), wallet: surface("wallet-messages") };
if (byId("manual")) surfaces.manual = surface("manual-messages");

let state = main.dataset.state;
let ended = main.dataset.ended !== undefined; // The server can write the end of a sign-in too.
let turn = 0;
let clock = null; // The countdown of a rate limit, or the timer for a later text in a state.
let refresh = () => {};

/** The state before the user begins. A request for more scopes stays in its own state until then. */
export const RESTING = state === "step-up" ? "step-up" : "ready";

export const now = () => state;
export const hasEnded = () => ended;
export const isOver = () => ended || OVER.has(state);
export const isBusy = () => ended || BUSY.has(state);
/** Can the user still go back to the client? */
export const mayLeave = () => main.dataset.ended === NOT_ADMITTED || !isOver();
/** Can the user start to sign in? */
export const isOpen = () => !isOver() && state !== "rate-limited";

/** Calls a function after each change of the state, to enable what can be clicked. */
export function afterEachChange(action) {
  refresh = action;
}

/**
 * Every step starts a new turn, and responses to older steps are dropped. The returned function says whether
 * the turn is still current.
 */
export function newTurn() {
  turn += 1;
  const mine = turn;
  return () => mine === turn;
}

/**
 * Puts the page into a state. `on` is the surface that shows the message, in a new element each time, so that
 * it is read out again, and scrolls to where it can be seen. With `later` another text follows after a while.
 * `retryName` is on the button instead of "Try again".
 */
export function show(on, id, { key = id.replaceAll("-", "_"), values, alert = false, busy = false, retry, retryName, cancel, focus, later } = {}) {
  state = id;
  main.dataset.state = id;
  clearTimeout(clock);
  clearSurfaces();
  const said = element("p", key ? write(key, values) : undefined, busy ? "busy" : "");
  if (key) (alert ? on.alert : on.status).append(said);
  if (later) clock = setTimeout(() => said.replaceChildren(...write(later.key, later.values)), later.afterMs);
  offer(on.retry, retry, retryName);
  offer(on.cancel, cancel);
  refresh();
  const name = `title_${id.replaceAll("-", "_")}`;
  setTitle(title, { state: has(name) ? say(name) : undefined, isError: alert });
  if (focus !== on.retry || retry) focus?.focus();
  if (key) on.root.scrollIntoView({ block: "nearest" });
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

function offer(button, action, name) {
  if (!button || !action) return;
  button.usual ??= button.textContent;
  button.textContent = name ?? button.usual;
  button.hidden = false;
  button.onclick = action;
}

/** Ends the page: nothing can be signed any more. It says why, and how to go on. */
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

/**
 * Ends the page for a wallet that is not let in. Only the ways on are left: back to the client, or another
 * wallet. The server writes the same for forms.
 */
export function turnAway(account, { reference }) {
  const section = byId(NOT_ADMITTED);
  const part = (name) => section.querySelector(`[data-part="${name}"]`);
  ended = true;
  newTurn();
  part("short").textContent = shortened(account);
  showAddress(part("account"), account);
  part("reference").textContent = reference ?? "";
  section.querySelector(".actions").before(surfaces.wallet.root);
  section.hidden = false;
  main.dataset.ended = NOT_ADMITTED;
  show(surfaces.wallet, NOT_ADMITTED, { key: null, focus: byId("not-admitted-heading") });
}

/**
 * Ends a page that has another host in the address bar than in its texts: someone copied it, or sits in
 * between. The header, which says what the address bar must read, says so first.
 */
export function wrongHost(host) {
  document.querySelector(".site")?.replaceChildren(element("strong", say("wrong_host_stop")));
  document.querySelector(".more")?.remove();
  end("wrong-host", { how: "wrong_host_how", values: { here: location.host, host }, alert: true });
}

/**
 * Reports a problem on the surface where it occurred. `field` is what the user has to correct, `retry` what
 * can be tried again.
 */
export function report(on, problem, { retry, retryName, field, focus, client } = {}) {
  if (!(problem instanceof Problem)) throw problem;
  const { id, key, values, seconds } = problem;
  if (id === "session-gone") {
    const link = client.uri && { href: client.uri, key: "back_to" };
    end(id, { how: "session_gone_how", values: { client: client.name }, alert: true, link });
    surfaces.page.alert.append(element("p", "Missing or expired OAuth session.")); // As programs read it.
  } else if (id === "wrong-host") {
    wrongHost(values.host);
  } else if (id === "rate-limited") {
    waitFor(on, seconds, retry);
  } else if (field && (id === "bad-signature" || id === "refused")) {
    field.setAttribute("aria-invalid", "true");
    show(on, id, { key, values, alert: true, focus: field });
  } else {
    show(on, id, { key, values, alert: true, retry, retryName, focus });
  }
}

// The alert is read out once. The seconds then change in a part that is not live.
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

/** Sets whether a button can be clicked, and whether it is busy. */
export function setButton(button, may, busy = false) {
  enable(button, may);
  button.setAttribute("aria-busy", String(busy));
}
