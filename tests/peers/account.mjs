// The account page in Chromium: users see their own data, link and unlink wallets of two families, and sign
// out, with and without scripts. axe-core checks each state, at three widths, light and dark.
// node account.mjs http://localhost:8080          Screenshots go to target/screenshots/account.

import assert from "node:assert/strict";
import { judgeLooks } from "./axe.mjs";
import { BASE, check, codeOf, exchange, request } from "./client.mjs";
import { SLOW, TestWallet, arrive, close, confirmed, inState, loopback, person, picturesIn, textByHand } from "./people.mjs";
import { FAMILY_WALLETS } from "./wallets.mjs";

const picture = picturesIn("target/screenshots/account");
const REJECTED = { code: 4001, message: "User rejected the request." };

const solana = () => FAMILY_WALLETS.find(({ title }) => title.startsWith("a Solana")).make();

// --- looking at the page -----------------------------------------------------------------------------------

/** Checks the page as it is now, at every width and in both color schemes. */
async function look(page, name) {
  const before = page.viewportSize();
  await judgeLooks(page, name, { widths: [320, 768, 1280], picture });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}

const focused = (page, selector) => page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector, SLOW);
const stateOf = (page) => page.locator("main").getAttribute("data-state");
const hasDone = (page, name) => page.locator(`[data-done="${name}"]`).waitFor(SLOW);

// --- steps -------------------------------------------------------------------------------------------------

const visitor = (settings = {}) => person({ eip6963: true, viewport: { width: 1280, height: 900 }, ...settings });

/** Signs in on the sign-in page with the wallet of this name. */
async function signIn(page, wallet) {
  await page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();
  await confirmed(page);
  if ((await page.locator("#remember").count()) > 0) await page.locator("#remember").check();
  await page.locator("#sign").click();
}

/** A user opens their account page and signs in for it. */
async function toAccount(context, wallet) {
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  if (new URL(page.url()).pathname.endsWith("/auth")) await signIn(page, wallet);
  await page.waitForURL((url) => url.pathname.endsWith("/account"), SLOW);
  await inState(page, "account");
  return page;
}

/** A user signs in for a client; returns the client's tokens. */
async function useClient(context, wallet) {
  const visit = await arrive(context);
  await inState(visit.page, "ready", "remembered", "step-up");
  await signIn(visit.page, wallet);
  await visit.page.waitForURL((url) => url.href.startsWith(visit.fields.redirect_uri), SLOW);
  const tokens = await exchange(visit, codeOf(visit.page.url(), visit));
  await visit.page.close();
  return tokens;
}

const statusOf = async ({ access_token: token }) => (await request("GET", "/oauth/userinfo", { headers: { authorization: `Bearer ${token}` } })).status;

const choose = (page, wallet) => page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();
const chosenText = (page, which) => page.locator(`#${which}-chosen`).innerText();

/** Opens a folded entry. */
const unfold = (page, selector) => page.locator(selector).locator("xpath=ancestor-or-self::details[1]").evaluate((details) => (details.open = true));

/** The entry of a wallet, opened. */
async function entryOf(page, { key }) {
  const selector = `[data-wallet$="${key.address}"]`;
  await unfold(page, selector);
  return page.locator(selector);
}

/** Links a wallet: the new wallet, then one of the user's, then a signature of each. */
async function link(page, mine, other) {
  await page.locator("#link").click();
  await inState(page, "choosing");
  await choose(page, other);
  await page.locator("#choose-heading", { hasText: "yours already" }).waitFor(SLOW);
  await choose(page, mine);
  await inState(page, "confirm");
}

// --- with scripts ------------------------------------------------------------------------------------------

