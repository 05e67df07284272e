// Users with browsers, for the judges of the pages: Chromium, driven by playwright, a client application that
// the users come from, and a wallet that really signs and checks the page's origin as MetaMask does. close()
// checks that what must never happen in a browser did not happen.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Wallet, toUtf8String } from "ethers";
import { chromium } from "playwright-core";
import { BASE, authorizeUrl, check, codeOf, exchange, finish, register, userinfo } from "./client.mjs";
import { ICON } from "./wallets.mjs";

const { detectSIWE, isValidSIWEOrigin } = createRequire(import.meta.url)("@metamask/controller-utils");

export const project = fileURLToPath(new URL("../..", import.meta.url));

/** How long to wait for something that a slow computer does. */
export const SLOW = { timeout: 15_000 };

// --- the client application, which listens on a port of this computer --------------------------------------

const clientSite = createServer((incoming, response) => {
  const framed = new URL(incoming.url, "http://client").searchParams.get("frame");
  response.setHeader("content-type", "text/html");
  response.end(framed ? `<!doctype html><iframe id="inner" src="${framed.replaceAll("&", "&amp;")}"></iframe>` : "<!doctype html><h1>The client application</h1>");
});
await new Promise((done) => clientSite.listen(0, "127.0.0.1", done));
export const clientOrigin = `http://127.0.0.1:${clientSite.address().port}`;
export const clientPage = `${clientOrigin}/cb`;

// --- the browser, and what must never happen in it ---------------------------------------------------------

// Chromium takes only the last such list, so this one starts with what Playwright 1.61 disables in it. A quarter of a judge's
// processor time went into the rest: two pages of its own for the address bar of each window, which nobody sees, and a
// process that stands by for the next site.
const DISABLED_FEATURES = [
  "AvoidUnnecessaryBeforeUnloadCheckSync", "BoundaryEventDispatchTracksNodeRemoval", "DestroyProfileOnBrowserClose", "DialMediaRouteProvider", "GlobalMediaControls",
  "HttpsUpgrades", "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "Translate", "RenderDocument", "OptimizationHints",
  "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess",
];

const chromiumOfDebian = ["/usr/bin/chromium-headless-shell"].find(existsSync);
export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? chromiumOfDebian,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", `--disable-features=${DISABLED_FEATURES.join(",")}`],
});

const foreign = [];
const violations = [];
const dialogs = [];
const breakages = [];

/** What must not have happened in any of the browsers. */
const happened = [
  ["request to another host", foreign],
  ["violation of the Content-Security-Policy", violations],
  ["dialog", dialogs],
  ["error in a script", breakages],
];

/** The hosts that the browsers may connect to. A judge with more sites adds its own. */
export const allowedHosts = new Set([new URL(BASE).host, new URL(clientOrigin).host, "client.example"]);

const scriptless = new WeakSet();

/** Does the browser of this page run scripts? */
export const runsScripts = (page) => !scriptless.has(page.context());

/**
 * A user's browser, with its own context. `wallet` is announced in it in the given ways; `wallets` are
 * several. `others` are wallets of other families. `modules` are scripts, by name, of wallet families that
 * the server does not have. `told` are data attributes of <main> that replace the server's. A `phone` is
 * touched, and has no pointer.
 */
export async function person({
  javaScriptEnabled = true, wallet, wallets = wallet ? [wallet] : [], eip6963 = false, legacy = false, others = [], modules = {}, told = {},
  colorScheme = "light", viewport = { width: 1100, height: 900 }, phone = false, ignoreHTTPSErrors = false,
} = {}) {
  const context = await browser.newContext({ javaScriptEnabled, colorScheme, viewport, ignoreHTTPSErrors, isMobile: phone, hasTouch: phone });
  if (!javaScriptEnabled) scriptless.add(context);
  context.setDefaultTimeout(SLOW.timeout);
  context.on("request", (made) => {
    const url = new URL(made.url());
    if (/^https?:$/.test(url.protocol) && !allowedHosts.has(url.host)) foreign.push(made.url());
  });
  context.on("console", (message) => {
    if (/content security policy|csp-violation/i.test(message.text())) violations.push(message.text());
  });
  context.on("weberror", (error) => breakages.push(String(error.error())));
  context.on("dialog", async (dialog) => {
    dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  context.on("page", answerAsTheClient);
  if (javaScriptEnabled) {
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`csp-violation: ${event.effectiveDirective} ${event.blockedURI}`));
    });
  }
  for (const [index, each] of wallets.entries()) {
    const answers = `walletAnswers${index}`;
    await context.exposeBinding(answers, ({ page }, method, params) => each.answer(page, method, params));
    await context.addInitScript(announce, { answers, info: { uuid: randomUUID(), name: each.name, rdns: each.rdns, icon: ICON }, eip6963, legacy });
  }
  if (others.length > 0) {
    for (const [index, other] of others.entries()) {
      const answers = `familyWallet${index}`;
      await context.exposeFunction(answers, (method, params) => other.answer(method, params));
      await context.addInitScript(other.announce, { ...other.settings, answers });
    }
  }
  await tell(context, told, modules);
  return context;
}

