// The request that this page is for: what is sent to the server for it, and leaving the page once it is
// answered.

import { byId } from "./dom.js";
import { end, hasEnded, newTurn, report, show, turnAway } from "./auth-states.js";
import { Problem, broken, challengeOf, isTarget, post } from "./server.js";
import { write } from "./texts.js";

// A key is verified at once; only asking a contract's chain takes this long.
const ASKS_A_CHAIN_AFTER_MS = 2000;

const { dataset } = document.querySelector("main");
const email = byId("email");
const remember = byId("remember");

/** What the page knows about the request. */
export const page = {
  ...dataset,
  client: { name: dataset.clientName, uri: dataset.clientUri },
  // The chains on which the server can check contract wallets: {chain, name}.
  chains: JSON.parse(dataset.contractChains ?? "[]"),
};

// Tabs with the same request tell each other when one of them has answered it.
const tabs = new BroadcastChannel(`countersign ${page.requestLabel}`);
tabs.onmessage = ({ data }) => {
  if (!hasEnded()) end("other-tab", { key: data === "denied" ? "other_tab_denied" : "other_tab", how: "other_tab_how" });
};

/** Posts the fields that identify the request, and more. */
export function postFor(path, more = {}) {
  const fields = { ...more, client_id: page.clientId, redirect_uri: page.redirectUri };
  if (page.oauthState !== undefined) fields.state = page.oauthState;
  return post(path, fields);
}

/**
 * Gets a text to sign for an account. It begins with the server's own host. If that is not in the address
 * bar, an attacker sits in between and made the page name another one.
 */
export async function issue({ address, chain }) {
  const { answer, serverTime } = await postFor("/oauth/challenge", { wallet_address: address, chain });
  const [host] = String(answer.challenge).split(" ", 1);
  if (host !== location.host) throw new Problem("wrong-host", "wrong_host", { values: { here: location.host, host } });
  return { ...challengeOf(answer, serverTime), asked: { address, chain }, howToSign: answer.how_to_sign };
}

/** Puts the optional fields below this element, which is above the text, so that no one signs without seeing them. */
export function offerOptions(above) {
  const options = byId("options");
  if (options && above.nextElementSibling !== options) above.after(options);
}

/** Is the input in the optional fields valid? If not, the field says what is wrong. */
export function optionsAreFine(on) {
  const areFine = !email || email.checkValidity();
  if (!areFine) refuseEmail(on);
  return areFine;
}

function refuseEmail(on) {
  email.setAttribute("aria-invalid", "true");
  byId("email-alert").replaceChildren(...write("refused_email"));
  show(on, "refused", { key: "refused_email", alert: true, focus: email });
}

email?.addEventListener("input", () => {
  email.removeAttribute("aria-invalid");
  byId("email-alert").replaceChildren();
});

function options() {
  const chosen = {};
  if (remember) chosen.remember = remember.checked;
  if (email?.value.trim()) chosen.email = email.value.trim();
  return chosen;
}

/** Submits a signature. Problems go to `failed(problem)`; if the text has expired, `renew()` is called. */
export async function handIn(on, challenge, signature, { renew, failed, walletName }) {
  const mine = newTurn();
  const chain = page.chains.find((each) => each.chain === challenge.chain)?.name;
  const later = chain && { key: "verifying_chain", values: { chain }, afterMs: ASKS_A_CHAIN_AFTER_MS };
  show(on, "verifying", { busy: true, later });
  try {
    const signed = { wallet_address: challenge.address, challenge: challenge.text, signature, wallet_name: walletName };
    const { answer } = await postFor("/oauth/login", { ...signed, ...options() });
    leave(answer, "success", "taking_to");
  } catch (problem) {
    if (!mine()) return;
    if (problem.id === "expired") renew();
    else if (problem.id === "not-admitted") turnAway(challenge.address, problem.values);
    else if (problem.id === "invitation-ended") location.reload(); // The page says so, and how to go on.
    else if (problem.id === "refused" && email?.value) refuseEmail(on); // The user entered nothing else.
    else await failed(problem, mine);
  }
}

/**
 * Says that it is done, and goes to the URL in the response. The link is for browsers that ask before they
 * open an application.
 */
export function leave(answer, id, how) {
  const target = answer.redirect_to;
  if (typeof target !== "string" || !isTarget(target)) throw broken();
  tabs.postMessage(id);
  const link = { href: target, key: "continue", isOurs: true };
  end(id, { how, values: { destination: page.destination }, link, linkAfterMs: 1000 });
  location.assign(target);
}

/** Reports a problem with this request. */
export function reportFor(on, problem, more) {
  report(on, problem, { ...more, client: page.client });
}
