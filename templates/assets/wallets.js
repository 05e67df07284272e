// Finds wallets and lists them. This module knows no kind of wallet itself: each wallet family has a script,
// and `Wallets` gets the scripts' paths.
//
//   export function find(add, tools) is called once, and finds the family's wallets as long as the page is
//   open. What it returns may have a function again(), which is called whenever the page gets the focus.
//
//   add(wallet) adds a wallet to the list, and returns a function that removes it again. That function
//   returns true, or false if the user is signing in with the wallet, which then stays. A wallet has
//     name, kind                   its name, and the kind of its accounts, both for users
//     id, icon, legacy             a permanent id, an image as a data: URI, and whether it replaces a
//                                  wallet that did not say its name; all of them are optional
//     connect()                    resolves to the accounts that the user shares, the current one first; none
//                                  means that the wallet is locked
//     sign(text, account)          resolves to the signature, in the format of the family's verifier on the
//                                  server
//     changeAccount(account)       lets the user choose; resolves to the accounts, or to undefined, and then
//                                  connect() returns them
//     onAccounts(changed)          is called once, and calls changed(accounts) whenever the accounts change
//     explain(signature, account)  is called if the server refused a signature or could not verify it. It
//                                  resolves to "contract" if the account is a contract on its chain or says
//                                  how it becomes one, to "undeployed" if the signature is a contract's but
//                                  there is no contract, else to undefined
//     signs(account)               resolves to "key" or "contract", in families with both: what is at an
//                                  address
//   The last four are optional. An account has an address, and if the wallet knows them, the chain (CAIP-2)
//   and `network`, the chain's name for users. Anything else that a script adds to it is passed back.
//   connect, sign and changeAccount call the wallet before they await anything, because wallets open windows,
//   and browsers only allow that then.
//
//   Errors that they throw have the wallet's code as in EIP-1193 and EIP-1474: 4001 the user declined, 4100
//   locked, 4200 and -32601 not supported, -32002 busy with an earlier request. `tools` help with this and
//   other things that families share:
//     ask(question, codes)         calls question() at once and awaits it. `codes` maps the wallet's own
//                                  error codes to these; an error whose message alone says that the user
//                                  declined gets 4001
//     standardWallets(found)       calls found(wallet) for each wallet of the Wallet Standard, now and later;
//                                  found returns what add returned, or undefined
//     utf8(text), hex(bytes), base64(bytes)
//
//   A script that cannot be loaded or throws is left out, and the others still work.

import { element, enable, initial, isEnabled } from "./dom.js";
import { say } from "./texts.js";

const CODES = new Set([4001, 4100, 4200, -32601, -32002]); // The codes that the page has its own messages for.
const LAST_WALLET = "countersign.last-wallet";

/** The wallets of this browser, as buttons in a list. */
export class Wallets {
  #list;
  #added;
  #chosen;
  #modules = [];
  entries = []; // {wallet, name, key, button, item, asking}
  current = null;

  /** `added(entry)` is called for each wallet, `chosen(entry)` for each click on one. */
  constructor({ list, added, chosen }) {
    this.#list = list;
    this.#added = added;
    this.#chosen = chosen;
  }

  /**
   * Loads the families' scripts. They keep adding wallets to the list as long as the page is open. Resolves
   * when each has looked once.
   */
  find(paths) {
    const add = (wallet) => this.#add(wallet);
    const loads = paths.map((path) => this.#load(path, add));
    window.addEventListener("focus", () => {
      for (const module of this.#modules) attempt(() => module.again?.());
    });
    return Promise.all(loads);
  }

  /** The user signs in with this wallet. */
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

/**
 * Calls a wallet. Must be called before any await in the click handler, because some wallets open a window,
 * and browsers only allow that then.
 */
export async function ask(entry, question) {
  entry.asking = true;
  try {
    return await question(entry.wallet);
  } finally {
    entry.asking = false;
  }
}

/** What a wallet calls itself: a claim for its user. Undefined if another name replaces it. */
export const ownName = (entry) => (entry && !entry.wallet.legacy ? entry.name : undefined);

/** The valid accounts in what a wallet returned. */
export function usable(accounts) {
  const named = Array.isArray(accounts) ? accounts.filter((each) => typeof each?.address === "string") : [];
  return named.map((each) => ({ ...each, address: each.address.trim() })).filter((each) => each.address !== "");
}

export function sameAddress(one, other) {
  return one.address.toLowerCase() === other?.address.toLowerCase();
}

/**
 * The code of a wallet's error. Wallets wrap the real one in a general "internal error", and some only say in
 * words that the user declined. `codes` maps a wallet's own codes to the usual ones.
 */
export function codeOf(error, codes = {}) {
  const inner = [error?.data?.originalError, error?.data?.cause, error?.cause, error];
  const given = inner.find((each) => typeof each?.code === "number")?.code;
  const code = codes[given] ?? given;
  const words = String(error?.message ?? error);
  return !CODES.has(code) && /reject|denied|declin|cancel/i.test(words) ? 4001 : code;
}

/** Runs an action of a wallet or a family's script, so that its errors affect nothing else. */
export function attempt(action) {
  try {
    return action();
  } catch (error) {
    console.warn(error);
    return undefined;
  }
}

/** Stores the wallet's own id and nothing about the user. A browser may refuse to. */
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

// --- what families share -----------------------------------------------------------------------------------

const tools = {
  utf8: (text) => new TextEncoder().encode(text),
  hex: (bytes) => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`,
  base64: (bytes) => btoa(String.fromCharCode(...bytes)),
  standardWallets,
  async ask(question, codes = {}) {
    try {
      return await question();
    } catch (error) {
      throw Object.assign(new Error(String(error?.message ?? error)), { code: codeOf(error, codes) });
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