/**
 * A client on the web is answered from here, so that nothing leaves this computer. A route of Playwright would stop every
 * request and turn off the cache, which took a third of a page's time.
 */
async function answerAsTheClient(page) {
  try {
    const session = await page.context().newCDPSession(page);
    const answer = { responseCode: 200, responseHeaders: [{ name: "content-type", value: "text/html" }], body: btoa("<!doctype html><h1>The client application</h1>") };
    session.on("Fetch.requestPaused", ({ requestId }) => session.send("Fetch.fulfillRequest", { requestId, ...answer }).catch(() => {}));
    await session.send("Fetch.enable", { patterns: [{ urlPattern: "https://client.example/*" }] });
  } catch (error) {
    // The page is being closed, which can be heard of a moment later.
    if (!page.isClosed()) await page.waitForEvent("close", SLOW).catch(() => { throw error; });
  }
}

/** Makes the page read different data from what the server wrote, and load more scripts. */
async function tell(context, told, modules) {
  const names = Object.keys(modules);
  if (names.length + Object.keys(told).length === 0) return;
  const paths = names.map((name) => `${new URL(BASE).pathname.replace(/\/$/, "")}/assets/wallet-${name}.judge.js`);
  await context.route(/\/assets\/wallet-([a-z]+)\.judge\.js$/, (route) => {
    const source = modules[/wallet-([a-z]+)\.judge/.exec(route.request().url())[1]];
    return source === null ? route.abort() : route.fulfill({ contentType: "text/javascript", body: source });
  });
  await context.addInitScript(
    ({ added, data }) => {
      new MutationObserver((_, observer) => {
        const main = document.querySelector("main[data-wallet-modules]");
        if (!main) return;
        observer.disconnect();
        Object.assign(main.dataset, data);
        main.dataset.walletModules = [...added, main.dataset.walletModules].join(" ");
      }).observe(document, { childList: true, subtree: true });
    },
    { added: paths, data: told },
  );
}

