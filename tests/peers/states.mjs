// Every state of the sign-in page, one after the other: what it says, where the focus is, that it fits 320,
// 768 and 1280 points, light and dark, and that axe-core finds nothing wrong in any of them.
// node states.mjs http://localhost:8080 [state …]          Screenshots go to target/screenshots/states.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { Wallet } from "ethers";
import { BASE, check } from "./client.mjs";
import { SLOW, TestWallet, arrive, arrivedAs, clientOrigin, clientPage, close, confirmed, inState, person, picturesIn, severalAtOnce } from "./people.mjs";

const picture = picturesIn("target/screenshots/states");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const wanted = process.argv.slice(3);

const WIDTHS = [320, 768, 1280];
const REJECTED = { code: 4001, message: "User rejected the request." };
const HOST = new URL(BASE).host;
const SAFE_SIGNATURE = (signature) => `0x${signature.slice(2).repeat(2)}`; // As long as the signature of a Safe with two owners.

// --- checking one state ------------------------------------------------------------------------------------

/**
 * Checks the page as it is now, at every width and in both color schemes. `text` must be where the page shows
 * messages.
 */
async function judge(page, name, { text, focus, alert = false, title } = {}) {
  if (text) await page.locator("main", { hasText: text }).waitFor(SLOW);
  if (focus) assert.ok(await page.locator(focus).evaluate((element) => element === document.activeElement), `the focus is on ${focus}`);
  assert.equal(await page.locator('main [role="alert"]:not(:empty)').count(), alert ? 1 : 0, "errors, and only they, are alerts");
  if (title) assert.match(await page.title(), title);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await picture(page, `${name}-${width}-${colorScheme}`);
      const content = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(content <= width, `${content} points in ${width}`);
      assert.deepEqual(await violationsOf(page), [], `${name}, ${width}, ${colorScheme}`);
    }
  }
}

/** The violations that axe-core finds, with the elements that they are about. */
async function violationsOf(page) {
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { preload: false, resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
  });
}

const states = [];

/** A check of one state, in a new browser. */
function state(name, settings, body) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const judged = async () => {
    const context = await person({ viewport: { width: 1280, height: 900 }, eip6963: true, ...settings });
    await context.addInitScript({ path: axe });
    try {
      await body(context, settings.wallet);
    } finally {
      await context.close();
    }
  };
  states.push(() => check(`${name}: ${settings.claim}`, judged));
}

/** The user has arrived, and the page has found the wallet. */
async function arriveReady(context, options) {
  const visit = await arrive(context, options);
  await inState(visit.page, "ready");
  return visit;
}

const chooseWallet = (page, place = 0) => page.locator("#wallet-list button").nth(place).click();

/** The text to sign is shown. */
async function arriveConfirmed(context, options) {
  const visit = await arriveReady(context, options);
  await chooseWallet(visit.page);
  await confirmed(visit.page);
  return visit;
}

/** What this browser gets from the server at a path; `null` is no response at all. */
async function answering(context, path, answer, { times } = {}) {
  const hears = (route) => (answer === null ? undefined : answer === "offline" ? route.abort() : route.fulfill(answer));
  await context.route(new RegExp(`${path}$`), hears, times ? { times } : {});
}

const refusal = (status, error, description, headers = {}) => ({ status, headers, json: { error, error_description: description } });

// --- before anything is chosen -----------------------------------------------------------------------------

state("boot", { claim: "before the scripts are loaded, or without one of them, the page is complete" }, async (context) => {
  await context.route(/\/assets\/auth\.[^/]*\.js$/, (route) => route.abort());
  const { page } = await arrive(context);
  assert.ok(await page.locator("#address").isVisible(), "signing by hand is possible");
  await judge(page, "boot", { text: "wants you to sign in with your wallet" });
});

state("no-js", { claim: "without JavaScript, signing by hand is possible", javaScriptEnabled: false }, async (context) => {
  const { page } = await arrive(context);
  assert.ok(await page.locator("#no-js").isVisible());
  assert.ok(await page.locator("#address").isVisible());
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await picture(page, `no-js-${width}`);
  }
});

