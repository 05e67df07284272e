// Signs in without connecting a wallet: the user enters an address, gets a text, and pastes the signature.
// The forms also work without this script; with it, the page is not reloaded.

import { handIn, issue, offerOptions, optionsAreFine, page, reportFor } from "./auth-request.js";
import { isOpen, newTurn, setButton, show, surfaces } from "./auth-states.js";
import { byId, copy, download, element, isEnabled, trimmed } from "./dom.js";
import { challengeOf } from "./server.js";
import { say, write } from "./texts.js";

const on = surfaces.manual;
const addressForm = byId("address-form");
const address = byId("address");
const chain = byId("chain");
const loginForm = byId("login-form");
const signature = byId("signature");
const getText = byId("get-text");
const verify = byId("verify");

let shown = null;

/** Takes over the forms. A text that is already on the page stays while it is valid. */
export function startByHand() {
  addressForm.addEventListener("submit", addressSubmitted);
  address.addEventListener("input", () => offerChains([]));
  loginForm.addEventListener("submit", signatureSubmitted);
  byId("manual-copy").addEventListener("click", () => copy(byId("manual-text"), on.status));
  byId("manual-download").addEventListener("click", () => download(byId("manual-text").textContent, "sign-in.txt"));
}

/** Makes room for the wallets, unless the user is signing by hand. */
export function foldOtherWays() {
  const ways = byId("manual");
  ways.open = shown !== null || page.notice !== undefined || ways.contains(document.activeElement);
}

/** Continues with the text that is already on the page. */
export function resumeByHand() {
  const { challenge, walletAddress, chain: named, expiresAt } = page;
  const issued = challengeOf({ challenge, wallet_address: walletAddress, chain: named, expires_at: expiresAt }, Date.now());
  showText({ ...issued, asked: { address: walletAddress, chain: named }, came: 0 });
  if (page.notice === undefined) show(on, "confirm", { key: null });
}

/** Enables what can be clicked. */
export function refreshByHand() {
  setButton(getText, isOpen());
  setButton(verify, isOpen());
}

/** The text that is being signed by hand. It stays until it expires. */
export const textByHand = {
  get challenge() {
    return shown;
  },
  renewBeforeMs: 0,
  place: byId("manual-valid"),
  renew: () => prepare(shown.asked, "expired", {}),
};

async function prepare(account, id, said) {
  const mine = newTurn();
  shown = null;
  addressForm.after(on.root);
  show(on, "preparing", { busy: true });
  try {
    const challenge = await issue(account);
    if (!mine()) return;
    signature.value = "";
    showText(challenge);
    show(on, id, said);
  } catch (problem) {
    if (!mine()) return;
    const chains = problem.id === "refused" ? chainsIn(problem.message) : [];
    offerChains(chains);
    // A chosen chain replaces a chain in front of the address.
    if (chains.length > 0) address.value = account.address.replace(/^[^:]*:[^:]*:/, "");
    const again = () => prepare(account, id, { ...said, focus: byId("manual-heading") });
    reportFor(on, problem, { retry: again, field: chains.length > 0 ? chain : address });
  }
}

// The server lists the chains that an address can belong to: "bip122:… (Bitcoin), …".
function chainsIn(text) {
  return Array.from(text.matchAll(/([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}) \(([^)]*)\)/g), ([, name, kind]) => ({ name, kind }));
}

function offerChains(chains) {
  byId("chain-choice").hidden = chains.length === 0;
  const options = chains.map(({ name, kind }) => new Option(`${kind} (${name})`, name));
  chain.replaceChildren(new Option(say("chain_choose"), ""), ...options);
}

function showText(challenge) {
  shown = challenge;
  byId("manual-text").textContent = challenge.text;
  showHowToSign(challenge.howToSign);
  byId("manual-tools").hidden = false;
  getText.replaceChildren(...write("get_new_text"));
  getText.classList.remove("primary");
  loginForm.hidden = false;
  offerOptions(byId("manual-heading"));
}

// The instructions on the page stay if the response contains none.
function showHowToSign(ways) {
  if (!Array.isArray(ways)) return;
  byId("commands").hidden = ways.length === 0;
  const rows = ways.map(({ tool, how }) => {
    const command = element("pre", how);
    Object.assign(command, { tabIndex: 0, role: "region", ariaLabel: tool, dir: "ltr" });
    return [element("dt", tool), element("dd", command)];
  });
  byId("ways").replaceChildren(...rows.flat());
}

function addressSubmitted(event) {
  event.preventDefault();
  if (!isEnabled(getText)) return;
  address.value = trimmed(address.value);
  clearError(address);
  clearError(chain);
  const account = { address: address.value, chain: chain.value || undefined };
  prepare(account, "confirm", { key: "confirm_by_hand", focus: byId("manual-heading") });
}

function signatureSubmitted(event) {
  event.preventDefault();
  loginForm.after(on.root);
  if (!shown || !isEnabled(verify) || !optionsAreFine(on)) return;
  signature.value = trimmed(signature.value);
  clearError(signature);
  send(shown);
}

function send(challenge) {
  return handIn(on, challenge, signature.value, {
    renew: () => prepare(challenge.asked, "expired", {}),
    failed: (problem) => reportFor(on, problem, { field: signature, retry: () => send(challenge) }),
  });
}

function clearError(field) {
  field.removeAttribute("aria-invalid");
  byId("notice")?.remove();
}
