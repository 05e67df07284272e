// Signs in with a wallet that the page found: choose it, connect, choose an account, check the text, sign.

import { foldOtherWays } from "./auth-by-hand.js";
import { handIn, issue, offerOptions, optionsAreFine, page, reportFor } from "./auth-request.js";
import { RESTING, isBusy, isOpen, isOver, newTurn, now, setButton, show, surfaces } from "./auth-states.js";
import { byId, copy, element, enable, isEnabled, shortened, showAddress } from "./dom.js";
import { Problem } from "./server.js";
import { say, write } from "./texts.js";
import { Wallets, ask, attempt, codeOf, ownName, rememberWallet, sameAddress, usable } from "./wallets.js";

const LOOK_FOR_MS = 1500;
// Most wallets answer at once. Until then, what is below the list is not there, so that nothing moves.
const MOST_ANSWER_WITHIN_MS = 200;
const EXPLAINS_WITHIN_MS = 4000;
// A wallet gets a text that is valid for so long, or for half of its life, so that no one has to hurry there.
const LASTS_IN_WALLET_MS = 120_000;

const on = surfaces.wallet;
const { dataset } = document.querySelector("main");
const signButton = byId("sign");
const signName = signButton?.textContent;
const changeButton = byId("change-account");
const againButton = byId("choose-again");
const found = byId("wallets-found");
const pick = byId("accounts");
// The page says it already: the focus is on Sign, which is described by who gets what.
const READY = { key: null, focus: signButton };

const wallets = new Wallets({ list: byId("wallet-list"), added, chosen: (entry) => connect(entry) });
/**
 * What is being signed. `accounts` are all that the wallet shares, and `picked` says that the user chose one
 * of them.
 */
const flow = { entry: null, accounts: [], account: null, picked: false, challenge: null };

/** Shows the list and looks for wallets as long as the page is open. */
export function startConnected() {
  byId("wallets").hidden = false;
  signButton.addEventListener("click", () => sign());
  pick.addEventListener("submit", picked);
  byId("more-accounts").addEventListener("click", () => askForOthers(flow.entry));
  changeButton.addEventListener("click", changeAccount);
  againButton.addEventListener("click", chooseAgain);
  byId("copy").addEventListener("click", () => copy(byId("text"), on.status));
  dataset.looks = "";
  wallets.find((page.walletModules ?? "").split(" ").filter(Boolean)).then(() => setTimeout(looked, MOST_ANSWER_WITHIN_MS));
  setTimeout(() => {
    looked();
    if (wallets.entries.length > 0) return;
    found.replaceChildren(...write("no_wallet"));
    if (now() === "boot") show(on, "no-wallet", { key: null });
  }, LOOK_FOR_MS);
}

function looked() {
  delete dataset.looks;
}

/** Enables what can be clicked. One button is the next sensible thing to do. */
export function refreshConnected() {
  setButton(signButton, flow.challenge !== null && !isBusy(), now() === "preparing" || now() === "verifying");
  const isAgain = now() === "sign-rejected" || now() === "bad-signature";
  signButton.textContent = isAgain ? on.retry.usual ?? on.retry.textContent : signName;
  signButton.classList.toggle("primary", on.retry.hidden);
  wallets.enable(isOpen());
  for (const button of [changeButton, againButton]) enable(button, isOpen());
}

/** The text that is shown, and how it is replaced before it expires. */
export const shownText = {
  get challenge() {
    return flow.challenge;
  },
  /** Does the wallet show this text right now? Then it is replaced only when it has expired. */
  get isInWallet() {
    return ["signing", "pending"].includes(now());
  },
  get renewBeforeMs() {
    const { came = 0, ends = 0 } = flow.challenge ?? {};
    return Math.min(LASTS_IN_WALLET_MS, (ends - came) / 2);
  },
  place: byId("valid"),
  renew() {
    const said = shownText.isInWallet
      ? { key: "expired_in_wallet", values: { wallet: flow.entry.name }, focus: signButton }
      : { key: "expired_soon" };
    return prepare(flow.account, "expired", said);
  },
};

function added() {
  if (wallets.entries.length === 1) foldOtherWays();
  looked();
  found.className = "unseen";
  found.replaceChildren(...write("wallets_found", { count: String(wallets.entries.length) }));
  if (["boot", "no-wallet", "step-up"].includes(now())) show(on, RESTING, { key: null });
  else refreshConnected();
}

// --- choosing a wallet and an account ----------------------------------------------------------------------

async function connect(entry, { again = false } = {}) {
  if (isOver()) return;
  const mine = newTurn();
  choose(entry);
  if (entry.asking && !again) return pending(entry, () => connect(entry, { again: true }));
  try {
    const asked = ask(entry, (wallet) => wallet.connect());
    show(on, "connecting", { values: { wallet: entry.name }, busy: true, cancel: cancelConnect });
    const accounts = usable(await asked);
    if (!mine()) return;
    if (accounts.length > 0) rememberWallet(entry);
    await connected(entry, accounts);
  } catch (error) {
    if (mine()) walletProblem(entry, error, false);
  }
}