state("ready", { claim: "the wallets are listed, and nothing has taken the focus", wallet: new TestWallet() }, async (context) => {
  const { page } = await arriveReady(context);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  await judge(page, "ready", { title: new RegExp(`^Sign in to Photo Album - ${HOST}$`) });
});

state("no-wallet", { claim: "the list keeps listening", eip6963: false }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  await judge(page, "no-wallet", { text: "No wallet found in this browser yet." });
  await page.evaluate(() => {
    const provider = { request: async () => [] };
    const info = { uuid: crypto.randomUUID(), name: "Late Wallet", icon: "data:,", rdns: "example.late" };
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }));
  });
  await inState(page, "ready");
});

// --- connecting --------------------------------------------------------------------------------------------

/** The wallet's response to a connection request, and what the page shows. */
const CONNECTING = [
  ["connecting", { holds: ["eth_requestAccounts"] }, { text: "Approve the connection in Test Wallet.", title: /^Waiting for your wallet - Sign in/ }],
  ["pending", { error: { code: -32002, message: "busy" } }, { text: "Test Wallet already has a request waiting. Open Test Wallet and answer it." }],
  ["locked", { error: { code: 4100, message: "locked" } }, { text: "Unlock Test Wallet and choose an account, then try again.", focus: '#wallet-messages [data-part="retry"]' }],
  ["connect-rejected", { error: REJECTED }, { text: "You closed the request. Nothing was shared.", focus: "#wallet-list button" }],
  ["wallet-error", { error: { code: -32603, message: "broken" } }, { text: "Test Wallet reported an error and nothing was signed.", alert: true, title: /^Error: / }],
];
for (const [name, { holds = [], error }, expected] of CONNECTING) {
  state(name, { claim: expected.text, wallet: new TestWallet() }, async (context, wallet) => {
    wallet.holds = holds;
    wallet.refusals = error ? [{ method: "eth_requestAccounts", error }] : [];
    const { page } = await arriveReady(context);
    await chooseWallet(page);
    await inState(page, name);
    await judge(page, name, expected);
  });
}

state("pick-account", { claim: "several accounts are shown in full, and can be chosen with the keyboard", wallet: new TestWallet({ accounts: 3 }) }, async (context, wallet) => {
  const visit = await arriveReady(context);
  const { page } = visit;
  await chooseWallet(page);
  await inState(page, "pick-account");
  const addresses = wallet.keys.map((key) => key.address.toLowerCase());
  assert.deepEqual(await page.locator("#accounts label").allTextContents(), addresses);
  assert.ok(await page.getByRole("radio").first().isChecked());
  await judge(page, "pick-account", { text: "Test Wallet shares 3 accounts.", focus: '#accounts [value="0"]' });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await inState(page, "confirm");
  assert.equal(await page.locator("#account").textContent(), wallet.keys[1].address);
  await page.keyboard.press("Enter");
  await arrivedAs(visit, wallet.keys[1].address);
});

// --- the text, and the signature ---------------------------------------------------------------------------

state("preparing", { claim: "the button shows that it is busy", wallet: new TestWallet() }, async (context) => {
  await answering(context, "/oauth/challenge", null);
  const { page } = await arriveReady(context);
  await chooseWallet(page);
  await inState(page, "preparing");
  assert.equal(await page.locator("#sign").getAttribute("aria-busy"), "true");
  assert.equal(await page.locator("#sign").getAttribute("aria-disabled"), "true");
  await judge(page, "preparing", { text: "Preparing the text to sign…" });
});

state("confirm", { claim: "the text and the account are shown, read in groups, and the focus is on Sign", wallet: new TestWallet() }, async (context, wallet) => {
  const { page } = await arriveConfirmed(context);
  assert.equal(await page.locator("#account").textContent(), wallet.key.address);
  assert.equal(await page.getByRole("img", { name: wallet.key.address.match(/^0x|.{1,4}/g).join(" ") }).count(), 1);
  assert.match(await page.locator("#valid").textContent(), /^Valid for [45]:\d\d; a new text follows by itself\.$/);
  assert.equal(await page.locator("#sign").getAttribute("aria-busy"), "false");
  await judge(page, "confirm", { text: `${HOST} wants you to sign in with your Ethereum account:`, focus: "#sign", title: /^Check and sign - Sign in/ });
});

