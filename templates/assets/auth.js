// The sign-in page's script: it finds wallets, has one sign the server's text, and hands the signature in. Without it the
// page works by its forms. It reads the data attributes of <main> once, keeps all of its state in this module, listens to no
// messages, and writes what others chose (names, texts, errors) as text only.
//
// `state` below is the sign-in's state as people see it; it stands in data-state on <main>.
//
// It knows no kind of wallet itself. Each wallet family brings a module, and all of them are found in data-wallet-modules:
//
//   export function find(add, tools) is called once, and finds the family's wallets for as long as the page lives. What it
//   returns may have a function again(), which is called whenever the page gets the focus.
//
//   add(wallet) puts a wallet into the list, and returns a function that takes it off again: that one gives true, or false
//   for the wallet that the person is signing in with, which stays. A wallet has
//     name, kind                   how it is called, and of which kind its accounts are, both for people
//     id, icon, legacy             a lasting name for itself, an image as a data: URI, and whether it stands in for a wallet
//                                  that did not say its name; all of them may be missing
//     connect()                    resolves to the accounts that the person shares, the current one first; none: it is locked
//     sign(text, account)          resolves to the signature, as the family's verifier on the server takes it
//     changeAccount(account)       lets the person choose; resolves to the accounts, or to nothing: connect() tells them
//     onAccounts(changed)          is called once, and calls changed(accounts) whenever the wallet has other ones
//   where the last two may be missing. An account has an address, and the chain by CAIP-2 where the wallet knows it; what a
//   module adds to it comes back with it. connect, sign and changeAccount ask the wallet before they await anything: wallets
//   open windows, and browsers allow that only then.
//
//   What they throw has the wallet's code by EIP-1193 and EIP-1474: 4001 the person said no, 4100 locked, 4200 and -32601 it
//   cannot do that, -32002 it is busy with an earlier request. `tools` help with this and other things that families share:
//     ask(question, codes)         calls question() at once and awaits it. An error gets the code that `codes` has in place of
//                                  the wallet's own, and 4001 where only its words say that the person said no
//     standardWallets(found)       calls found(wallet) for each wallet of the Wallet Standard, now and later; it returns what
//                                  add returned, or nothing
//     utf8(text), hex(bytes), base64(bytes)
//
//   A module that cannot be loaded or throws is left out; nothing else changes.

const main = document.querySelector("main");
const page = { ...main.dataset };
const title = document.title;
const byId = (id) => document.getElementById(id);

const ui = {
  list: byId("wallet-list"),
  sign: byId("sign"),
  manual: byId("manual"),
  addressForm: byId("address-form"),
  address: byId("address"),
  chain: byId("chain"),
  loginForm: byId("login-form"),
  signature: byId("signature"),
};
const surfaces = { page: surface("page-messages"), wallet: surface("wallet-messages"), manual: surface("manual-messages") };

const RENEW_BEFORE_MS = 20_000;
const RENEW_AT_MOST_EVERY_MS = 10_000; // Whatever lifetime a server gives, the page does not flood it.
const ANSWER_WITHIN_MS = 30_000;
const BAD_SIGNATURE =
  "Failed to verify signature. The signature does not match this address and text. " +
  "Check the account and sign the exact text, no extra spaces.";
const NO_WALLET =
  "No wallet found in this browser yet. Unlock or install one and it appears here, " +
  "open this page in your wallet's browser, or copy and paste below.";
const CODES = new Set([4001, 4100, 4200, -32601, -32002]); // What the page has words of its own for.
const LAST_WALLET = "countersign.last-wallet";

// In these states somebody else has the word (the wallet, the server, or nobody any more): nothing may be signed meanwhile.
const OVER = new Set(["verifying", "success", "denied"]);
const BUSY = new Set(["connecting", "pending", "locked", "preparing", "signing", "rate-limited", ...OVER]);

let state = "boot";
let blocked = false;
let turn = 0; // Every step takes a new number; an answer to an older step is dropped.
let wait = null; // The countdown of a rate limit.