await check("a user who signed in for an app is signed in on the account page, and sees their own data", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  const tokens = await useClient(context, wallet);
  const page = await toAccount(context, wallet);
  assert.equal(wallet.calls.filter((method) => method === "personal_sign").length, 1, "the app's sign-in was enough");
  assert.equal(await page.locator("#address").textContent(), wallet.key.address);
  assert.equal(await page.locator("#wallets .things li").count(), 1);
  assert.match(await page.locator("#last-wallet").innerText(), /your only wallet/);
  const app = page.locator(`#apps li:has([data-client="${loopback.client_id}"])`);
  assert.match(await app.innerText(), /Photo Album[^]*Unverified[^]*127\.0\.0\.1/);
  assert.match(await app.locator("details").textContent(), /Your public wallet address/);
  assert.match(await page.locator("#sessions li").innerText(), /Chrome on Linux[^]*This browser/);
  assert.equal(await page.locator("time").first().evaluate((time) => time.textContent !== time.title), true, "times are local");
  assert.equal(await page.locator("#wallets .things h3").innerText(), "Test Wallet Signed in with this one", "the name that the wallet gives itself");
  assert.equal(await app.locator("details").evaluate((details) => details.open), false, "applications are folded");
  await unfold(page, "#address");
  await page.locator('[data-copy="address"]').click();
  await page.locator("#copied p").waitFor(SLOW);
  await look(page, "account");
  await app.locator("summary").click();
  await (await entryOf(page, wallet)).locator('[name="name"]').waitFor(SLOW);
  await look(page, "unfolded");
  const download = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]).then(([started]) => started);
  assert.equal(download.suggestedFilename(), "account.json");
  await app.locator("button").click();
  await hasDone(page, "access_revoked");
  assert.equal(await statusOf(tokens), 401);
  assert.match(await page.locator("#apps").innerText(), /not signed in to any app/);
  await look(page, "revoked");
  await context.close();
});

await check("a wallet of another family is linked with two signatures, signs in as the same user, and is unlinked", async () => {
  const wallet = new TestWallet();
  const other = solana();
  const context = await visitor({ wallet, others: [other] });
  const page = await toAccount(context, wallet);
  await page.locator("#link").click();
  await inState(page, "choosing");
  await focused(page, "#change-heading");
  await look(page, "link-choosing");
  await choose(page, other);
  await page.locator("#choose-heading", { hasText: "yours already" }).waitFor(SLOW);
  await focused(page, "#choose-heading");
  await choose(page, wallet);
  await inState(page, "confirm");
  await focused(page, "#sign");
  assert.equal((await chosenText(page, "other")).replaceAll(/\s/g, ""), other.key.address);
  assert.equal((await chosenText(page, "signer")).replaceAll(/\s/g, ""), wallet.key.address);
  assert.match(await page.locator("#text").innerText(), /sign in as me here/);
  await look(page, "link-confirm");
  wallet.refusals.push({ method: "personal_sign", error: REJECTED });
  await page.locator("#sign").click();
  await inState(page, "sign-rejected");
  await focused(page, "#sign");
  await page.locator("#sign").click();
  await page.locator("#wallet-messages", { hasText: "Second of two" }).waitFor(SLOW);
  assert.equal(await page.locator("#sign").innerText(), "Sign with the new wallet");
  assert.match(await page.locator("#text").innerText(), /Join the account/);
  await look(page, "link-half");
  await page.locator("#sign").click();
  await hasDone(page, "wallet_linked");
  assert.equal(await page.locator("#wallets .things li").count(), 2);
  await look(page, "linked");

  const elsewhere = await visitor({ others: [other] });
  const there = await toAccount(elsewhere, other);
  assert.equal(await there.locator("#user").textContent(), await page.locator("#user").textContent());
  await page.reload();
  assert.equal(await page.locator("#sessions .things li").count(), 2);
  await page.locator("#sessions li:not(:has(.badge)) button").click();
  await hasDone(page, "session_ended");
  await there.reload();
  assert.equal(new URL(there.url()).pathname, "/auth");
  await elsewhere.close();

  const entry = await entryOf(page, other);
  assert.match(await entry.locator("h3").innerText(), new RegExp(other.name), "the new wallet has the name that it gives itself");
  await entry.locator("[data-unlink] button").click();
  await inState(page, "choosing");
  assert.match(await page.locator("#change-heading").innerText(), new RegExp(`^Unlink ${other.name} \\(${other.key.address.slice(0, 6)}…`));
  assert.equal((await chosenText(page, "other")).replaceAll(/\s/g, ""), other.key.address, "the whole address of the wallet that goes");
  assert.equal(await page.locator("#other-called .picture").count(), 1);
  await look(page, "unlink-choosing");
  await choose(page, wallet);
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await hasDone(page, "wallet_unlinked");
  assert.equal(await page.locator("#wallets .things li").count(), 1);
  await context.close();
});