/** The wallet's response to a signing request. */
const SIGNING = [
  ["signing", { holds: ["personal_sign"] }, { text: `Check your wallet: the request must come from ${HOST}.` }],
  ["sign-rejected", { error: REJECTED }, { text: "You did not sign. You are not signed in. Try again or deny the request.", focus: "#sign" }],
  ["unsupported", { error: { code: 4200, message: "no" } }, { text: "This wallet cannot sign messages. Use another wallet or copy and paste.", focus: "#manual > summary", alert: true }],
];
for (const [name, { holds = [], error }, expected] of SIGNING) {
  state(name, { claim: expected.text, wallet: new TestWallet() }, async (context, wallet) => {
    wallet.holds = holds;
    wallet.refusals = error ? [{ method: "personal_sign", error }] : [];
    const { page } = await arriveConfirmed(context);
    await page.locator("#sign").click();
    await inState(page, name);
    await judge(page, name, expected);
  });
}

state("account-changed", { claim: "another account in the wallet means another text", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  const other = Wallet.createRandom();
  wallet.keys = [other];
  await page.evaluate((address) => window.dispatchEvent(new CustomEvent("judge:accounts", { detail: [address] })), other.address);
  await inState(page, "account-changed");
  await judge(page, "account-changed", { text: `You switched accounts. We prepared a new text for ${other.address}.` });
  await page.locator("#sign").click();
  await arrivedAs(visit, other.address);
});

state("verifying", { claim: "the server verifies the signature", wallet: new TestWallet() }, async (context) => {
  await answering(context, "/oauth/login", null);
  const { page } = await arriveConfirmed(context);
  await page.locator("#sign").click();
  await inState(page, "verifying");
  await judge(page, "verifying", { text: "Verifying your signature…" });
});

const ETHEREUM = { contractChains: JSON.stringify([{ chain: "eip155:1", name: "Ethereum" }, { chain: "eip155:10", name: "Optimism" }]) };

state("verifying-chain", { claim: "a verification that takes long asks a chain", wallet: new TestWallet(), told: ETHEREUM }, async (context) => {
  await answering(context, "/oauth/login", null);
  const { page } = await arriveConfirmed(context);
  await page.locator("#sign").click();
  await judge(page, "verifying-chain", { text: "Asking chain Ethereum…" });
});

// --- what the server refuses -------------------------------------------------------------------------------

const BAD_SIGNATURE =
  "Failed to verify signature. The signature does not match this address and text. Check the account and sign the exact text, no extra spaces.";
const REFERENCE = /Reference: [0-9a-f]{32}/; // The request's id, which finds it in the log.
const CHANGED = (signature) => signature.replace(/..$/, (v) => (v === "1b" ? "1c" : "1b"));

state("bad-signature", { claim: "after a wrong signature, the wallet can sign again", wallet: new TestWallet({ alter: CHANGED }) }, async (context, wallet) => {
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await page.locator("#sign").click();
  await inState(page, "bad-signature");
  await page.locator("main", { hasText: REFERENCE }).waitFor(SLOW);
  await judge(page, "bad-signature", { text: BAD_SIGNATURE, alert: true, focus: "#sign", title: /^Error: / });
  wallet.alter = (signature) => signature;
  await page.keyboard.press("Enter");
  await arrivedAs(visit, wallet.key.address);
});

