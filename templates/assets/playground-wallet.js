// A throw-away Ethereum wallet for the playground. It announces itself as an extension does (EIP-6963),
// responds as one does (EIP-1193), and asks the user in a dialog before it signs. The server loads it only on
// the sign-in page, and only if the request came from the playground. Its habits (playground-keys.js) make it
// behave as badly as real wallets sometimes do.

import { accounts, bytesOfHex, habits, personalSign } from "./playground-keys.js";

const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f47c8"/>' +
      '<path d="M7 12h18v12H7z" fill="none" stroke="#fff" stroke-width="2" stroke-dasharray="3 2"/>' +
      '<path d="M7 12l12-5v5" fill="none" stroke="#fff" stroke-width="2"/><circle cx="21" cy="18" r="1.8" fill="#fff"/></svg>',
  );
const SLOWNESS_MS = 3000;
const SWITCH_AFTER_MS = 2000;

const texts = JSON.parse(document.querySelector("script[data-wallet-texts]").dataset.walletTexts);
const listeners = new Map();
let connected = false;
let first = 0; // Which of the two accounts comes first.
let switched = false;

const refusal = (code, message) => Object.assign(new Error(message), { code });
const inOrder = () => (first === 0 ? accounts() : accounts().reverse());
const addresses = () => inOrder().slice(0, habits().has("second_account") ? 2 : 1).map((account) => account.address.toLowerCase());

function tell(name, value) {
  for (const listener of listeners.get(name) ?? []) listener(value);
}

function switchAccount() {
  first = 1 - first;
  tell("accountsChanged", addresses());
}

function connect() {
  const current = habits();
  if (current.has("locked")) throw refusal(4100, texts.is_locked);
  if (current.has("pending")) throw refusal(-32002, texts.is_pending);
  if (current.has("reject_connection")) throw refusal(4001, texts.is_rejected);
  connected = true;
  if (current.has("switches_account") && !switched) {
    switched = true;
    setTimeout(switchAccount, SWITCH_AFTER_MS);
  }
  return addresses();
}

async function signText([data, address]) {
  const current = habits();
  if (current.has("cannot_sign")) throw refusal(4200, texts.is_unable);
  if (current.has("reject_signature")) throw refusal(4001, texts.is_rejected);
  const asked = String(address).toLowerCase();
  const account = inOrder().find((each) => each.address.toLowerCase() === asked);
  if (!connected || !account) throw refusal(4100, texts.is_unknown);
  const text = bytesOfHex(String(data));
  if (!(await agrees(account.address, new TextDecoder().decode(text)))) throw refusal(4001, texts.is_rejected);
  const signer = current.has("wrong_account") ? accounts().find((each) => each.address !== account.address) : account;
  return personalSign(text, signer.key);
}

const METHODS = {
  eth_requestAccounts: connect,
  eth_accounts: () => (connected ? addresses() : []),
  eth_chainId: () => "0x1",
  wallet_requestPermissions: () => {
    connected = true;
    switchAccount();
    return [{ parentCapability: "eth_accounts" }];
  },
  personal_sign: signText,
};

const provider = Object.freeze({
  async request({ method, params = [] }) {
    if (habits().has("slow")) await new Promise((done) => setTimeout(done, SLOWNESS_MS));
    if (!Object.hasOwn(METHODS, method)) throw refusal(4200, texts.is_unable);
    return METHODS[method](params);
  },
  on(name, listener) {
    listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  },
  removeListener(name, listener) {
    listeners.set(name, (listeners.get(name) ?? []).filter((each) => each !== listener));
  },
});

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Shows the text in the wallet's own dialog; resolves to the user's choice. */
function agrees(address, text) {
  const sign = element("button", { className: "primary", value: "sign", autofocus: true }, texts.sign);
  const shown = element("pre", { tabIndex: 0 }, text);
  shown.setAttribute("role", "region");
  shown.setAttribute("aria-labelledby", "test-wallet-heading");
  const dialog = element(
    "dialog",
    { className: "card test-wallet" },
    element("h2", { id: "test-wallet-heading" }, element("img", { src: ICON, alt: "", width: 28, height: 28 }), texts.question),
    element("p", { className: "hint" }, texts.about),
    element("p", { className: "address" }, address),
    shown,
    element("form", { method: "dialog", className: "actions" }, element("button", { value: "" }, texts.reject), sign),
  );
  dialog.setAttribute("aria-labelledby", "test-wallet-heading");
  document.body.append(dialog);
  return new Promise((answered) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      answered(dialog.returnValue === "sign");
    });
    dialog.showModal();
  });
}

const info = Object.freeze({ uuid: crypto.randomUUID(), name: texts.name, icon: ICON, rdns: "invalid.countersign.playground" });
const announce = () =>
  window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
window.addEventListener("eip6963:requestProvider", announce);
announce();
