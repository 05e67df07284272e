// Every state of the sign-in page, one after the other: what it says, where the focus is, that it fits 320,
// 390, 768 and 1280 points, light and dark, and that axe-core finds nothing wrong in any of them.
// node states.mjs http://localhost:8080 [state …]          Screenshots go to target/screenshots/states.

import assert from "node:assert/strict";
import { Wallet } from "ethers";
import { judgeLooks, violationsOf } from "./axe.mjs";
import { BASE, check, register } from "./client.mjs";
import { SLOW, TestWallet, arrive, arrivedAs, clientOrigin, clientPage, close, confirmed, inState, person, picturesIn, severalAtOnce } from "./people.mjs";

const picture = picturesIn("target/screenshots/states");
const wanted = process.argv.slice(3);

const WIDTHS = [320, 390, 768, 1280];
const PHONE = { viewport: { width: 390, height: 844 }, phone: true };
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
  await judgeLooks(page, name, { widths: WIDTHS, picture });
}

const states = [];

/** A check of one state, in a new browser. */
function state(name, settings, body) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const judged = async () => {
    const context = await person({ viewport: { width: 1280, height: 900 }, eip6963: true, ...settings });
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

const chooseWallet = (page, place = 0) => page.locator("#wallet-list .wallet").nth(place).click();

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
  await judge(page, "boot", { text: "wants you to sign in" });
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

/** Runs in the page, as an extension does that was unlocked or installed just now. */
function announceLate() {
  const provider = { request: async () => [] };
  const info = { uuid: crypto.randomUUID(), name: "Late Wallet", icon: "data:,", rdns: "example.late" };
  window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }));
}

state("no-wallet", { claim: "the list keeps listening", eip6963: false }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  await judge(page, "no-wallet", { text: "No wallet found in this browser yet." });
  assert.ok(await page.getByText("Unlock its extension, or install one").isVisible(), "what helps is shown without a click");
  await page.evaluate(announceLate);
  await inState(page, "ready");
  assert.ok(await page.getByText("Unlock its extension, or install one").isHidden(), "and makes room for the wallets");
});

state("late-wallet", { claim: "a wallet that appears late does not fold the form that a person is filling in", eip6963: false }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  await page.locator("#address").fill("0x");
  await page.evaluate(announceLate);
  await inState(page, "ready");
  assert.ok(await page.locator("#address").isVisible());
});

state("phone", { claim: "without a wallet a phone says what works there, and has no card that cannot be used", eip6963: false, ...PHONE }, async (context) => {
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  await page.getByText("Open Photo Album in your wallet's own browser.").waitFor(SLOW);
  assert.ok(await page.getByText("Unlock its extension").isHidden(), "phones have no extensions");
  assert.ok(await page.locator("#check").isHidden(), "there is nothing to sign");
  const told = await page.locator("#manual li", { hasText: "No wallet?" }).innerText();
  assert.equal(told.split(/[.?](?:\s|$)/).filter(Boolean).length, 4, `four sentences: ${told}`);
  assert.deepEqual(await violationsOf(page), []);
});

// --- connecting --------------------------------------------------------------------------------------------

/** The wallet's response to a connection request, and what the page shows. */
const CONNECTING = [
  ["connecting", { holds: ["eth_requestAccounts"] }, { text: "Approve the connection in Test Wallet.", title: /^Waiting for your wallet - Sign in/ }],
  ["pending", { error: { code: -32002, message: "busy" } }, { text: "Test Wallet already has a request waiting. Open Test Wallet and answer it." }],
  ["locked", { error: { code: 4100, message: "locked" } }, { text: "Unlock Test Wallet and choose an account, then try again.", focus: '#wallet-messages [data-part="retry"]' }],
  ["connect-rejected", { error: REJECTED }, { text: "You closed the request. Nothing was shared.", focus: '#wallet-messages [data-part="retry"]' }],
  ["wallet-error", { error: { code: -32603, message: "broken" } }, { text: "Test Wallet reported an error and nothing was signed.", alert: true, title: /^Error: / }],
];
for (const [name, { holds = [], error }, expected] of CONNECTING) {
  state(name, { claim: expected.text, wallet: new TestWallet() }, async (context, wallet) => {
    wallet.holds = holds;
    wallet.refusals = error ? [{ method: "eth_requestAccounts", error }] : [];
    const { page } = await arriveReady(context);
    await chooseWallet(page);
    await inState(page, name);
    assert.equal(await page.locator("#wallet-list li").filter({ hasText: expected.text }).count(), 1, "the wallet that was pressed says so in its row");
    await judge(page, name, expected);
  });
}