await check("a wallet is renamed by its user, and a name that hides something is refused", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  const page = await toAccount(context, wallet);
  let entry = await entryOf(page, wallet);
  await entry.locator('[name="name"]').fill("Led\u202Eger");
  await entry.locator("[data-rename] button").click();
  await page.locator('[data-trouble="bad_wallet_name"]').waitFor(SLOW);
  assert.equal(await page.locator('[name="name"]').inputValue(), "Led\u202Eger", "the input stays, and its wallet is open");
  await look(page, "bad-name");
  await page.locator('[name="name"]').fill("<b>Sparbuch</b> & حساب");
  await page.locator("[data-rename] button").click();
  await hasDone(page, "wallet_renamed");
  assert.match(await page.locator("#wallets .things h3").innerText(), /^<b>Sparbuch<\/b> & حساب/);
  assert.match(await page.locator("#sessions li").innerText(), /Sparbuch/);
  entry = await entryOf(page, wallet);
  await entry.locator('[name="name"]').fill("");
  await entry.locator("[data-rename] button").click();
  await hasDone(page, "wallet_renamed");
  assert.match(await page.locator("#wallets .things h3").innerText(), /^Ethereum/);
  await context.close();
});

await check("wallets that refuse, are locked, or have the wrong account get different messages, and nothing changes", async () => {
  const wallet = new TestWallet();
  const stranger = new TestWallet({ name: "Other Wallet", accounts: 2 });
  const context = await visitor({ wallets: [wallet, stranger] });
  const page = await toAccount(context, wallet);
  await page.locator("#link").click();
  wallet.refusals.push({ method: "eth_requestAccounts", error: REJECTED });
  await choose(page, wallet);
  await inState(page, "connect-rejected");
  wallet.refusals.push({ method: "eth_requestAccounts", error: { code: 4100, message: "locked" } });
  await choose(page, wallet);
  await inState(page, "locked");
  wallet.refusals.push({ method: "eth_requestAccounts", error: { code: -32002, message: "busy" } });
  await choose(page, wallet);
  await inState(page, "pending");
  await choose(page, wallet);
  await inState(page, "already-linked");
  await look(page, "already-linked");
  await choose(page, stranger);
  await inState(page, "pick-account");
  await look(page, "pick-account");
  await page.locator("#account-choices input").nth(1).check();
  await page.locator("#accounts button").click();
  await page.locator("#choose-heading", { hasText: "yours already" }).waitFor(SLOW);
  await choose(page, stranger);
  await inState(page, "wrong-account");
  await look(page, "wrong-account");
  await choose(page, wallet);
  await inState(page, "confirm");
  stranger.alter = (signature) => signature.replace(/^0x../, "0x00");
  await page.locator("#sign").click();
  await page.locator("#wallet-messages", { hasText: "Second of two" }).waitFor(SLOW);
  await page.locator("#sign").click();
  await inState(page, "bad-signature");
  await look(page, "bad-signature");
  await page.locator("#stop").click();
  assert.equal(await stateOf(page), "account");
  await focused(page, "#link"); // where it was before
  await page.reload();
  assert.equal(await page.locator("#wallets .things li").count(), 1);
  await context.close();
});