state("bad-signature-by-hand", { claim: "the field is marked, and its error is associated with it", eip6963: false }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  await page.locator("#manual > summary").click();
  await page.locator("#address").fill(Wallet.createRandom().address);
  await page.locator("#get-text").click();
  await inState(page, "confirm");
  await judge(page, "by-hand", { text: "The text is ready. Sign it and paste the signature.", focus: "#manual-heading" });
  await page.locator("#signature").fill(`0x${"11".repeat(65)}`);
  await page.locator("#verify").click();
  await inState(page, "bad-signature");
  assert.equal(await page.locator("#signature").getAttribute("aria-invalid"), "true");
  assert.match(await page.locator("#signature").getAttribute("aria-describedby"), /manual-alert/);
  await judge(page, "bad-signature-by-hand", { text: BAD_SIGNATURE, alert: true, focus: "#signature" });
});

/** Contract wallets that the server refuses: what the chain has at the address, and what the server says. */
const CONTRACTS = [
  ["wrong-chain", { chainId: "0x2105", code: "0x6001" }, "This looks like a smart-contract wallet on Base (8453). This server can check: Ethereum, Optimism. Switch network in the wallet or use another account."],
  ["undeployed", { code: "0x" }, "This contract wallet is not active yet on Ethereum."],
  ["chain-down", { code: "0x6001", down: true }, "We could not reach the network to check your wallet. Nothing is wrong with your signature. Try again."],
];
for (const [name, { chainId = "0x1", code, down = false }, text] of CONTRACTS) {
  state(name, { claim: text, wallet: new TestWallet({ alter: SAFE_SIGNATURE }), told: ETHEREUM }, async (context, wallet) => {
    Object.assign(wallet, { chainId, code });
    if (down) await answering(context, "/oauth/login", refusal(503, "temporarily_unavailable", "the chain does not answer"));
    const { page } = await arriveConfirmed(context);
    await page.locator("#sign").click();
    await inState(page, name);
    await judge(page, name, { text, alert: true });
    assert.equal(await page.locator('#wallet-messages [data-part="retry"]').isVisible(), down, "sending the same signature again only helps if a chain was down");
  });
}

state("expired", { claim: "an expired text is replaced, and the new one works", wallet: new TestWallet() }, async (context, wallet) => {
  await answering(context, "/oauth/login", refusal(401, "access_denied", "Challenge is not valid or has expired"), { times: 1 });
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await page.locator("#sign").click();
  await inState(page, "expired");
  await judge(page, "expired", { text: "This text is too old. We made a new one.", focus: "#sign" });
  await page.keyboard.press("Enter");
  await arrivedAs(visit, wallet.key.address);
});

state("session-gone", { claim: "without its cookie the page says so, and does not redirect", wallet: new TestWallet(), told: { clientUri: clientOrigin } }, async (context) => {
  const { page } = await arriveConfirmed(context);
  await context.clearCookies();
  await page.locator("#sign").click();
  await inState(page, "session-gone");
  await judge(page, "session-gone", { text: "Missing or expired OAuth session.", alert: true });
  assert.equal(await page.locator("#page-link").textContent(), "Back to Photo Album");
  assert.ok(await page.locator("#sign").isHidden());
});

state("other-tab", { claim: "the other tabs of a request are told that it was answered", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveConfirmed(context);
  const second = await context.newPage();
  await second.goto(visit.page.url());
  await inState(second, "ready");
  await visit.page.bringToFront();
  await visit.page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await inState(second, "other-tab");
  await judge(second, "other-tab", { text: "You finished signing in in another tab.", focus: "#page-messages h1", title: /^Finished - / });
  await second.getByText("You can close this one.").waitFor(SLOW);
});

/** What can go wrong on the way to the server. */
const ON_THE_WAY = [
  ["rate-limited", refusal(429, "temporarily_unavailable", "too many requests", { "Retry-After": "120" }), /Too many attempts\. Try again in 1[12]\d s\./],
  ["offline", "offline", "You are offline or the server is not answering."],
  ["server-error", refusal(500, "server_error", "something went wrong on our side", { "X-Request-Id": "01JREFERENCE" }), "Something broke on our side. Reference: 01JREFERENCE"],
];
for (const [name, answer, text] of ON_THE_WAY) {
  state(name, { claim: String(text), wallet: new TestWallet() }, async (context, wallet) => {
    const visit = await arriveConfirmed(context);
    const { page } = visit;
    await answering(context, "/oauth/login", answer);
    await page.locator("#sign").click();
    await inState(page, name);
    await judge(page, name, { text, alert: true });
    if (name !== "offline") return;
    await context.unroute(/\/oauth\/login$/);
    await page.locator('#wallet-messages [data-part="retry"]').click();
    await arrivedAs(visit, wallet.key.address);
  });
}

