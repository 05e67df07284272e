// One side of a change of wallets: which wallet of this browser it is, its account, and its signature.

import { newTurn, now, show, surfaces } from "./auth-states.js";
import { byId, element, showAddress } from "./dom.js";
import { write } from "./texts.js";
import { Wallets, ask, attempt, codeOf, rememberWallet, sameAddress, usable } from "./wallets.js";

const LOOK_FOR_MS = 1500;
const on = surfaces.wallet;
const found = byId("wallets-found");
const choice = byId("choose");
const heading = byId("choose-heading");
const pick = byId("accounts");

export class Side {
  #mine;
  #signedInAs;
  #chosen;
  #wallets = new Wallets({ list: byId("wallet-list"), added: () => this.#added(), chosen: (entry) => this.#connect(entry) });
  #looks = false;
  #which = "other";
  #entry = null;
  #accounts = [];

  /**
   * `mine` are the user's wallets, `signedInAs` is one of them as CAIP-10; `chosen(which, entry, account)` is
   * called with the choice.
   */
  constructor({ mine, signedInAs, chosen }) {
    this.#mine = mine;
    this.#signedInAs = mine.find(({ account }) => account === signedInAs);
    this.#chosen = chosen;
    pick.addEventListener("submit", (event) => this.#picked(event));
  }

  /** Asks for a wallet: a new one for `other`, one of the user's for `signer`. */
  ask(which) {
    this.#which = which;
    this.#entry = null;
    this.#wallets.choose(null);
    heading.replaceChildren(...write(`choose_${which}`));
    choice.hidden = false;
    pick.hidden = true;
    if (!this.#looks) this.#look();
  }

  /** Stops asking. */
  hide() {
    choice.hidden = true;
    pick.hidden = true;
  }

  /** Enables what can be clicked. */
  refresh() {
    this.#wallets.enable(!["verifying", "success", "rate-limited"].includes(now()));
  }

  /**
   * Lets a wallet sign. Resolves to undefined if it did not, and the page says why. Called directly from a
   * click.
   */
  async sign(entry, account, text, { host, again, retry, button }) {
    const mine = newTurn();
    const cancel = () => {
      newTurn();
      show(on, "confirm", { key: "sign_cancelled", focus: button });
    };
    if (entry.asking && !again) {
      show(on, "pending", { values: { wallet: entry.name }, retry, cancel });
      return undefined;
    }
    try {
      const asked = ask(entry, (wallet) => wallet.sign(text, account));
      show(on, "signing", { values: { host: element("strong", host) }, busy: true, cancel });
      const signature = await asked;
      if (!mine()) return undefined;
      if (typeof signature === "string") return signature;
      this.#problem(entry, null, { rejected: "sign-rejected", retry, cancel, focus: button });
    } catch (error) {
      if (mine()) this.#problem(entry, error, { rejected: "sign-rejected", retry, cancel, focus: button });
    }
    return undefined;
  }

  #look() {
    this.#looks = true;
    const { walletModules = "" } = document.querySelector("main").dataset;
    this.#wallets.find(walletModules.split(" ").filter(Boolean));
    setTimeout(() => {
      if (this.#wallets.entries.length === 0) found.replaceChildren(...write("no_wallet"));
    }, LOOK_FOR_MS);
  }

  #added() {
    found.className = "unseen";
    found.replaceChildren(...write("wallets_found", { count: String(this.#wallets.entries.length) }));
    this.refresh();
  }

  async #connect(entry, { again = false } = {}) {
    const mine = newTurn();
    const retry = () => this.#connect(entry, { again: true });
    this.#entry = entry;
    this.#wallets.choose(entry);
    this.#listen(entry);
    pick.hidden = true;
    const cancel = () => {
      newTurn();
      show(on, "choosing", { key: "connect_cancelled", focus: entry.button });
    };
    if (entry.asking && !again) return show(on, "pending", { values: { wallet: entry.name }, retry, cancel });
    try {
      const asked = ask(entry, (wallet) => wallet.connect());
      show(on, "connecting", { values: { wallet: entry.name }, busy: true, cancel });
      const accounts = usable(await asked);
      if (!mine()) return;
      if (accounts.length > 0) rememberWallet(entry);
      this.#connected(entry, accounts);
    } catch (error) {
      if (mine()) this.#problem(entry, error, { rejected: "connect-rejected", retry, cancel, focus: entry.button });
    }
  }

  // An account that does not fit can often be changed in the wallet, and the page follows.
  #listen(entry) {
    if (entry.heard) return;
    entry.heard = true;
    attempt(() =>
      entry.wallet.onAccounts?.((accounts) => {
        const waits = ["wrong-account", "already-linked", "locked", "pick-account"].includes(now());
        if (waits && entry === this.#entry && !choice.hidden) this.#connected(entry, usable(accounts));
      }),
    );
  }

  #connected(entry, accounts) {
    const values = { wallet: entry.name, count: String(accounts.length) };
    const retry = () => this.#again(entry);
    if (accounts.length === 0) return show(on, "locked", { values, retry, focus: on.retry });
    const isMine = (account) => this.#mine.some((each) => sameAddress(each, account));
    const fitting = accounts.filter((account) => isMine(account) === (this.#which === "signer"));
    if (fitting.length === 0) {
      const id = this.#which === "signer" ? "wrong-account" : "already-linked";
      return show(on, id, { values: { ...values, account: accounts[0].address }, retry, focus: on.retry });
    }
    if (this.#which === "other" && fitting.length > 1) return this.#offer(entry, fitting);
    const account = fitting.find((each) => sameAddress(each, this.#signedInAs)) ?? fitting[0];
    return this.#chosen(this.#which, entry, account);
  }

  // If possible, asks the wallet for other accounts, because otherwise it returns the same ones again.
  #again(entry) {
    if (!entry.wallet.changeAccount) return this.#connect(entry, { again: true });
    const mine = newTurn();
    const asked = ask(entry, (wallet) => wallet.changeAccount());
    show(on, "connecting", { key: "connecting_other", values: { wallet: entry.name }, busy: true });
    return asked.then(
      (accounts) => mine() && (accounts ? this.#connected(entry, usable(accounts)) : this.#connect(entry, { again: true })),
      () => mine() && this.#connect(entry, { again: true }),
    );
  }

  #offer(entry, accounts) {
    newTurn();
    this.#accounts = accounts;
    const choices = accounts.map(({ address }, place) => {
      const input = element("input");
      Object.assign(input, { type: "radio", name: "account", value: String(place), checked: place === 0 });
      const text = element("span");
      showAddress(text, address);
      return element("label", [input, text], "choice-of-account");
    });
    byId("account-choices").replaceChildren(...choices);
    pick.hidden = false;
    const values = { wallet: entry.name, count: String(accounts.length) };
    show(on, "pick-account", { values, focus: choices[0].querySelector("input") });
  }

  #picked(event) {
    event.preventDefault();
    const account = this.#accounts[Number(new FormData(pick).get("account"))];
    if (account && now() === "pick-account") this.#chosen(this.#which, this.#entry, account);
  }

  #problem(entry, error, { rejected, retry, cancel, focus }) {
    const values = { wallet: entry.name };
    switch (codeOf(error)) {
      case 4001:
        return show(on, rejected, { focus });
      case -32002:
        return show(on, "pending", { values, retry, cancel });
      case 4100:
        return show(on, "locked", { values, retry, focus: on.retry });
      case 4200:
      case -32601:
        return show(on, "unsupported", { alert: true, focus: byId("by-hand-instead") });
      default:
        return show(on, "wallet-error", { values, alert: true, retry });
    }
  }
}
