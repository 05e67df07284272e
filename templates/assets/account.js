// The account page's script. It shows local times, copies, and links or unlinks wallets without copying and
// pasting. To link, the user chooses the new wallet, then one of their own, and each signs a text that names
// the other. To unlink, one of the user's wallets signs. This signs no one in, and the server trusts only
// signatures. Without this script, the page works with its forms.

import "./account-tools.js";
import { Side } from "./account-side.js";
import { afterEachChange, isBusy, isOver, newTurn, now, report, setButton, show, surfaces } from "./auth-states.js";
import { byId, isEnabled, showAddress } from "./dom.js";
import { Problem, broken, post } from "./server.js";
import { write } from "./texts.js";
import { ownName, sameAddress } from "./wallets.js";

const RENEW_BEFORE_MS = 20_000;
const TELLS_WITHIN_MS = 1000;
const RENEW_AT_MOST_EVERY_MS = 10_000; // Whatever lifetime the server sets, the page does not flood it.
const ORDER = ["signer", "other"]; // First the wallet that the user already has.

// Reasons for the server to refuse a change, in the server's words.
const CONFLICTS = [
  [/belongs to another user/, "belongs_to_another"],
  [/as many wallets as/, "too_many_wallets"],
  [/never signed in here/, "signer_unknown"],
  [/not one of this user's/, "not_theirs"],
  [/last wallet/, "last_wallet"],
];

const { dataset } = document.querySelector("main");
const on = surfaces.wallet;
const panel = byId("change");
const signButton = byId("sign");

/**
 * What is being changed. `kind` is link or unlink. `goesKind` and `comesKind` say whether the other wallet is
 * a key or a contract. `texts` are the texts to sign, by side, and `signatures` those already made.
 */
const flow = { kind: "link", opener: null, goes: null, goesKind: undefined, comesKind: undefined, chosen: {}, texts: null, signatures: {}, came: 0, ends: 0 };
const mineHere = JSON.parse(dataset.wallets);
const side = new Side({ mine: mineHere, signedInAs: dataset.signedInAs, chosen });

// A page that the browser restores from memory may show outdated data.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
byId("by-hand").open = false;
start();

/** Takes over the buttons and forms. */
function start() {
  byId("link").hidden = false;
  byId("link").addEventListener("click", (event) => begin("link", event.currentTarget));
  for (const form of document.querySelectorAll("form[data-unlink]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      begin("unlink", form.querySelector("button"), form);
    });
  }
  signButton.addEventListener("click", () => sign());
  byId("stop").addEventListener("click", stop);
  byId("by-hand-instead").addEventListener("click", byHand);
  afterEachChange(() => {
    setButton(signButton, flow.texts !== null && !isBusy(), now() === "preparing" || now() === "verifying");
    signButton.hidden = flow.texts === null && now() !== "preparing";
    byId("link").hidden = !panel.hidden;
    side.refresh();
  });
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, 1000);
}

// --- the panel ---------------------------------------------------------------------------------------------

function begin(kind, opener, form) {
  if (isOver()) return;
  newTurn();
  const { unlink: goes, unlinkKind: goesKind } = form?.dataset ?? {};
  Object.assign(flow, { kind, opener, form, goes, goesKind, comesKind: undefined, chosen: {}, texts: null, signatures: {} });
  panel.hidden = false;
  const going = mineHere.find(({ account, signs }) => account === goes && (signs ?? undefined) === goesKind);
  byId("change-heading").replaceChildren(...write(`heading_${kind}`, { account: calledIn(going) }));
  byId("change-about").replaceChildren(...write(`about_${kind}`));
  byId("other-label").replaceChildren(...write(going ? "going_wallet" : "new_wallet"));
  for (const which of ["other", "signer"]) showNothing(which);
  // Before a wallet is unlinked, the user sees once more which one it is: its picture, its name, and the whole address.
  if (going) showChosen("other", going.address, [form.closest("details").querySelector(".picture").cloneNode(true), going.title]);
  hideText();
  choose(kind === "link" ? "other" : "signer", byId("change-heading"));
}