const wallets = []; // {wallet, name, key, button, item, asking, heard}
const modules = []; // What find() of each of them returned.
const walletFlow = { entry: null, accounts: [], account: null, picked: false, challenge: null, valid: byId("valid") };
const manualFlow = { challenge: null, valid: byId("manual-valid") };

/** What went wrong, as a state of the page and a sentence for people. */
class Problem extends Error {
  constructor(id, text, seconds = 0) {
    super(text);
    this.id = id;
    this.seconds = seconds;
  }
}

// --- what the page says ----------------------------------------------------------------------------------------------------

function surface(id) {
  const root = byId(id);
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  return {
    status: root.querySelector('[role="status"]'),
    alert: root.querySelector('[role="alert"]'),
    retry: part("retry"),
    cancel: part("cancel"),
  };
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Puts the page into a state. `on` is where the sentence appears; a new element each time, so that it is read out again. */
function show(on, id, text, { alert = false, busy = false, retry, cancel, focus, heading } = {}) {
  state = id;
  main.dataset.state = id;
  clearInterval(wait);
  for (const each of Object.values(surfaces)) {
    each.status.replaceChildren();
    each.alert.replaceChildren();
    for (const button of [each.retry, each.cancel]) {
      if (button) button.hidden = true;
    }
  }
  if (text) (alert ? on.alert : on.status).append(element("p", text, busy ? "busy" : ""));
  offer(on.retry, retry);
  offer(on.cancel, cancel);
  refreshButtons();
  document.title = (alert ? "Error: " : heading ? `${heading} - ` : "") + title;
  if (focus === on.retry && !retry) return;
  focus?.focus();
}

function offer(button, action) {
  if (!button || !action) return;
  button.hidden = false;
  button.onclick = action;
}

function refreshButtons() {
  enable(ui.sign, !blocked && walletFlow.challenge !== null && !BUSY.has(state));
  ui.sign.setAttribute("aria-busy", String(state === "preparing" || state === "verifying"));
  const open = !blocked && !OVER.has(state) && state !== "rate-limited";
  for (const id of ["get-text", "verify"]) enable(byId(id), open);
  for (const entry of wallets) enable(entry.button, open);
}

// aria-disabled and not disabled: a disabled button would lose the focus.
function enable(button, may) {
  button.setAttribute("aria-disabled", String(!may));
}

function isEnabled(button) {
  return button.getAttribute("aria-disabled") !== "true";
}

/** Nothing can be signed on this page any more; the link is the way out. */
function block(id, text, href, label) {
  blocked = true;
  turn += 1;
  walletFlow.challenge = null;
  manualFlow.challenge = null;
  show(surfaces.page, id, text, { alert: true });
  const link = byId("page-link");
  if (href && isWebAddress(href)) {
    link.href = href;
    link.textContent = label;
    link.hidden = false;
  }
  byId("page-messages").scrollIntoView({ block: "nearest" });
}

function report(on, problem, retry, field) {
  if (!(problem instanceof Problem)) throw problem;
  if (problem.id === "session-gone") {
    block("session-gone", problem.message, page.clientUri, `Back to ${page.clientName}`);
  } else if (problem.id === "rate-limited") {
    rateLimited(on, problem.seconds, retry);
  } else {
    const toForm = field && (problem.id === "bad-signature" || problem.id === "refused");
    if (toForm) field.setAttribute("aria-invalid", "true");
    show(on, problem.id, problem.message, { alert: true, ...(toForm ? { focus: field } : { retry }) });
  }
}

// The alert is read out once; the seconds then change in a part that is not live.
function rateLimited(on, seconds, retry) {
  show(on, "rate-limited", `Too many attempts. Try again in ${seconds} s.`, { alert: true });
  const until = Date.now() + seconds * 1000;
  wait = setInterval(() => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left > 0) {
      on.alert.firstChild?.setAttribute("aria-live", "off");
      if (on.alert.firstChild) on.alert.firstChild.textContent = `Too many attempts. Try again in ${left} s.`;
      return;
    }
    show(on, walletFlow.challenge || manualFlow.challenge ? "confirm" : "ready", "You can try again now.", { retry });
  }, 1000);
}