state("stop-waiting", { claim: "on a phone the status is seen, and stopping is another thing than leaving", wallet: new TestWallet(), ...PHONE }, async (context, wallet) => {
  wallet.holds = ["eth_requestAccounts", "personal_sign"];
  const { page } = await arriveReady(context);
  const seen = async (text) => {
    const { y, height } = await page.getByText(text).boundingBox();
    assert.ok(y >= 0 && y + height <= PHONE.viewport.height, `${text} is at ${y}`);
  };
  const stop = page.locator('#wallet-messages [data-part="cancel"]');
  await chooseWallet(page);
  await inState(page, "connecting");
  await seen("Approve the connection in");
  assert.equal(await stop.textContent(), "Stop waiting");
  await stop.click();
  await inState(page, "ready");
  wallet.holds = ["personal_sign"];
  await chooseWallet(page);
  await page.locator('#wallet-messages [data-part="retry"]').click(); // The wallet still has the first request.
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await inState(page, "signing");
  await seen("In your wallet, the request must come from");
  assert.equal(await stop.textContent(), "Stop waiting");
  assert.match(await page.locator("#decide .deny").textContent(), /^Back to /);
  await stop.click();
  await inState(page, "confirm");
});

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
  assert.match(await page.locator("#valid").textContent(), /^Valid for [45]:\d\d, then renewed\.$/);
  assert.equal(await page.locator("#sign").getAttribute("aria-busy"), "false");
  await judge(page, "confirm", { text: `${HOST} wants you to sign in with your Ethereum account:`, focus: "#sign", title: /^Check and sign - Sign in/ });
});

for (const width of WIDTHS) {
  state(`in-view-${width}`, { claim: "who, where to, what and as whom stand above Sign, and the whole text is on the page", wallet: new TestWallet(), viewport: { width, height: 720 } }, async (context, wallet) => {
    const { page } = await arriveConfirmed(context);
    const { address } = wallet.key;
    const gist = `Photo Album (a program on this computer (${new URL(clientPage).host})) gets: wallet address, email address · ${address.slice(0, 6)}…${address.slice(-4)}`;
    assert.equal(await page.locator("#gist").innerText(), gist);
    for (const further of [0, 120]) {
      await page.evaluate((by) => window.scrollBy(0, by), further);
      const [line, button] = [await page.locator("#gist").boundingBox(), await page.locator("#sign").boundingBox()];
      assert.ok(line.y >= 0 && line.y + line.height <= button.y && button.y + button.height <= 720, `${JSON.stringify(line)}, ${JSON.stringify(button)}`);
    }
    const [whole, shown] = await page.locator("#text").evaluate((text) => [text.scrollHeight, text.clientHeight]);
    assert.ok(whole <= shown, `${whole} in ${shown}`);
    assert.ok(await page.locator("#receives").isVisible(), "what it gets is listed while the user signs, too");
    assert.equal(await page.locator("#wallets:visible, #manual:visible, .out:visible").count(), 0, "the step that is done has made room");
    const text = await page.locator("#text").textContent();
    await page.locator("#choose-again").click();
    await inState(page, "ready");
    assert.ok(await page.locator("#wallet-list .wallet").evaluate((button) => button === document.activeElement), "the wallets have the focus");
    assert.ok(await page.locator("#manual > summary").isVisible(), "and so are the other ways to sign in");
    assert.equal(await page.locator("#sign:visible, #text:visible").count(), 0, "there is nothing to sign");
    await page.keyboard.press("Enter");
    await inState(page, "confirm");
    assert.notEqual(await page.locator("#text").textContent(), text, "the text is a new one");
  });
}

state("in-view-hostile", { claim: "no name pushes Sign or the text out of view, and the destination is never cut", wallet: new TestWallet(), viewport: { width: 320, height: 640 } }, async (context) => {
  const client = await register({ client_name: "W".repeat(100), redirect_uris: ["http://127.0.0.1/cb"], scopes: ["profile", "email"] });
  const { page } = await arriveConfirmed(context, { client });
  const [bar, button] = [await page.locator("#decide").boundingBox(), await page.locator("#sign").boundingBox()];
  assert.ok(bar.height < 320 && button.y + button.height <= 640, `${JSON.stringify(bar)}, ${JSON.stringify(button)}`);
  const cut = await page.locator("#gist > bdi").evaluateAll((all) => all.map((each) => each.scrollWidth > each.clientWidth + 1));
  assert.deepEqual(cut.slice(0, 2), [true, false]);
  await judge(page, "in-view-hostile");
});