function showChosen(which, address, name) {
  const place = byId(`${which}-chosen`);
  place.classList.remove("muted");
  showAddress(place, address);
  if (name) byId(`${which}-called`).replaceChildren(...name);
}

const shortened = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;

// A wallet in a sentence: its name, and enough of the address to tell it from another with this name.
const calledIn = (own) => (own ? `${own.title} (${own.short})` : "");
const called = (which) => `${byId(`${which}-called`).textContent} (${shortened(byId(`${which}-chosen`).textContent)})`;

// A CAIP-10 account is its chain, which contains a colon, and its address.
const addressIn = (account) => account.replace(/^[^:]*:[^:]*:/, "");

function showNothing(which) {
  const place = byId(`${which}-chosen`);
  byId(`${which}-called`).replaceChildren();
  place.replaceChildren(...write("not_chosen"));
  place.className = "muted";
  for (const name of ["role", "aria-label", "dir"]) place.removeAttribute(name);
}

function stop() {
  newTurn();
  panel.hidden = true;
  flow.texts = null;
  show(on, "account", { key: null, focus: flow.opener });
}

// The forms on the page do the same without connecting a wallet.
function byHand() {
  if (flow.kind === "unlink") return flow.form.submit();
  stop();
  byId("by-hand").open = true;
  byId("other-address").focus();
}

// --- which wallets -----------------------------------------------------------------------------------------

function choose(which, focus) {
  side.ask(which);
  show(on, "choosing", { key: null, focus });
}

function chosen(which, entry, account) {
  flow.chosen[which] = { entry, account };
  if (which === "other") flow.comesKind = undefined;
  showChosen(which, account.address, [(which === "signer" && knownAs(account)?.title) || entry.name]);
  if (which === "other") choose("signer", byId("choose-heading"));
  else prepare("confirm", { key: `confirm_${flow.kind}` });
}

// --- the texts, and the signatures -------------------------------------------------------------------------

async function prepare(id, said) {
  const mine = newTurn();
  side.hide();
  hideText();
  show(on, "preparing", { busy: true });
  const { signer, other } = flow.chosen;
  const known = knownAs(signer.account);
  const fields = {
    form: byId("by-hand-form").elements.form.value,
    change: flow.kind,
    wallet_address: signer.account.address,
    chain: known?.signs === "contract" ? known.chain : signer.account.chain,
    kind: known?.signs ?? undefined,
    other_wallet_address: other?.account.address ?? flow.goes,
    other_chain: other?.account.chain,
  };
  try {
    if (other) flow.comesKind ??= await kindOf(other);
    fields.other_kind = (other ? flow.comesKind : flow.goesKind) || undefined;
    if (!mine()) return;
    const { answer, serverTime } = await post("/account/wallets/challenge", fields);
    if (!mine()) return;
    take(answer, serverTime);
    show(on, id, { ...said, values: { account: called("signer") }, focus: signButton });
  } catch (problem) {
    if (mine()) failed(problem, () => prepare(id, said));
  }
}

// The user's wallet at an address. If there are both a key and a contract, the one that is signed in.
function knownAs(account) {
  const here = mineHere.filter((each) => sameAddress(each, account));
  return here.find((each) => each.is_signed_in) ?? here[0];
}

// Is a new wallet a key or a contract? If both are possible, the wallet is asked, but not for long.
async function kindOf({ entry, account }) {
  const tooLate = new Promise((done) => setTimeout(done, TELLS_WITHIN_MS));
  const asked = (async () => entry.wallet.signs?.(account))().catch(() => undefined);
  return Promise.race([asked, tooLate]);
}

// If a signature is not the key's, it may be from a contract that is not deployed yet. Then the texts are
// made for the contract.
async function isContractAfterAll(problem, { other: signature }) {
  const { entry, account } = flow.chosen.other ?? {};
  if (problem.id !== "bad-signature" || flow.comesKind !== "key" || !entry?.wallet.explain) return false;
  const is = await Promise.resolve(entry.wallet.explain(signature, account)).catch(() => undefined);
  if (is !== "contract") return false;
  flow.comesKind = is;
  return true;
}