function choose(entry) {
  if (flow.entry !== entry) flow.account = null;
  Object.assign(flow, { entry, accounts: [], picked: false });
  wallets.choose(entry);
  hideText();
  entry.item.append(on.root);
  if (entry.heard) return;
  entry.heard = true;
  attempt(() => entry.wallet.onAccounts?.((accounts) => accountsChanged(entry, usable(accounts))));
}

// Back to the list, where each wallet and the other ways to sign in are.
function chooseAgain() {
  if (!isEnabled(againButton)) return;
  const { button } = flow.entry;
  newTurn();
  Object.assign(flow, { entry: null, accounts: [], account: null, picked: false });
  wallets.choose(null);
  hideText();
  show(on, RESTING, { key: null, focus: button });
}

// The choice of an account, and then the text to sign, have the place of the wallets.
function startPhase(phase) {
  byId("check").hidden = false;
  dataset.phase = phase;
}

function hideText() {
  flow.challenge = null;
  byId("check").hidden = true;
  byId("check-body").hidden = true;
  changeButton.hidden = true;
  byId("side").hidden = true;
  pick.hidden = true;
  delete dataset.phase;
}

function showText({ address, text }) {
  showAddress(byId("account"), address);
  byId("account-short").textContent = shortened(address);
  byId("text").textContent = text;
  byId("check-body").hidden = false;
  changeButton.hidden = false;
  byId("side").hidden = false;
  startPhase("sign");
  byId("decision").before(on.root);
  offerOptions(byId("instead"));
}

// What is to be signed is below what is folded now, and above the button.
function showFromTop() {
  if (!matchMedia("(min-width: 60rem)").matches) scrollTo({ top: 0 });
}

function connected(entry, accounts) {
  if (accounts.length === 0) return locked(entry);
  flow.accounts = accounts;
  return accounts.length > 1 ? offerAccounts() : prepare(accounts[0], "confirm", READY);
}

function offerAccounts() {
  newTurn();
  const { entry, accounts, account } = flow;
  hideText();
  const current = Math.max(0, accounts.findIndex((each) => sameAddress(each, account)));
  const choices = accounts.map((each, place) => accountChoice(each, place, place === current));
  byId("account-choices").replaceChildren(...choices.map(({ label }) => label));
  byId("more-accounts").replaceChildren(element("span", write("more_accounts", { wallet: entry.name })));
  byId("more-accounts").hidden = entry.wallet.changeAccount === undefined;
  pick.hidden = false;
  startPhase("account");
  pick.before(on.root);
  const values = { wallet: entry.name, count: String(accounts.length) };
  show(on, "pick-account", { values, focus: choices[current].input });
}

function accountChoice({ address }, place, isCurrent) {
  const input = element("input");
  Object.assign(input, { type: "radio", name: "account", value: String(place), checked: isCurrent });
  const text = element("span");
  showAddress(text, address);
  return { input, label: element("label", [input, text], "choice-of-account") };
}

function picked(event) {
  event.preventDefault();
  const account = flow.accounts[Number(new FormData(pick).get("account"))];
  if (!account || !isOpen()) return;
  flow.picked = true;
  prepare(account, "confirm", READY);
}

function changeAccount() {
  const { entry, accounts } = flow;
  if (!isEnabled(changeButton)) return;
  if (accounts.length > 1) offerAccounts();
  else if (entry.wallet.changeAccount) askForOthers(entry);
  else if (entry.wallet.onAccounts) switchInWallet(entry);
  else connect(entry, { again: true });
}

function switchInWallet(entry) {
  show(on, "confirm", { key: "switch_in_wallet", values: { wallet: entry.name } });
}

function askForOthers(entry) {
  const { account } = flow;
  const mine = newTurn();
  const asked = ask(entry, (wallet) => wallet.changeAccount(account));
  show(on, "connecting", { key: "connecting_other", values: { wallet: entry.name }, busy: true, cancel: cancelConnect });
  asked.then(
    (chosen) => mine() && (chosen ? connected(entry, usable(chosen)) : connect(entry, { again: true })),
    () => {
      if (!mine()) return;
      if (flow.challenge) switchInWallet(entry);
      else offerAccounts();
    },
  );
}

function accountsChanged(entry, accounts) {
  if (isOver() || entry !== flow.entry || now() === "connecting") return;
  const [account] = accounts;
  const before = flow.account;
  if (account === undefined) {
    newTurn();
    choose(entry);
    flow.account = null;
    locked(entry);
    return;
  }
  if (flow.picked && accounts.some((each) => sameAddress(each, before) && each.chain === before.chain)) return;
  const isTheSameList = accounts.length === flow.accounts.length && accounts.every((each, place) => sameAddress(each, flow.accounts[place]));
  flow.accounts = accounts;
  flow.picked = false;
  if (now() === "pick-account") {
    if (!isTheSameList) connected(entry, accounts);
  } else if (before === null) {
    prepare(account, "confirm", READY);
  } else if (!sameAddress(account, before)) {
    prepare(account, "account-changed", { values: { account: account.address } });
  } else if (account.chain !== before.chain) {
    prepare(account, "account-changed", { key: "network_changed" });
  }
}

