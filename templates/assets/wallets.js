// Finding wallets and listing them. This module knows no kind of wallet itself: each wallet family brings a script, and
// `Wallets` gets their paths.
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
//     explain(signature, account)  is asked when the server did not take a signature, or could not judge it. It resolves to
//                                  "contract" for an account that is a contract on its chain or says how it becomes one, to
//                                  "undeployed" for a contract's signature where no contract is, else to nothing
//     signs(account)               resolves to "key" or "contract", in families that know both: what stands behind an address
//   where the last four may be missing. An account has an address, and where the wallet knows them the chain by CAIP-2 and
//   `network`, the chain's name for people; what a module adds to it comes back with it. connect, sign and changeAccount
//   ask the wallet before they await anything: wallets open windows, and browsers allow that only then.
//
//   What they throw has the wallet's code by EIP-1193 and EIP-1474: 4001 the person said no, 4100 locked, 4200 and -32601 it
//   cannot do that, -32002 it is busy with an earlier request. `tools` help with this and other things that families share:
//     ask(question, codes)         calls question() at once and awaits it. An error gets the code that `codes` has in place of
//                                  the wallet's own, and 4001 where only its words say that the person said no
//     standardWallets(found)       calls found(wallet) for each wallet of the Wallet Standard, now and later; it returns what
//                                  add returned, or nothing
//     utf8(text), hex(bytes), base64(bytes)
//
//   A script that cannot be loaded or throws is left out; nothing else changes.

import { element, enable, initial, isEnabled } from "./dom.js";
import { say } from "./texts.js";

const CODES = new Set([4001, 4100, 4200, -32601, -32002]); // What the page has words of its own for.
const LAST_WALLET = "countersign.last-wallet";

/** The wallets of this browser, as buttons in a list. */
export class Wallets {
  #list;
  #added;
  #chosen;
  #modules = [];
  entries = []; // {wallet, name, key, button, item, asking}
  current = null;

  /** `added(entry)` hears of each wallet, `chosen(entry)` of each press on one. */
  constructor({ list, added, chosen }) {
    this.#list = list;
    this.#added = added;
    this.#chosen = chosen;
  }

  /** Loads the families' scripts; the list then fills for as long as the page lives. */
  find(paths) {
    const add = (wallet) => this.#add(wallet);
    for (const path of paths) this.#load(path, add);
    window.addEventListener("focus", () => {
      for (const module of this.#modules) attempt(() => module.again?.());
    });
  }

  /** The person signs in with this one. */
  choose(entry) {
    this.current = entry;
    for (const each of this.entries) {
      if (each === entry) each.button.setAttribute("aria-current", "true");
      else each.button.removeAttribute("aria-current");
    }
  }

  enable(may) {
    for (const { button } of this.entries) enable(button, may);
  }

  async #load(path, add) {
    try {
      const { find } = await import(path);
      this.#modules.push((await find(add, tools)) ?? {});
    } catch (error) {
      console.warn(`${path} does not work:`, error);
    }
  }

  #add(wallet) {
    const { id, kind, legacy } = wallet;
    if (typeof wallet.name !== "string" || typeof wallet.connect !== "function" || typeof wallet.sign !== "function") return () => false;
    const entry = { wallet, name: plainName(wallet.name), key: typeof id === "string" && id ? `${kind} ${id}` : "" };
    entry.button = element("button", undefined, "wallet");
    entry.button.type = "button";
    const tag = element("span", legacy ? say("kind_legacy", { kind }) : kind, "tag");
    entry.button.append(picture(safeIcon(wallet.icon), entry.name), element("bdi", entry.name), tag);
    entry.button.addEventListener("click", () => isEnabled(entry.button) && this.#chosen(entry));
    entry.item = element("li", entry.button);
    this.entries.push(entry);
    if (entry.key && entry.key === lastWallet()) this.#list.prepend(entry.item);
    else this.#list.append(entry.item);
    this.#added(entry);
    return () => this.#forget(entry);
  }

  #forget(entry) {
    if (entry === this.current || !this.entries.includes(entry)) return false;
    this.entries.splice(this.entries.indexOf(entry), 1);
    entry.item.remove();
    return true;
  }
}

/** Asks a wallet. Called before any await of the click, because some wallets open a window and browsers allow that only then. */
export async function ask(entry, question) {
  entry.asking = true;
  try {
    return await question(entry.wallet);
  } finally {
    entry.asking = false;
  }
}

/** The accounts among what a wallet gave. */
export function usable(accounts) {
  const named = Array.isArray(accounts) ? accounts.filter((each) => typeof each?.address === "string") : [];
  return named.map((each) => ({ ...each, address: each.address.trim() })).filter((each) => each.address !== "");
}

export function sameAddress(one, other) {
  return one.address.toLowerCase() === other?.address.toLowerCase();
}

/** The code of a wallet's error. Wallets wrap the one that counts in a general "internal error". */
export function codeOf(error) {
  for (const each of [error?.data?.originalError, error?.data?.cause, error?.cause, error]) {
    if (typeof each?.code === "number") return each.code;
  }
  return undefined;
}

/** What wallets and families' scripts do wrong is theirs alone. */
export function attempt(action) {
  try {
    return action();
  } catch (error) {
    console.warn(error);
    return undefined;
  }
}

/** Keeps the wallet's own name for itself, and nothing about the person; a browser may refuse to. */
export function rememberWallet(entry) {
  try {
    if (entry.key) localStorage.setItem(LAST_WALLET, entry.key.slice(0, 100));
  } catch {
    // Only the order of the list is lost.
  }
}

function lastWallet() {
  try {
    return localStorage.getItem(LAST_WALLET);
  } catch {
    return null;
  }
}

function plainName(name) {
  return name.replace(/[\p{C}\s]+/gu, " ").trim().slice(0, 60) || say("wallet");
}

function safeIcon(icon) {
  return typeof icon === "string" && icon.length < 500_000 && /^data:image\/[a-z+.-]+[;,]/i.test(icon) ? icon : null;
}

function picture(icon, name) {
  const letter = element("span", initial(name), "no-icon");
  letter.ariaHidden = "true";
  if (icon === null) return letter;
  const image = element("img");
  image.alt = "";
  image.addEventListener("error", () => image.replaceWith(letter));
  image.src = icon;
  return image;
}

// --- what families share ----------------------------------------------------------------------------------------------------

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