await check("another user's wallet is refused before anybody signs, and expired texts are replaced", async () => {
  const [ann, bob, spare] = ["Wallet of Ann", "Wallet of Bob", "Spare wallet"].map((name) => new TestWallet({ name }));
  const ofBob = await visitor({ wallet: bob });
  await toAccount(ofBob, bob);
  await ofBob.close();
  const context = await visitor({ wallets: [ann, bob, spare] });
  const page = await toAccount(context, ann);
  await page.locator("#link").click();
  await inState(page, "choosing");
  await choose(page, bob);
  await page.locator("#choose-heading", { hasText: "yours already" }).waitFor(SLOW);
  await choose(page, ann);
  await page.locator('#wallet-messages [role="alert"]', { hasText: "belongs to another account" }).waitFor(SLOW);
  await choose(page, spare);
  await page.locator("#choose-heading", { hasText: "yours already" }).waitFor(SLOW);
  await choose(page, ann);
  await inState(page, "confirm");
  const text = await page.locator("#text").innerText();
  await context.route(/\/account\/wallets\/link$/, (route) => route.fulfill({ status: 401, json: { error: "access_denied", error_description: "Challenge is not valid or has expired" } }), { times: 1 });
  await page.locator("#sign").click();
  await page.locator("#wallet-messages", { hasText: "Second of two" }).waitFor(SLOW);
  await page.locator("#sign").click();
  await inState(page, "expired");
  assert.notEqual(await page.locator("#text").innerText(), text);
  await context.close();
});

await check("an e-mail address is added, refused if it is not valid, and removed", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  const page = await toAccount(context, wallet);
  await page.locator("#email-form").evaluate((form) => (form.noValidate = true));
  await page.locator("#email-field").fill("ada");
  await page.locator("#email-form button").click();
  await page.locator('[data-trouble="bad_email"]').waitFor(SLOW);
  await focused(page, "#trouble");
  assert.equal(await page.locator("#email-field").inputValue(), "ada", "the input stays");
  assert.match(await page.title(), /^Error: /);
  await look(page, "bad-email");
  await page.locator("#email-field").fill("ada@example.com");
  await page.locator("#email-form button").click();
  await hasDone(page, "email_added");
  await look(page, "email");
  await page.locator("#remove-email").click();
  await hasDone(page, "email_removed");
  assert.equal(await page.locator("#email-address").count(), 0);
  await context.close();
});

await check("a user signs out, signs in again, and deletes the account", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  const tokens = await useClient(context, wallet);
  const page = await toAccount(context, wallet);
  const user = await page.locator("#user").textContent();
  await page.locator("#sign-out").click();
  await inState(page, "signed-out");
  assert.match(await page.locator("main").innerText(), /Your wallet may still list this site as connected: disconnect it there\./);
  await look(page, "signed-out");
  const back = await toAccount(context, wallet);
  assert.equal(await back.locator("#user").textContent(), user);
  await back.locator("#delete-button").click();
  assert.equal(await stateOf(back), "account", "the box is not checked");
  await back.locator("#confirm").check();
  await back.locator("#delete-button").click();
  await hasDone(back, "account_deleted");
  assert.match(await back.locator("h1").innerText(), /Your account is deleted/);
  assert.equal(await statusOf(tokens), 401);
  await look(back, "deleted");
  const anew = await toAccount(context, wallet);
  assert.notEqual(await anew.locator("#user").textContent(), user);
  await anew.locator("#sign-out-everywhere").click();
  await hasDone(anew, "signed_out_everywhere");
  await context.close();
});