state("now-again", { claim: "after the wait the user can try again", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await answering(context, "/oauth/login", refusal(429, "temporarily_unavailable", "too many requests", { "Retry-After": "2" }), { times: 1 });
  await page.locator("#sign").click();
  await inState(page, "rate-limited");
  await page.locator("main", { hasText: "You can try again now." }).waitFor(SLOW);
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
});

// --- the page itself is wrong ------------------------------------------------------------------------------

state("insecure", { claim: "without HTTPS nothing can be signed", wallet: new TestWallet() }, async (context) => {
  await context.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
  const { page } = await arrive(context);
  await inState(page, "insecure");
  await judge(page, "insecure", { text: "This page is not served over HTTPS.", alert: true, title: /^Error: / });
  assert.equal(await page.locator("main button:visible").count(), 0);
});

state("wrong-host", { claim: "under another name nothing can be signed", wallet: new TestWallet(), told: { host: "auth.example.org" } }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "wrong-host");
  await judge(page, "wrong-host", { text: `You opened this page as ${HOST} but it belongs to auth.example.org.`, alert: true });
  assert.equal(await page.locator("#page-link").textContent(), "Go to auth.example.org");
});

// --- leaving -----------------------------------------------------------------------------------------------

for (const [name, press, text] of [["success", "#sign", `Taking you to`], ["denied", "#check .deny", "Taking you back to"]]) {
  state(name, { claim: `${text} the client, with a link for browsers that ask first`, wallet: new TestWallet() }, async (context) => {
    const { page } = await arriveConfirmed(context);
    await context.route(`${clientPage}**`, (route) => route.fulfill({ status: 204 })); // "No content", and the page stays.
    await page.locator(press).click();
    await inState(page, name);
    await page.locator("#page-link").waitFor(SLOW);
    assert.ok((await page.locator("#page-link").getAttribute("href")).startsWith(clientPage));
    await judge(page, name, { text });
  });
}

// --- remembered users --------------------------------------------------------------------------------------

/** Signs in, and stays signed in as the page offers. */
async function signIn(context, wallet, options) {
  const visit = await arriveConfirmed(context, options);
  assert.ok(await visit.page.locator("#remember").isChecked(), "being remembered is offered, and can be declined");
  await visit.page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await visit.page.close();
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "" : "-no-js";
  state(`remembered${how}`, { claim: "one click, and no wallet", wallet: new TestWallet() }, async (context, wallet) => {
    await signIn(context, wallet);
    const cookies = await context.cookies();
    const again = javaScriptEnabled ? context : await person({ javaScriptEnabled });
    if (!javaScriptEnabled) await again.addCookies(cookies);
    const visit = await arrive(again);
    const { page } = visit;
    await inState(page, "remembered");
    const [, start, end] = /^(0x.{4}).*(.{4})$/.exec(wallet.key.address);
    const text = new RegExp(`Continue as ${start}…${end} to `);
    if (javaScriptEnabled) {
      await judge(page, "remembered", { text });
      await page.locator("#another").click();
      await inState(page, "ready", "no-wallet");
      await page.locator("#not-another").click();
      await inState(page, "remembered");
    } else {
      await picture(page, "remembered-no-js");
    }
    const calls = wallet.calls.length;
    await page.locator("#continue").click();
    await arrivedAs(visit, wallet.key.address);
    assert.equal(wallet.calls.length, calls, "the wallet got no request");
    if (!javaScriptEnabled) await again.close();
  });
}