/** Runs in the page before its own scripts, as an extension's content script does. */
function announce({ answers, info, eip6963, legacy }) {
  const provider = {
    listeners: {},
    on(name, listener) {
      (this.listeners[name] ??= []).push(listener);
    },
    async request({ method, params }) {
      const { result, error } = await window[answers](method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
  };
  window.addEventListener("judge:accounts", ({ detail }) => provider.listeners.accountsChanged?.forEach((listener) => listener(detail)));
  if (legacy) window.ethereum = provider;
  if (eip6963) {
    const detail = Object.freeze({ info: Object.freeze(info), provider });
    const tell = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    window.addEventListener("eip6963:requestProvider", tell);
    tell();
  }
}

/**
 * A wallet that signs with a real key. It refuses a sign-in for another page, as ERC-4361 requires of wallets
 * (B-014).
 */
export class TestWallet {
  calls = [];
  refusals = [];
  holds = []; // Methods that get no response, as if the user did not look at the wallet.
  chainId = "0x1";
  code = "0x";

  constructor({ name = "Test Wallet", accounts = 1, alter = (signature) => signature } = {}) {
    this.name = name;
    this.rdns = `example.${name.toLowerCase().replaceAll(" ", "-")}`;
    this.keys = Array.from({ length: accounts }, () => Wallet.createRandom());
    [this.key] = this.keys;
    this.alter = alter;
  }

  async answer(page, method, params) {
    this.calls.push(method);
    const refusal = this.refusals[0]?.method === method ? this.refusals.shift() : undefined;
    if (refusal) return { error: refusal.error };
    if (this.holds.includes(method)) return new Promise(() => {});
    if (method === "eth_requestAccounts" || method === "eth_accounts") return { result: this.keys.map((key) => key.address.toLowerCase()) };
    if (method === "eth_getCode") return { result: this.code };
    if (method === "eth_chainId") return { result: this.chainId };
    if (method !== "personal_sign") return { error: { code: 4200, message: `no ${method} here` } };
    const [data, account] = params;
    const siwe = detectSIWE({ data });
    if (!siwe.isSIWEMessage) return { error: { code: -32602, message: "not a sign-in text" } };
    if (!isValidSIWEOrigin({ origin: new URL(page.url()).origin, siwe })) return { error: { code: 4001, message: "the text is for another site" } };
    if (siwe.parsedMessage.address.toLowerCase() !== account.toLowerCase()) return { error: { code: 4001, message: "the text is for another account" } };
    const key = this.keys.find((each) => each.address.toLowerCase() === account.toLowerCase());
    return { result: this.alter(await key.signMessage(toUtf8String(data))) };
  }
}

// --- steps -------------------------------------------------------------------------------------------------

export const loopback = await register({ client_name: "Photo Album", redirect_uris: ["http://127.0.0.1/cb"], scopes: ["profile", "email"] });
export const onTheWeb = await register({ client_name: "Photo Album", redirect_uris: ["https://client.example/cb?kept=yes"] });
export const onDevice = await register({ client_name: "Photo Album", redirect_uris: ["com.example.photos:/cb"] });

let states = 0;

/** The client sends the user to the server, and the page is shown. */
export async function arrive(context, { client = loopback, redirectUri = clientPage, scope = "profile email" } = {}) {
  states += 1;
  const fields = { client_id: client.client_id, redirect_uri: redirectUri, state: `state ${states} & more` };
  const page = await context.newPage();
  await page.goto(authorizeUrl(client, { redirectUri, scope, state: fields.state }).href);
  assert.equal(new URL(page.url()).pathname, "/auth");
  return { page, client, fields };
}

export const inState = (page, ...ids) => page.locator(ids.map((id) => `main[data-state="${id}"]`).join(", ")).waitFor(SLOW);

/**
 * Enters an address by hand, and returns the text to sign. Without scripts it comes with the next page, which a click does not wait
 * for: the page before has an empty text.
 */
export async function textByHand(page, address) {
  await page.locator("#address").fill(address);
  await page.locator("#get-text").click();
  const text = page.locator("#manual-text").filter({ hasText: "wants you to sign in" });
  await text.waitFor(SLOW);
  return text.textContent();
}

/**
 * The user has chosen a wallet (and, if it shares several accounts, the first one), and the text is shown.
 */
export async function confirmed(page) {
  await inState(page, "confirm", "pick-account");
  if (await page.locator("#accounts").isVisible()) await page.keyboard.press("Enter");
  await inState(page, "confirm");
}

/** The user has arrived at the client's page with a code, and the client finds out who it is. */
export async function arrivedAs(visit, address) {
  await visit.page.waitForURL((url) => url.href.startsWith(visit.fields.redirect_uri), SLOW);
  const code = codeOf(visit.page.url(), visit);
  const user = await userinfo(await exchange(visit, code));
  assert.equal(user.address, address);
}

/** Calls each function of a list; while one waits, others run. */
export async function severalAtOnce(judges) {
  const next = async () => {
    for (let judge = judges.shift(); judge; judge = judges.shift()) await judge();
  };
  await Promise.all(Array.from({ length: 4 }, next));
}

/**
 * Takes full-page screenshots into a folder of the project if PICTURES=1 is set. They are for people, and take longer than
 * axe-core does. Either way all transitions have ended afterwards, so that no color is checked while it changes.
 */
export function picturesIn(folder) {
  if (process.env.PICTURES !== "1") {
    // A page that a form led to can be in its state before its stylesheet is there.
    return async (page) => {
      await page.waitForLoadState();
      await page.evaluate(endTransitions);
    };
  }
  mkdirSync(`${project}${folder}`, { recursive: true });
  return (page, name) => page.screenshot({ path: `${project}${folder}/${name}.png`, fullPage: true, animations: "disabled" });
}

/** Runs in the page. An endless animation goes back to its start. */
function endTransitions() {
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
    else animation.cancel();
  }
}

/** Checks what happened in all browsers, prints the counts and exits. */
export async function close() {
  for (const [what, seen] of happened) await check(`in all browsers: no ${what}`, () => assert.deepEqual(seen, []));
  await browser.close();
  clientSite.close();
  finish();
}