await check("where did I sign in? A page of its own says so, in every language", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  await useClient(context, wallet);
  const account = await toAccount(context, wallet);
  await account.locator("#apps button").first().evaluate((button) => button.form.requestSubmit());
  await hasDone(account, "access_revoked");
  await account.locator("#events").click();
  await inState(account, "account-events");
  const events = await account.locator("[data-what]").evaluateAll((items) => items.map((item) => item.dataset.what));
  assert.deepEqual(events, ["consent_revoked", "sign_in"]);
  const first = account.locator('[data-what="sign_in"]').last();
  assert.match(await first.innerText(), /Signed in[^]*Photo Album[^]*Unverified[^]*Test Wallet[^]*127\.0\.0\.0\/24/);
  assert.equal(await first.locator("time").evaluate((time) => time.textContent !== time.title), true, "times are local");
  await look(account, "events");
  for (const language of ["de", "es", "fr", "pt-BR", "ja", "zh-CN"]) {
    await account.goto(`${BASE}/account/events?lang=${language}`);
    await judgeLooks(account, `events-${language}`, { widths: [320], picture });
  }
  await account.goto(`${BASE}/account/events?lang=ar`);
  assert.equal(await account.locator("html").getAttribute("dir"), "rtl");
  await look(account, "events-right-to-left");
  await account.locator("#back").click();
  await inState(account, "account");
  await context.close();
});

await check("a mailed link that is not ours gets an error page", async () => {
  const context = await visitor();
  const page = await context.newPage();
  const token = "A".repeat(64);
  await page.goto(`${BASE}/account/email/confirm?token=${token}`);
  await inState(page, "email-invalid");
  await look(page, "email-invalid");
  await context.close();
});

await check("the page works right to left", async () => {
  const wallet = new TestWallet();
  const context = await visitor({ wallet });
  const page = await toAccount(context, wallet);
  await page.goto(`${BASE}/account?lang=ar`);
  assert.equal(await page.locator("html").getAttribute("dir"), "rtl");
  await look(page, "right-to-left");
  await context.close();
});

// --- without scripts ---------------------------------------------------------------------------------------

await check("without scripts everything works with forms, also linking wallets of two families", async () => {
  const { key } = new TestWallet();
  const other = solana();
  const context = await visitor({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  await page.locator("#signature").fill(await key.signMessage(await textByHand(page, key.address)));
  await page.locator("#verify").click();
  await inState(page, "account");
  assert.match(await page.locator("time").first().textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  await picture(page, "no-script");

  await page.locator("#other-address").fill("nobody");
  await page.locator("#by-hand-form button").click();
  await inState(page, "wallet-address");
  await page.locator("#trouble", { hasText: "not an address of a wallet" }).waitFor(SLOW);
  await picture(page, "no-script-address");
  await page.locator("#other-address").fill(other.key.address);
  await page.locator("#address-form button").click();
  await inState(page, "wallet-sign");
  const mine = await page.locator("#signer-text").textContent();
  const theirs = await page.locator("#other-text").textContent();
  await page.locator("#signer-signature").fill(await key.signMessage(mine));
  await page.locator("#other-signature").fill(await key.signMessage(theirs));
  await page.locator("#finish").click();
  await page.locator("#trouble", { hasText: "signature of the new wallet" }).waitFor(SLOW);
  await picture(page, "no-script-sign");
  await page.locator("#signer-signature").fill(await key.signMessage(mine));
  await page.locator("#other-signature").fill(` ${other.key.signature(theirs)} `);
  await page.locator("#other-name").fill("My phone");
  await page.locator("#finish").click();
  await hasDone(page, "wallet_linked");

  const entry = page.locator(`[data-wallet$="${other.key.address}"]`);
  await entry.locator("summary").click();
  assert.equal(await entry.locator('[name="name"]').inputValue(), "My phone");
  await entry.locator("[data-unlink] button").click();
  await inState(page, "wallet-sign");
  await page.locator("#signer-signature").fill(await key.signMessage(await page.locator("#signer-text").textContent()));
  await page.locator("#finish").click();
  await hasDone(page, "wallet_unlinked");

  await page.locator("#events").click();
  await inState(page, "account-events");
  const events = await page.locator("[data-what]").evaluateAll((items) => items.map((item) => item.dataset.what));
  assert.deepEqual(events, ["wallet_unlinked", "wallet_linked", "sign_in"]);
  assert.match(await page.locator("time").first().textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  await picture(page, "no-script-events");
  await page.locator("#back").click();

  await page.locator("#confirm").check();
  await page.locator("#delete-button").click();
  await hasDone(page, "account_deleted");
  await context.close();
});

await close();