/** The wallet's response to a signing request. */
const SIGNING = [
  ["signing", { holds: ["personal_sign"] }, { text: `In your wallet, the request must come from ${HOST}. Your address bar must read the same.` }],
  ["sign-rejected", { error: REJECTED }, { text: "You did not sign, so you are not signed in. Try again, or go back.", focus: "#sign" }],
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

state("declined-in-words", { claim: "an error that says that the user declined is no error, and Sign offers to try again", wallet: new TestWallet() }, async (context, wallet) => {
  wallet.refusals = [{ method: "personal_sign", error: { code: -32603, message: "MetaMask Message Signature: User denied message signature." } }];
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await page.locator("#sign").click();
  await inState(page, "sign-rejected");
  assert.equal(await page.locator("#sign").textContent(), "Try again");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
});

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

state("locked-later", { claim: "a wallet that is locked while its text is shown says so in its row", wallet: new TestWallet() }, async (context) => {
  const { page } = await arriveConfirmed(context);
  await page.evaluate(() => window.dispatchEvent(new CustomEvent("judge:accounts", { detail: [] })));
  await inState(page, "locked");
  assert.ok(await page.locator("#wallet-list li").getByText("Unlock Test Wallet").isVisible());
  assert.equal(await page.locator("#sign:visible, #text:visible").count(), 0, "there is nothing to sign");
  await judge(page, "locked-later", { text: "Unlock Test Wallet and choose an account, then try again." });
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
    const next = page.locator("#decide .primary:visible");
    assert.equal(await next.textContent(), down ? "Try again" : "Change account", "signing again must fail unless a chain was down");
    if (!down) assert.ok(await next.evaluate((button) => button === document.activeElement), "it has the focus");
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

/** The page gets texts that expire so soon. */
async function textsFor(context, seconds) {
  await context.route(/\/oauth\/challenge$/, async (route) => {
    try {
      const response = await route.fetch();
      const expires = new Date(Date.now() + seconds * 1000).toISOString();
      await route.fulfill({ response, json: { ...(await response.json()), expires_at: expires } });
    } catch (error) {
      // The page asked for its next text while its state was over and the browser closed.
      if (!/disposed|closed/.test(error.message)) throw error;
    }
  });
}

state("expired-in-wallet", { claim: "a text that gets too old while the wallet waits says so, and there is a new one", wallet: new TestWallet() }, async (context, wallet) => {
  wallet.holds = ["personal_sign"];
  await textsFor(context, 11);
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  const old = await page.locator("#text").textContent();
  await page.locator("#sign").click();
  await inState(page, "signing");
  await inState(page, "expired");
  await judge(page, "expired-in-wallet", { text: "The text in Test Wallet got too old. Close it there, then sign this new one.", focus: "#sign" });
  assert.notEqual(await page.locator("#text").textContent(), old);
});

state("renewed", { claim: "a wallet gets a text that lasts two minutes or half of its life", wallet: new TestWallet() }, async (context) => {
  await textsFor(context, 22);
  const { page } = await arriveConfirmed(context);
  const old = await page.locator("#text").textContent();
  await inState(page, "expired");
  assert.match(await page.locator("#valid").textContent(), /^Valid for 0:2\d,/);
  assert.notEqual(await page.locator("#text").textContent(), old);
});

// What the server says of somebody who is not let in. `turned-away.mjs` has a server that really does.
const NOT_ADMITTED = refusal(403, "access_denied", "the application does not admit this wallet", { "X-Request-Id": "01JREFERENCE" });
const TURNED_AWAY = { text: "Photo Album does not let this wallet in", focus: "#not-admitted-heading", title: /^Not signed in - Sign in to/ };

/** The card names this wallet, and nothing on the page can be signed. */
async function namesOnly(page, { address }) {
  assert.equal(await page.locator('#not-admitted [data-part="account"]').textContent(), address);
  assert.equal(await page.locator('#not-admitted [data-part="short"]').textContent(), `${address.slice(0, 6)}…${address.slice(-4)}`);
  assert.equal(await page.locator('#not-admitted [data-part="reference"]').textContent(), "01JREFERENCE");
  assert.equal(await page.locator("#sign:visible, #verify:visible, #continue:visible, #wallet-list:visible").count(), 0);
  assert.deepEqual(await page.locator("main .primary:visible").allTextContents(), [await page.locator("#leave").textContent()], "the way back is what the page asks for");
}

state("not-admitted", { claim: "the wallet that is not let in is named, and the way back still leads to the client", wallet: new TestWallet() }, async (context, wallet) => {
  await answering(context, "/oauth/login", NOT_ADMITTED);
  const visit = await arriveConfirmed(context);
  const { page } = visit;
  await page.locator("#sign").click();
  await inState(page, "not-admitted");
  await namesOnly(page, wallet.key);
  await judge(page, "not-admitted", TURNED_AWAY);
  const other = Wallet.createRandom();
  wallet.keys = [other];
  await page.evaluate((address) => window.dispatchEvent(new CustomEvent("judge:accounts", { detail: [address] })), other.address);
  await answering(context, "/oauth/deny", "offline", { times: 1 });
  await page.locator("#leave").click();
  await inState(page, "offline");
  await judge(page, "not-admitted-offline", { text: "You are offline or the server is not answering.", alert: true });
  await page.locator('#wallet-messages [data-part="retry"]').click();
  await page.waitForURL((url) => url.href.startsWith(clientPage), SLOW);
  const told = new URL(page.url()).searchParams;
  assert.deepEqual([told.get("error"), told.get("state"), told.get("code")], ["access_denied", visit.fields.state, null]);
});

state("not-admitted-by-hand", { claim: "a signature that was pasted is told the same", eip6963: false }, async (context) => {
  await answering(context, "/oauth/login", NOT_ADMITTED);
  const { page } = await arrive(context);
  await inState(page, "no-wallet");
  const { address } = Wallet.createRandom();
  await page.locator("#address").fill(address);
  await page.locator("#get-text").click();
  await inState(page, "confirm");
  await page.locator("#signature").fill(`0x${"11".repeat(65)}`);
  await page.locator("#verify").click();
  await inState(page, "not-admitted");
  await namesOnly(page, { address });
  await page.locator("#other-wallet").click();
  await inState(page, "ready", "no-wallet");
  assert.ok(await page.locator("#not-admitted").isHidden());
});

state("session-gone", { claim: "without its cookie the page says so, and does not redirect", wallet: new TestWallet(), told: { clientUri: clientOrigin } }, async (context) => {
  const { page } = await arriveConfirmed(context);
  await context.clearCookies();
  await page.locator("#sign").click();
  await inState(page, "session-gone");
  await judge(page, "session-gone", { text: "Your sign-in timed out.", alert: true });
  await page.getByText("Missing or expired OAuth session.").waitFor(SLOW);
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
  assert.equal(await page.locator("body").innerText().then((text) => text.split("\n")[0]), "Do not sign. Close this page.");
  assert.equal(await page.locator("a:visible, button:visible").filter({ hasText: "auth.example.org" }).count(), 0, "a copy gets no link that people could trust");
});

// --- leaving -----------------------------------------------------------------------------------------------

for (const [name, press, text] of [["success", "#sign", `Taking you to`], ["denied", "#decide .deny", "Taking you back to"]]) {
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
  const remember = visit.page.locator("#remember");
  assert.ok(!(await remember.isChecked()), "nobody looked at this application, so being remembered is offered and not chosen");
  await remember.check();
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

state("not-admitted-remembered", { claim: "a remembered person is told the same, and another wallet may sign", wallet: new TestWallet() }, async (context, wallet) => {
  await signIn(context, wallet);
  await answering(context, "/oauth/continue", NOT_ADMITTED);
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "remembered");
  await page.locator("#continue").click();
  await inState(page, "not-admitted");
  await namesOnly(page, wallet.key);
  await judge(page, "not-admitted-remembered", TURNED_AWAY);
  await page.locator("#other-wallet").click();
  await inState(page, "ready");
  await chooseWallet(page);
  await confirmed(page);
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
});

state("step-up", { claim: "what is new is marked and must be signed", wallet: new TestWallet() }, async (context, wallet) => {
  await signIn(context, wallet, { scope: "profile" });
  const visit = await arrive(context, { scope: "profile email" });
  const { page } = visit;
  await inState(page, "step-up");
  assert.deepEqual(await page.locator(".scopes li:visible").allInnerTexts(), ["Your email (optional) New"]);
  await page.locator("#wallet-list .wallet").waitFor(SLOW);
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
  await judge(page, "account", { text: "Sign in to your account", focus: "#sign" });
  await answering(context, "/oauth/login", NOT_ADMITTED, { times: 1 });
  await page.locator("#sign").click();
  await inState(page, "not-admitted");
  await judge(page, "account-not-admitted", { ...TURNED_AWAY, text: "This server does not let this wallet in", title: /^Not signed in - Sign in to your account/ });
  await page.locator("#not-admitted .actions .primary").click();
  await inState(page, "ready");
  await chooseWallet(page);
  await inState(page, "confirm");
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
  await page.locator("#wallet-list .wallet").nth(1).waitFor(SLOW);
  await judge(page, "two-wallets");
  await page.locator("#wallet-list .wallet", { hasText: "Second Wallet" }).click();
  await inState(page, "confirm");
  const address = await page.locator("#account").textContent();
  await page.locator("#sign").click();
  await arrivedAs(visit, address);
  const { page: next } = await arriveReady(context);
  await next.locator("#wallet-list .wallet").nth(1).waitFor(SLOW);
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