// --- the text, and the signature ---------------------------------------------------------------------------

/** Gets the text for an account and shows it. The caller sets the state after that. */
async function prepare(account, id, said) {
  const mine = newTurn();
  flow.account = account;
  flow.challenge = null;
  pick.hidden = true;
  show(on, "preparing", { busy: true });
  try {
    const challenge = await issue(account);
    if (!mine()) return;
    flow.challenge = challenge;
    showText(challenge);
    if (said.focus) showFromTop();
    show(on, id, said);
  } catch (problem) {
    if (mine()) reportFor(on, problem, { retry: () => prepare(account, id, { ...said, focus: signButton }) });
  }
}

async function sign({ again = false } = {}) {
  const { entry, account, challenge } = flow;
  if (!challenge || !(again || isEnabled(signButton)) || !optionsAreFine(on)) return;
  const mine = newTurn();
  if (entry.asking && !again) return pending(entry, () => sign({ again: true }));
  let signature;
  try {
    const asked = ask(entry, (wallet) => wallet.sign(challenge.text, account));
    show(on, "signing", { values: { host: page.host }, busy: true, cancel: cancelSign });
    signature = await asked;
  } catch (error) {
    if (mine()) walletProblem(entry, error, true);
    return;
  }
  if (!mine()) return;
  if (typeof signature !== "string") return walletProblem(entry, null, true);
  await send(challenge, signature);
}

function send(challenge, signature) {
  return handIn(on, challenge, signature, {
    walletName: ownName(flow.entry),
    renew: () => prepare(flow.account, "expired", { focus: signButton }),
    async failed(problem, mine) {
      const explained = await explain(problem, challenge, signature);
      if (!mine()) return;
      reportFor(on, explained, nextAfter(explained, challenge, signature));
    },
  });
}

// What helps after a refusal: another signature, another account, or the same signature again.
function nextAfter({ id }, challenge, signature) {
  if (id === "bad-signature") return { focus: signButton };
  if (id === "wrong-chain" || id === "undeployed") {
    return { retry: changeAccount, retryName: say("change_account"), focus: on.retry };
  }
  return { retry: () => send(challenge, signature) };
}

// Only the wallet knows whether its account is a contract, whose signatures the server checks by asking the
// contract's chain.
async function explain(problem, challenge, signature) {
  const { entry, account } = flow;
  const isDown = problem.status === 503;
  if ((problem.id !== "bad-signature" && !isDown) || !entry.wallet.explain) return problem;
  const tooLate = new Promise((done) => setTimeout(done, EXPLAINS_WITHIN_MS));
  const asked = (async () => entry.wallet.explain(signature, account))().catch(() => undefined);
  const is = await Promise.race([asked, tooLate]);
  if (is !== "contract" && is !== "undeployed") return problem;
  if (isDown) return new Problem("chain-down", "chain_down");
  const ours = page.chains.find(({ chain }) => chain === challenge.chain);
  const chain = ours?.name ?? nameOfChain(challenge.chain, account);
  const chains = page.chains.map(({ name }) => name).join(", ");
  if (!ours) return new Problem("wrong-chain", chains ? "wrong_chain" : "wrong_chain_none", { values: { chain, chains } });
  return is === "undeployed" ? new Problem("undeployed", "undeployed", { values: { chain } }) : problem;
}

function nameOfChain(chain, { network }) {
  const id = chain?.split(":")[1] ?? "";
  return network ? `${network} (${id})` : chain;
}

// --- what wallets return -----------------------------------------------------------------------------------

function cancelConnect() {
  newTurn();
  show(on, RESTING, { key: "connect_cancelled", focus: flow.entry.button });
}

function cancelSign() {
  newTurn();
  show(on, "confirm", { key: "sign_cancelled", focus: signButton });
}

function pending(entry, retry) {
  show(on, "pending", { values: { wallet: entry.name }, retry, cancel: flow.challenge ? cancelSign : cancelConnect });
}

function locked(entry) {
  const retry = () => connect(entry, { again: true });
  show(on, "locked", { values: { wallet: entry.name }, retry, focus: on.retry });
}

function walletProblem(entry, error, signing) {
  const retry = () => (signing ? sign({ again: true }) : connect(entry, { again: true }));
  switch (codeOf(error)) {
    case 4001:
      return signing ? show(on, "sign-rejected", { focus: signButton }) : show(on, "connect-rejected", { retry, focus: on.retry });
    case -32002:
      return pending(entry, retry);
    case 4100:
      return locked(entry);
    case 4200:
    case -32601:
      choose(entry);
      byId("manual").open = true;
      return show(on, "unsupported", { alert: true, focus: byId("manual").querySelector("summary") });
    default:
      return show(on, "wallet-error", { values: { wallet: entry.name }, alert: true, retry });
  }
}