state("step-up", { claim: "what is new is marked and must be signed", wallet: new TestWallet() }, async (context, wallet) => {
  await signIn(context, wallet, { scope: "profile" });
  const visit = await arrive(context, { scope: "profile email" });
  const { page } = visit;
  await inState(page, "step-up");
  assert.deepEqual(await page.locator(".scopes li:visible code").allTextContents(), ["email"]);
  await page.locator("#wallet-list button").waitFor(SLOW);
  await judge(page, "step-up", { text: "asks for more than you allowed before." });
  await chooseWallet(page);
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
});

state("email", { claim: "an invalid address is reported before the wallet is asked, and the address is optional", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveConfirmed(context, { scope: "profile email" });
  const { page } = visit;
  await page.locator("#email").fill("nobody");
  await page.locator("#sign").click();
  await inState(page, "refused");
  assert.equal(await page.locator("#email").getAttribute("aria-invalid"), "true");
  assert.ok(!wallet.calls.includes("personal_sign"));
  await judge(page, "email", { text: "This is not a complete e-mail address", alert: true, focus: "#email" });
  await page.locator("#email").fill("");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
});

state("account", { claim: "the account page's own sign-in asks for no consent", wallet: new TestWallet() }, async (context) => {
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  assert.equal(new URL(page.url()).pathname, "/auth");
  await inState(page, "ready");
  assert.equal(await page.locator("#receives, #deny").count(), 0);
  await chooseWallet(page);
  await inState(page, "confirm");
  await judge(page, "account", { text: "Sign in to your account with your wallet", focus: "#sign" });
  await page.locator("#sign").click();
  await page.waitForURL(`${BASE}/account`, SLOW);
});

// --- whole sign-ins ----------------------------------------------------------------------------------------

state("keyboard", { claim: "a sign-in takes at most 12 key presses", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveReady(context);
  const { page } = visit;
  let presses = 0;
  const press = async (key) => {
    presses += 1;
    await page.keyboard.press(key);
  };
  const focused = () => page.evaluate(() => document.activeElement.closest("#wallet-list") !== null);
  const passed = [];
  while (!(await focused())) {
    await press("Tab");
    passed.push(await page.evaluate(() => document.activeElement.outerHTML.slice(0, 80)));
    assert.ok(presses < 12, `the wallet is not reached: ${passed.join("\n")}`);
  }
  await press("Enter");
  await inState(page, "confirm");
  await press("Enter");
  await arrivedAs(visit, wallet.key.address);
  assert.ok(presses <= 12, `${presses} presses`);
  console.log(`        ${presses} presses`);
});

state("two-wallets", { claim: "the second wallet returns a code, and is listed first the next time", wallets: [new TestWallet({ name: "First Wallet" }), new TestWallet({ name: "Second Wallet" })] }, async (context) => {
  const visit = await arriveReady(context);
  const { page } = visit;
  await page.locator("#wallet-list button").nth(1).waitFor(SLOW);
  await judge(page, "two-wallets");
  await page.locator("#wallet-list button", { hasText: "Second Wallet" }).click();
  await inState(page, "confirm");
  const address = await page.locator("#account").textContent();
  await page.locator("#remember").uncheck();
  await page.locator("#sign").click();
  await arrivedAs(visit, address);
  const { page: next } = await arriveReady(context);
  await next.locator("#wallet-list button").nth(1).waitFor(SLOW);
  assert.deepEqual(await next.locator("#wallet-list bdi").allTextContents(), ["Second Wallet", "First Wallet"]);
  assert.deepEqual(await next.evaluate(() => ({ ...localStorage })), { "countersign.last-wallet": "Ethereum example.second-wallet" });
});

state("reload-and-back", { claim: "neither a reload nor the browser's Back breaks the page", wallet: new TestWallet() }, async (context, wallet) => {
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await page.reload();
  await inState(page, "ready");
  await page.goto(clientOrigin);
  await page.goBack();
  await inState(page, "ready");
  await chooseWallet(page);
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await page.goBack();
  await page.getByText("Missing or expired OAuth session").first().waitFor(SLOW);
});

await severalAtOnce(states);
await close();