function take(answer, serverTime) {
  const { challenge: signer, other_challenge: other, expires_at: expiresAt, form } = answer;
  const expires = Date.parse(expiresAt);
  const wanted = flow.kind === "link" ? [signer, other] : [signer];
  if (wanted.some((text) => typeof text !== "string") || Number.isNaN(expires)) throw broken();
  // Wallets format addresses in different ways. Here they are shown as in the texts.
  showChosen("signer", addressIn(answer.wallet_account));
  if (other) showChosen("other", addressIn(answer.other_wallet_account));
  Object.assign(flow, { texts: { signer, other }, form, signatures: {}, came: Date.now(), ends: Date.now() + (expires - serverTime) });
  showText();
}

const sides = () => (flow.kind === "link" ? ORDER : ["signer"]);
const nextSide = () => sides().find((which) => flow.signatures[which] === undefined);

// One text at a time: the one to sign next, and the button that signs it.
function showText() {
  const which = nextSide();
  byId("text-heading").replaceChildren(...write(`text_${which}`));
  byId("text").textContent = flow.texts[which];
  byId("texts").hidden = false;
  signButton.replaceChildren(...write(flow.kind === "unlink" ? "sign_unlink" : `sign_${which}`));
}

function hideText() {
  flow.texts = null;
  byId("texts").hidden = true;
}

async function sign({ again = false } = {}) {
  const which = nextSide();
  if (!flow.texts || !which || !(again || isEnabled(signButton))) return;
  const { entry, account } = flow.chosen[which];
  const signature = await side.sign(entry, account, flow.texts[which], { host: dataset.host, again, retry: () => sign({ again: true }), button: signButton });
  if (signature === undefined) return;
  flow.signatures[which] = signature;
  if (!nextSide()) return send();
  showText();
  show(on, "confirm", { key: "signed_one", values: { account: called("other") }, focus: signButton });
}

async function send() {
  const mine = newTurn();
  const { kind, texts, signatures } = flow;
  show(on, "verifying", { busy: true });
  const fields = { form: flow.form, challenge: texts.signer, signature: signatures.signer, other_challenge: texts.other, other_signature: signatures.other, other_wallet_name: ownName(flow.chosen.other?.entry) };
  try {
    await post(`/account/wallets/${kind}`, fields);
    show(on, "success", {});
    location.assign(`${dataset.base}/account?done=wallet_${kind}ed`);
  } catch (problem) {
    if (!mine()) return;
    if (await isContractAfterAll(problem, signatures)) prepare("confirm", { key: "confirm_link" });
    else failed(problem, send);
  }
}

// --- what goes wrong ---------------------------------------------------------------------------------------

function failed(problem, retry) {
  if (!(problem instanceof Problem)) throw problem;
  const refusal = problem.id === "not-admitted" ? problem.key : problem.status === 409 && CONFLICTS.find(([words]) => words.test(problem.message))?.[1];
  if (problem.id === "expired" || problem.id === "session-gone") return prepare("expired", {});
  if (refusal) {
    hideText();
    side.ask(flow.kind === "link" ? "other" : "signer");
    return show(on, "refused", { key: refusal, alert: true, focus: byId("choose-heading") });
  }
  if (problem.id === "bad-signature") {
    flow.signatures = {};
    showText();
    return show(on, "bad-signature", { key: problem.key, values: problem.values, alert: true, focus: signButton });
  }
  return report(on, problem, { retry, client: {} });
}

// Expiring texts are replaced while the user looks at them, so no one has to hurry (WCAG 2.2.1).
function tick() {
  const isFresh = Date.now() - flow.came < RENEW_AT_MOST_EVERY_MS;
  if (!flow.texts || isBusy() || isFresh || document.visibilityState !== "visible") return;
  const left = flow.ends - Date.now();
  if (left <= (nextSide() === "signer" ? RENEW_BEFORE_MS : 0)) prepare("expired", {});
}