// --- the server ------------------------------------------------------------------------------------------------------------

async function post(path, fields) {
  const body = { ...fields, client_id: page.clientId, redirect_uri: page.redirectUri };
  if (page.oauthState !== undefined) body.state = page.oauthState;
  let response;
  let text;
  try {
    response = await fetch(page.base + path, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    text = await response.text();
  } catch {
    throw new Problem("offline", "You are offline or the server is not answering.");
  }
  const answer = jsonObject(text);
  if (!response.ok || answer === null) throw problemOf(response, answer ?? {});
  return { answer, serverTime: Date.parse(response.headers.get("Date") ?? "") || Date.now() };
}

function jsonObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function problemOf(response, answer) {
  const said = typeof answer.error_description === "string" ? answer.error_description : "";
  if (response.status === 429) {
    return new Problem("rate-limited", said, secondsToWait(response.headers.get("Retry-After")));
  }
  if (response.status >= 500 || response.ok) {
    const reference = response.headers.get("X-Request-Id");
    return new Problem("server-error", `Something broke on our side.${reference ? ` Reference: ${reference}` : ""}`);
  }
  if (response.status === 401) {
    return said.startsWith("Challenge") ? new Problem("expired", said) : new Problem("bad-signature", BAD_SIGNATURE);
  }
  if (/session/i.test(said)) {
    return new Problem("session-gone", "Missing or expired OAuth session. Go back to the app and start again.");
  }
  return new Problem("refused", said || "The server did not accept this.");
}

function secondsToWait(header) {
  const seconds = Number(header ?? "");
  if (Number.isFinite(seconds) && seconds > 0) return Math.min(Math.ceil(seconds), 3600);
  const at = Date.parse(header ?? "");
  return Number.isNaN(at) ? 30 : Math.min(Math.max(Math.ceil((at - Date.now()) / 1000), 1), 3600);
}

async function issue({ address, chain }) {
  const { answer, serverTime } = await post("/oauth/challenge", { wallet_address: address, chain });
  const issued = challengeOf(answer.challenge, answer.wallet_address, answer.expires_at, serverTime);
  return { ...issued, asked: { address, chain }, howToSign: answer.how_to_sign };
}

// The end is counted by the server's clock: this computer's may be wrong.
function challengeOf(text, address, expiresAt, serverTime) {
  const expires = Date.parse(expiresAt);
  if (typeof text !== "string" || typeof address !== "string" || Number.isNaN(expires)) {
    throw new Problem("server-error", "Something broke on our side: the text to sign did not arrive whole.");
  }
  return { text, address, came: Date.now(), ends: Date.now() + (expires - serverTime) };
}

function logIn(challenge, signature) {
  return post("/oauth/login", { wallet_address: challenge.address, challenge: challenge.text, signature });
}

function leave(answer, id, text) {
  const target = answer.redirect_to;
  if (typeof target !== "string" || !isTarget(target)) {
    throw new Problem("server-error", "Something broke on our side: the way back to the app is missing.");
  }
  show(surfaces.page, id, text, { busy: true, heading: id === "success" ? "Signed in" : "Denied" });
  const link = byId("page-link");
  link.href = target;
  link.textContent = "Continue";
  setTimeout(() => {
    link.hidden = false;
  }, 1000);
  location.assign(target);
}

// Web addresses and applications' own schemes, which have a dot; never javascript:, data: or blob:.
function isTarget(text) {
  return isWebAddress(text) || /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:/i.test(text);
}

function isWebAddress(text) {
  return /^https?:\/\//i.test(text);
}

// --- wallets: finding them --------------------------------------------------------------------------------------------------

async function findWallets(path) {
  try {
    const { find } = await import(path);
    modules.push((await find(add, tools)) ?? {});
  } catch (error) {
    console.warn(`${path} does not work:`, error);
  }
}

function askAgain() {
  for (const module of modules) attempt(() => module.again?.());
}

// What wallets and modules do wrong is theirs alone.
function attempt(action) {
  try {
    return action();
  } catch (error) {
    console.warn(error);
    return undefined;
  }
}

const tools = {
  utf8: (text) => new TextEncoder().encode(text),
  hex: (bytes) => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`,
  base64: (bytes) => btoa(String.fromCharCode(...bytes)),
  standardWallets,
  async ask(question, codes = {}) {
    try {
      return await question();
    } catch (error) {
      const words = String(error?.message ?? error);
      const given = codeOf(error);
      const code = codes[given] ?? given;
      const saidNo = !CODES.has(code) && /reject|denied|declin|cancel/i.test(words);
      throw Object.assign(new Error(words), { code: saidNo ? 4001 : code });
    }
  },
};

const standard = { registered: new Map(), listeners: [] };

function standardWallets(found) {
  standard.listeners.push(found);
  for (const [wallet, removers] of standard.registered) removers.push(attempt(() => found(wallet)));
  if (standard.listeners.length > 1) return;
  const register = (...given) => {
    const fresh = given.filter((wallet) => !standard.registered.has(wallet));
    for (const wallet of fresh) {
      standard.registered.set(wallet, standard.listeners.map((listener) => attempt(() => listener(wallet))));
    }
    return () => {
      for (const wallet of fresh) {
        for (const remove of standard.registered.get(wallet) ?? []) remove?.();
        standard.registered.delete(wallet);
      }
    };
  };
  const api = Object.freeze({ register });
  window.addEventListener("wallet-standard:register-wallet", (event) => attempt(() => event.detail(api)));
  window.dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
}

function plainName(name) {
  return name.replace(/[\p{C}\s]+/gu, " ").trim().slice(0, 60) || "Wallet";
}

function safeIcon(icon) {
  return typeof icon === "string" && icon.length < 500_000 && /^data:image\/[a-z+.-]+[;,]/i.test(icon) ? icon : null;
}

function add(wallet) {
  const { id, kind, legacy } = wallet;
  if (typeof wallet.name !== "string" || typeof wallet.connect !== "function" || typeof wallet.sign !== "function") return () => false;
  const entry = { wallet, name: plainName(wallet.name), key: typeof id === "string" && id ? `${kind} ${id}` : "" };
  entry.button = element("button", undefined, "wallet");
  entry.button.type = "button";
  const tag = element("span", legacy ? `${kind}, legacy` : kind, "tag");
  entry.button.append(picture(safeIcon(wallet.icon), entry.name), element("bdi", entry.name), tag);
  entry.button.addEventListener("click", () => isEnabled(entry.button) && connect(entry));
  entry.item = element("li");
  entry.item.append(entry.button);
  wallets.push(entry);
  if (entry.key && entry.key === lastWallet()) ui.list.prepend(entry.item);
  else ui.list.append(entry.item);
  byId("wallets-empty").hidden = true;
  if (state === "boot" || state === "no-wallet") show(surfaces.wallet, "ready");
  else refreshButtons();
  return () => forget(entry);
}

function forget(entry) {
  if (entry === walletFlow.entry || !wallets.includes(entry)) return false;
  wallets.splice(wallets.indexOf(entry), 1);
  entry.item.remove();
  return true;
}

function picture(icon, name) {
  const letter = element("span", Array.from(name)[0].toUpperCase(), "no-icon");
  letter.ariaHidden = "true";
  if (icon === null) return letter;
  const image = element("img");
  image.alt = "";
  image.addEventListener("error", () => image.replaceWith(letter));
  image.src = icon;
  return image;
}

// The last wallet's own name for itself, and nothing about the person; a browser may refuse to keep it.
function lastWallet() {
  try {
    return localStorage.getItem(LAST_WALLET);
  } catch {
    return null;
  }
}

function remember(entry) {
  try {
    if (entry.key) localStorage.setItem(LAST_WALLET, entry.key.slice(0, 100));
  } catch {
    // Only the order of the list is lost.
  }
}

// --- wallets: connecting and signing ----------------------------------------------------------------------------------------

// Called before any await of the click, because some wallets open a window and browsers allow that only then.
async function ask(entry, question) {
  entry.asking = true;
  try {
    return await question(entry.wallet);
  } finally {
    entry.asking = false;
  }
}

async function connect(entry, { again = false } = {}) {
  if (blocked || OVER.has(state)) return;
  const mine = ++turn;
  choose(entry);
  if (entry.asking && !again) return pending(entry, () => connect(entry, { again: true }));
  try {
    const asked = ask(entry, (wallet) => wallet.connect());
    show(surfaces.wallet, "connecting", `Approve the connection in ${entry.name}.`, { busy: true, cancel: cancelConnect });
    const accounts = usable(await asked);
    if (mine !== turn) return;
    if (accounts.length > 0) remember(entry);
    await connected(entry, accounts);
  } catch (error) {
    if (mine === turn) walletProblem(entry, error, false);
  }
}

function choose(entry) {
  if (walletFlow.entry !== entry) walletFlow.account = null;
  Object.assign(walletFlow, { entry, accounts: [], picked: false, challenge: null });
  byId("check-body").hidden = true;
  byId("check-empty").hidden = false;
  for (const each of wallets) {
    if (each === entry) each.button.setAttribute("aria-current", "true");
    else each.button.removeAttribute("aria-current");
  }
  if (entry.heard) return;
  entry.heard = true;
  attempt(() => entry.wallet.onAccounts?.((accounts) => accountsChanged(entry, usable(accounts))));
}

function connected(entry, accounts) {
  if (accounts.length === 0) return locked(entry);
  walletFlow.accounts = accounts;
  return prepare(accounts[0], "confirm", "Check the text, then sign.", true);
}

function usable(accounts) {
  const named = Array.isArray(accounts) ? accounts.filter((each) => typeof each?.address === "string") : [];
  return named.map((each) => ({ ...each, address: each.address.trim() })).filter((each) => each.address !== "");
}

function accountsChanged(entry, accounts) {
  if (blocked || entry !== walletFlow.entry || OVER.has(state) || state === "connecting") return;
  const [account] = accounts;
  const before = walletFlow.account;
  if (account === undefined) {
    turn += 1;
    choose(entry);
    walletFlow.account = null;
    locked(entry);
    return;
  }
  if (walletFlow.picked && accounts.some((each) => same(each, before))) return;
  walletFlow.accounts = accounts;
  walletFlow.picked = false;
  if (before === null) {
    prepare(account, "confirm", "Check the text, then sign.", true);
  } else if (!same(account, before)) {
    prepare(account, "account-changed", `You switched accounts. We prepared a new text for ${account.address}.`, false);
  } else if (account.chain !== before.chain) {
    prepare(account, "account-changed", "Your wallet switched networks. We prepared a new text.", false);
  }
}

function same(one, other) {
  return one.address.toLowerCase() === other?.address.toLowerCase();
}

/** Gets the text for an account and shows it; the state after that is the caller's. */
async function prepare(account, id, text, takesFocus) {
  const mine = ++turn;
  walletFlow.account = account;
  walletFlow.challenge = null;
  show(surfaces.wallet, "preparing", "Preparing the text to sign…", { busy: true });
  try {
    const challenge = await issue(account);
    if (mine !== turn) return;
    walletFlow.challenge = challenge;
    showAddress(challenge.address);
    byId("wallet-name").textContent = walletFlow.entry.name;
    byId("text").textContent = challenge.text;
    byId("check-body").hidden = false;
    byId("check-empty").hidden = true;
    tick();
    show(surfaces.wallet, id, text, { focus: takesFocus ? ui.sign : undefined, heading: "Check and sign" });
  } catch (problem) {
    if (mine === turn) report(surfaces.wallet, problem, () => prepare(account, id, text, true));
  }
}

function showAddress(address) {
  const groups = address.match(/^0x|^[a-z]+:|.{1,4}/g) ?? [];
  byId("account").replaceChildren(...groups.map((group) => element("span", group)));
}

async function sign({ again = false } = {}) {
  const { entry, account, challenge } = walletFlow;
  if (!challenge || !(again || isEnabled(ui.sign))) return;
  const mine = ++turn;
  if (entry.asking && !again) return pending(entry, () => sign({ again: true }));
  let signature;
  try {
    const asked = ask(entry, (wallet) => wallet.sign(challenge.text, account));
    const text = `Check your wallet: the request must come from ${page.host}.`;
    show(surfaces.wallet, "signing", text, { busy: true, cancel: cancelSign });
    signature = await asked;
  } catch (error) {
    if (mine === turn) walletProblem(entry, error, true);
    return;
  }
  if (mine !== turn) return;
  if (typeof signature !== "string") return walletProblem(entry, null, true);
  const renew = () => prepare(account, "expired", "This text is too old. We made a new one.", true);
  await handIn(surfaces.wallet, challenge, signature, renew);
}

async function handIn(on, challenge, signature, renew, field) {
  const mine = ++turn;
  show(on, "verifying", "Verifying your signature…", { busy: true });
  try {
    const { answer } = await logIn(challenge, withoutSpaces(signature));
    leave(answer, "success", `Signed in. Taking you to ${page.destination}…`);
  } catch (problem) {
    if (mine !== turn) return;
    if (problem.id === "expired") renew();
    else report(on, problem, () => handIn(on, challenge, signature, renew, field), field);
  }
}

// No signature and no address holds spaces, but pasted ones often do: around them, or where a terminal broke the line.
function withoutSpaces(text) {
  return text.replace(/[\s\u200b\u2060\ufeff]+/gu, "");
}

function cancelConnect() {
  turn += 1;
  show(surfaces.wallet, "ready", "You can choose again. Close the request in your wallet.", { focus: walletFlow.entry?.button });
}

function cancelSign() {
  turn += 1;
  show(surfaces.wallet, "confirm", "Nothing was signed. Close the request in your wallet.", { focus: ui.sign });
}

function pending(entry, retry) {
  const text = `${entry.name} already has a request waiting. Open ${entry.name} and answer it.`;
  show(surfaces.wallet, "pending", text, { retry, cancel: cancelConnect });
}

function locked(entry) {
  const retry = () => connect(entry, { again: true });
  show(surfaces.wallet, "locked", `Unlock ${entry.name} and choose an account, then try again.`, { retry, focus: surfaces.wallet.retry });
}

function walletProblem(entry, error, signing) {
  const code = codeOf(error);
  const retry = () => (signing ? sign({ again: true }) : connect(entry, { again: true }));
  if (code === 4001 && signing) {
    const text = "You did not sign. You are not signed in. Try again or deny the request.";
    show(surfaces.wallet, "sign-rejected", text, { focus: ui.sign });
  } else if (code === 4001) {
    show(surfaces.wallet, "connect-rejected", "You closed the request. Nothing was shared.", { focus: entry.button });
  } else if (code === -32002) {
    pending(entry, retry);
  } else if (code === 4100) {
    locked(entry);
  } else if (code === 4200 || code === -32601) {
    ui.manual.open = true;
    const text = "This wallet cannot sign messages. Use another wallet or copy and paste.";
    show(surfaces.wallet, "unsupported", text, { alert: true, focus: ui.manual.querySelector("summary") });
  } else {
    const text = `${entry.name} reported an error and nothing was signed. Try again, or copy and paste.`;
    show(surfaces.wallet, "wallet-error", text, { alert: true, retry });
  }
}

// Wallets wrap the code that counts in a general "internal error".
function codeOf(error) {
  for (const each of [error?.data?.originalError, error?.data?.cause, error?.cause, error]) {
    if (typeof each?.code === "number") return each.code;
  }
  return undefined;
}

function changeAccount() {
  const { entry, accounts, account } = walletFlow;
  if (!entry || !isEnabled(entry.button)) return;
  const { wallet, name } = entry;
  const byWallet = () => show(surfaces.wallet, "confirm", `Switch the account in ${name}; this page follows.`);
  if (wallet.changeAccount) {
    const mine = ++turn;
    const asked = ask(entry, () => wallet.changeAccount(account));
    show(surfaces.wallet, "connecting", `Choose another account in ${name}.`, { busy: true, cancel: cancelSign });
    asked.then(
      (chosen) => mine === turn && (chosen ? connected(entry, usable(chosen)) : connect(entry, { again: true })),
      () => mine === turn && byWallet(),
    );
  } else if (accounts.length > 1) {
    const next = (accounts.findIndex((each) => same(each, account)) + 1) % accounts.length;
    walletFlow.picked = true;
    prepare(accounts[next], "account-changed", `This is account ${next + 1} of ${accounts.length} in ${name}.`, true);
  } else if (wallet.onAccounts) {
    byWallet();
  } else {
    connect(entry, { again: true });
  }
}

// --- without connecting: copy and paste -------------------------------------------------------------------------------------

async function issueManually(account, id, text, takesFocus) {
  const mine = ++turn;
  manualFlow.challenge = null;
  ui.addressForm.after(byId("manual-messages"));
  show(surfaces.manual, "preparing", "Preparing the text to sign…", { busy: true });
  try {
    const challenge = await issue(account);
    if (mine !== turn) return;
    ui.signature.value = "";
    showManually(challenge);
    show(surfaces.manual, id, text, { focus: takesFocus ? byId("manual-heading") : undefined, heading: "Sign the text" });
  } catch (problem) {
    if (mine !== turn) return;
    const chains = problem.id === "refused" ? chainsIn(problem.message) : [];
    offerChains(chains);
    // A chain that is chosen must not meet another one in front of the address.
    if (chains.length > 0) ui.address.value = account.address.replace(/^[^:]*:[^:]*:/, "");
    report(surfaces.manual, problem, () => issueManually(account, id, text, true), chains.length > 0 ? ui.chain : ui.address);
  }
}

// The server names the chains that an address can belong to: "bip122:… (Bitcoin), …".
function chainsIn(text) {
  return Array.from(text.matchAll(/([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}) \(([^)]*)\)/g), ([, chain, kind]) => ({ chain, kind }));
}

function offerChains(chains) {
  byId("chain-choice").hidden = chains.length === 0;
  const options = chains.map(({ chain, kind }) => new Option(`${kind} (${chain})`, chain));
  ui.chain.replaceChildren(new Option("Choose one", ""), ...options);
}

function showManually(challenge) {
  manualFlow.challenge = challenge;
  byId("manual-text").textContent = challenge.text;
  showHowToSign(challenge.howToSign);
  byId("manual-tools").hidden = false;
  byId("get-text").textContent = "Get a new text";
  byId("get-text").classList.remove("primary");
  byId("address-deny")?.remove();
  ui.loginForm.hidden = false;
  tick();
}

// What the page came with stays when the answer says nothing about it.
function showHowToSign(ways) {
  if (!Array.isArray(ways)) return;
  byId("commands").hidden = ways.length === 0;
  const shown = ways.map(({ tool, how }) => {
    const command = element("pre", how);
    command.tabIndex = 0;
    command.role = "region";
    command.ariaLabel = tool;
    const definition = element("dd");
    definition.append(command);
    return [element("dt", tool), definition];
  });
  byId("ways").replaceChildren(...shown.flat());
}

function addressSubmitted(event) {
  event.preventDefault();
  if (!isEnabled(byId("get-text"))) return;
  ui.address.value = withoutSpaces(ui.address.value);
  clearError(ui.address);
  clearError(ui.chain);
  const account = { address: ui.address.value, chain: ui.chain.value || undefined };
  issueManually(account, "confirm", "The text is ready. Sign it and paste the signature.", true);
}

function signatureSubmitted(event) {
  event.preventDefault();
  const { challenge } = manualFlow;
  if (!challenge || !isEnabled(byId("verify"))) return;
  ui.signature.value = withoutSpaces(ui.signature.value);
  clearError(ui.signature);
  ui.loginForm.after(byId("manual-messages"));
  handIn(surfaces.manual, challenge, ui.signature.value, () => renewManually(challenge), ui.signature);
}

function clearError(field) {
  field.removeAttribute("aria-invalid");
  byId("notice")?.remove();
}

function renewManually(challenge) {
  issueManually(challenge.asked, "expired", "This text is too old. We made a new one: sign it again.", false);
}

async function copy(pre, on) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    on.status.replaceChildren(element("p", "Copied."));
  } catch {
    getSelection().selectAllChildren(pre);
    on.status.replaceChildren(element("p", "The text is selected: copy it with your keyboard or the menu."));
  }
}

function download() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([byId("manual-text").textContent], { type: "text/plain" }));
  link.download = "sign-in.txt";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// --- deny -------------------------------------------------------------------------------------------------------------------

async function denied(event) {
  event.preventDefault();
  if (OVER.has(state)) return;
  const on = ui.manual.contains(event.submitter) ? surfaces.manual : surfaces.wallet;
  const mine = ++turn;
  try {
    const { answer } = await post("/oauth/deny", {});
    leave(answer, "denied", `You denied the request. Taking you back to ${page.destination}…`);
  } catch (problem) {
    if (mine === turn) report(on, problem, () => byId("deny").requestSubmit());
  }
}

// --- time -------------------------------------------------------------------------------------------------------------------

// A text that is too old is replaced while somebody looks at it. The wallet's text goes a little before its end; a text
// that is being signed by hand stays until the end.
function tick() {
  const visible = document.visibilityState === "visible";
  for (const flow of [walletFlow, manualFlow]) {
    if (!flow.challenge) continue;
    const left = flow.challenge.ends - Date.now();
    const seconds = Math.max(0, Math.ceil(left / 1000));
    flow.valid.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const fresh = Date.now() - flow.challenge.came < RENEW_AT_MOST_EVERY_MS;
    if (!visible || BUSY.has(state) || blocked || fresh) continue;
    if (flow === walletFlow && left < RENEW_BEFORE_MS) {
      prepare(flow.account, "expired", "The text was about to expire. We made a new one.", false);
    } else if (flow === manualFlow && left <= 0) {
      renewManually(flow.challenge);
    }
  }
}

// --- the start --------------------------------------------------------------------------------------------------------------

function start() {
  main.classList.add("js");
  byId("wallets").hidden = false;
  byId("check").hidden = false;
  byId("avatar").textContent = Array.from(page.clientName.trim())[0]?.toUpperCase() ?? "";
  byId("avatar").hidden = false;
  ui.manual.open = page.step === "sign" || page.notice !== undefined;

  window.addEventListener("focus", askAgain);
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  document.addEventListener("visibilitychange", tick);
  ui.sign.addEventListener("click", () => sign());
  byId("change-account").addEventListener("click", changeAccount);
  byId("copy").addEventListener("click", () => copy(byId("text"), surfaces.wallet));
  byId("manual-copy").addEventListener("click", () => copy(byId("manual-text"), surfaces.manual));
  byId("manual-download").addEventListener("click", download);
  ui.addressForm.addEventListener("submit", addressSubmitted);
  ui.address.addEventListener("input", () => offerChains([]));
  ui.loginForm.addEventListener("submit", signatureSubmitted);
  byId("deny").addEventListener("submit", denied);
  setInterval(tick, 1000);

  if (!window.isSecureContext) return block("insecure", "This page is not served over HTTPS. Do not sign.");
  if (location.host !== page.host) {
    const there = `${location.protocol}//${page.host}/auth`;
    const text = `You opened this page as ${location.host} but it belongs to ${page.host}.`;
    return block("wrong-host", text, there, `Go to ${page.host}`);
  }
  if (page.step === "sign") {
    const challenge = challengeOf(page.challenge, page.walletAddress, page.expiresAt, Date.now());
    showManually({ ...challenge, asked: { address: page.walletAddress, chain: page.chain }, came: 0 });
    show(surfaces.manual, "confirm");
  }
  for (const path of (page.walletModules ?? "").split(" ").filter(Boolean)) findWallets(path);
  setTimeout(() => {
    if (wallets.length > 0) return;
    byId("wallets-empty").textContent = NO_WALLET;
    if (state === "boot") show(surfaces.wallet, "no-wallet");
  }, 1500);
}

start();
