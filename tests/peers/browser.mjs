// The sign-in page in a real browser: Chromium, with wallets of every family that really sign (people.mjs,
// wallets.mjs).
// node browser.mjs http://localhost:8080          Screenshots go to target/screenshots.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Wallet } from "ethers";
import { BASE, authorizeUrl, check, request } from "./client.mjs";
import {
  SLOW, TestWallet, arrive, arrivedAs, browser, clientOrigin, clientPage, close, confirmed, inState, loopback, onDevice, onTheWeb,
  person, picturesIn, project, textByHand,
} from "./people.mjs";
import { FAMILY_WALLETS } from "./wallets.mjs";

const picture = picturesIn("target/screenshots");
const REJECTED = { code: 4001, message: "User rejected the request." };

/** The requests that the page sends to /oauth/challenge from now on. */
function challengesOf(page) {
  const sent = [];
  page.on("request", (made) => new URL(made.url()).pathname.endsWith("/oauth/challenge") && sent.push(made.postDataJSON()));
  return sent;
}

/** Signs by hand: enters the address, takes the text, pastes the signature. */
async function signByHand(page, key, { alter = (signature) => signature } = {}) {
  const text = await textByHand(page, key.address);
  await page.locator("#signature").fill(alter(await key.signMessage(text)));
  return text;
}

async function openManual(page) {
  if (!(await page.locator("#address").isVisible())) await page.locator("#manual > summary").click();
}

// --- with a wallet -----------------------------------------------------------------------------------------

for (const [name, ways] of [["a wallet that announces itself (EIP-6963)", { eip6963: true }], ["only window.ethereum", { legacy: true }]]) {
  await check(`the whole sign-in with ${name}`, async () => {
    const wallet = new TestWallet();
    const context = await person({ wallet, ...ways });
    const visit = await arrive(context);
    const { page } = visit;
    await inState(page, "ready");
    const label = ways.legacy ? "ready-legacy" : "ready";
    await picture(page, label);
    assert.deepEqual(wallet.calls, [], "the wallet gets no request before a click");
    assert.equal(await page.locator("#wallet-list .wallet").count(), 1);
    await page.locator("#wallet-list .wallet", { hasText: ways.legacy ? "Browser wallet" : "Test Wallet" }).click();
    await inState(page, "confirm");
    const text = await page.locator("#text").textContent();
    assert.match(text, new RegExp(`^${new URL(BASE).host} wants you to sign in with your Ethereum account:\n${wallet.key.address}\n`));
    await picture(page, ways.legacy ? "confirm-legacy" : "confirm");
    await page.locator("#sign").click();
    await arrivedAs(visit, wallet.key.address);
    assert.deepEqual(wallet.calls, ["eth_requestAccounts", "eth_chainId", "personal_sign"]);
    await context.close();
  });
}

await check("a wallet that announces itself and is also window.ethereum is listed once", async () => {
  const context = await person({ wallet: new TestWallet(), eip6963: true, legacy: true });
  const { page } = await arrive(context);
  await inState(page, "ready");
  assert.equal(await page.locator("#wallet-list .wallet").count(), 1);
  await context.close();
});

await check("a user who closes the wallet's windows (4001) gets a message and can try again", async () => {
  const wallet = new TestWallet();
  wallet.refusals = [{ method: "eth_requestAccounts", error: REJECTED }, { method: "personal_sign", error: REJECTED }];
  const context = await person({ wallet, eip6963: true });
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "ready");
  const button = page.locator("#wallet-list .wallet");
  await button.click();
  await inState(page, "connect-rejected");
  await button.click();
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await inState(page, "sign-rejected");
  assert.equal(await page.locator('[role="alert"] p').count(), 0, "declining is not an error");
  await picture(page, "sign-rejected");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await context.close();
});

await check("a locked wallet (4100) and one that cannot sign (4200) have their own messages", async () => {
  const wallet = new TestWallet();
  wallet.refusals = [{ method: "eth_requestAccounts", error: { code: 4100, message: "locked" } }, { method: "personal_sign", error: { code: 4200, message: "cannot" } }];
  const context = await person({ wallet, eip6963: true });
  const { page } = await arrive(context);
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  await inState(page, "locked");
  await page.locator('#wallet-messages [data-part="retry"]').click();
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await inState(page, "unsupported");
  await context.close();
});

await check("a wallet on another chain names it, and the text is for that chain", async () => {
  const wallet = new TestWallet();
  wallet.chainId = "0x89";
  const context = await person({ wallet, eip6963: true });
  const visit = await arrive(context);
  const { page } = visit;
  const asked = challengesOf(page);
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  await inState(page, "confirm");
  assert.equal(asked[0].chain, "eip155:137");
  assert.match(await page.locator("#text").textContent(), /\nChain ID: 137\n/);
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await context.close();
});

// --- wallets of the other families -------------------------------------------------------------------------

for (const { title, make } of FAMILY_WALLETS) {
  await check(`the whole sign-in with ${title}, after the user declined twice`, async () => {
    const wallet = make();
    wallet.refusals = ["connect", "sign"];
    const context = await person({ others: [wallet] });
    const visit = await arrive(context);
    const { page } = visit;
    const asked = challengesOf(page);
    await inState(page, "ready");
    const button = page.locator("#wallet-list .wallet");
    assert.deepEqual(await button.locator("bdi").allTextContents(), [wallet.name]);
    assert.match(await button.locator(".tag").textContent(), new RegExp(`^${wallet.kind}`));
    assert.deepEqual(wallet.calls, [], "the wallet gets no request before a click");
    await button.click();
    await inState(page, "connect-rejected");
    await button.click();
    await confirmed(page);
    assert.equal(asked.length, 1);
    assert.equal(asked[0].wallet_address, wallet.key.address);
    assert.equal(asked[0].chain, wallet.chain);
    assert.equal(await page.locator("#account").textContent(), wallet.key.address, "the shown address can be copied");
    assert.match(await page.locator("#text").textContent(), new RegExp(` wants you to sign in with your ${wallet.kind} account:\n${wallet.key.address}\n`));
    await page.locator("#sign").click();
    await inState(page, "sign-rejected");
    assert.equal(await page.locator('[role="alert"] p').count(), 0, "declining is not an error");
    await page.locator("#sign").click();
    await arrivedAs(visit, wallet.key.address);
    assert.deepEqual(wallet.calls, ["connect", "connect", "sign", "sign"]);
    await context.close();
  });
}

const familyWallet = (name) => FAMILY_WALLETS.map(({ make }) => make()).find((wallet) => wallet.name === name);

await check("a wallet that shares several accounts lets the user choose, and choose again", async () => {
  const wallet = familyWallet("Xverse Wallet");
  const context = await person({ others: [wallet] });
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  const addresses = wallet.keys.map(({ address }) => address);
  await inState(page, "pick-account");
  assert.deepEqual(await page.locator("#accounts label").allTextContents(), addresses, "each address is shown in full");
  await confirmed(page);
  const [first, second] = addresses;
  for (const address of [second, first, second]) {
    await page.locator("#change-account").click();
    await inState(page, "pick-account");
    await page.getByRole("radio").nth(addresses.indexOf(address)).check();
    await page.locator('#accounts button[type="submit"]').click();
    await inState(page, "confirm");
    await page.locator("#text", { hasText: address }).waitFor(SLOW);
  }
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.keys[1].address);
  assert.equal(wallet.signed.address, second);
  await context.close();
});

for (const [label, viewport] of [["wide", { width: 1100, height: 900 }], ["narrow", { width: 320, height: 640 }]]) {
  await check(`wallets of five families are in one list, ${label}`, async () => {
    const names = ["Test Solana", "Xverse Wallet", "Keplr", "Test Tron"];
    const others = names.map(familyWallet);
    const context = await person({ wallet: new TestWallet(), eip6963: true, others, viewport });
    const { page } = await arrive(context);
    await page.locator("#wallet-list .wallet").nth(names.length).waitFor(SLOW);
    assert.deepEqual((await page.locator("#wallet-list bdi").allTextContents()).sort(), ["Test Wallet", ...names].sort());
    await picture(page, `families-${label}`);
    for (const name of names) {
      if (await page.locator("#choose-again").isVisible()) await page.locator("#choose-again").click();
      await page.locator("#wallet-list .wallet", { hasText: name }).click();
      await confirmed(page);
      await picture(page, `family-${name.split(" ").at(-1).toLowerCase()}-${label}`);
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(content <= window, `${content} points in ${window}`);
    }
    await context.close();
  });
}

await check("a family's script that is missing, invalid or throws breaks neither the other families nor signing by hand", async () => {
  const wallet = new TestWallet();
  const modules = { missing: null, broken: "export function find( {", throwing: "export function find() { throw new Error('on purpose'); }", empty: "" };
  const context = await person({ wallet, eip6963: true, modules });
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "ready");
  assert.equal(await page.locator("#wallet-list .wallet").count(), 1);
  await openManual(page);
  await signByHand(page, wallet.key);
  await page.locator("#verify").click();
  await arrivedAs(visit, wallet.key.address);
  await context.close();
});

// --- by hand -----------------------------------------------------------------------------------------------

await check("by hand with JavaScript, after one wrong signature", async () => {
  const key = Wallet.createRandom();
  const context = await person();
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "no-wallet");
  await picture(page, "no-wallet");
  await openManual(page);
  const text = await signByHand(page, key, { alter: (signature) => signature.replace(/..$/, (v) => (v === "1b" ? "1c" : "1b")) });
  await page.locator("#verify").click();
  await inState(page, "bad-signature");
  await picture(page, "bad-signature");
  await page.locator("#signature").fill(Buffer.from((await key.signMessage(text)).slice(2), "hex").toString("base64"));
  await page.locator("#verify").click();
  await arrivedAs(visit, key.address);
  await context.close();
});

await check("by hand with JavaScript switched off, from start to end", async () => {
  const key = Wallet.createRandom();
  const context = await person({ javaScriptEnabled: false });
  const visit = await arrive(context);
  const { page } = visit;
  await picture(page, "no-js-address");
  await signByHand(page, key);
  await picture(page, "no-js-sign");
  await page.locator("#verify").click();
  await arrivedAs(visit, key.address);
  await context.close();
});

await check("with JavaScript switched off a wrong address and a wrong signature are reported on the page, and can be corrected", async () => {
  const key = Wallet.createRandom();
  const context = await person({ javaScriptEnabled: false });
  const visit = await arrive(context);
  const { page } = visit;
  await page.locator("#address").fill("hello");
  await page.locator("#get-text").click();
  await page.locator("#notice").waitFor(SLOW);
  const text = await signByHand(page, key, { alter: () => `0x${"11".repeat(65)}` });
  await page.locator("#verify").click();
  await page.locator("#notice", { hasText: "Failed to verify signature" }).waitFor(SLOW);
  assert.match(await page.locator("#notice #request-id").textContent(), /^[0-9a-f]{32}$/, "the reference, for the operator");
  await picture(page, "no-js-bad-signature");
  assert.equal(await page.locator("#manual-text").textContent(), text, "the same text is there to be signed again");
  await page.locator("#signature").fill(await key.signMessage(text));
  await page.locator("#verify").click();
  await arrivedAs(visit, key.address);
  await context.close();
});

for (const javaScriptEnabled of [true, false]) {
  await check(`by hand the chain may be in front of the address, and the page says how to sign, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const key = Wallet.createRandom();
    const context = await person({ javaScriptEnabled });
    const visit = await arrive(context);
    const { page } = visit;
    if (javaScriptEnabled) await inState(page, "no-wallet");
    await openManual(page);
    assert.ok(await page.locator("#commands").isHidden());
    const text = await signByHand(page, { address: `eip155:10:${key.address}`, signMessage: (each) => key.signMessage(each) });
    assert.match(text, /\nChain ID: 10\n/);
    await page.locator("#commands > summary").click();
    assert.match(await page.locator("#ways").textContent(), /cast wallet sign/);
    if (!javaScriptEnabled) assert.equal(await page.locator("#address").inputValue(), `eip155:10:${key.address}`, "Get a new text keeps the account");
    await page.locator("#verify").click();
    await arrivedAs(visit, key.address);
    await context.close();
  });
}

for (const javaScriptEnabled of [true, false]) {
  await check(`by hand, if an address cannot be on the given chain, the user can choose another, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const key = Wallet.createRandom();
    const context = await person({ javaScriptEnabled });
    const visit = await arrive(context);
    const { page } = visit;
    if (javaScriptEnabled) await inState(page, "no-wallet");
    await openManual(page);
    await page.locator("#address").fill(`nowhere:1:${key.address}`);
    await page.locator("#get-text").click();
    await page.locator('#chain option[value="eip155:1"]').waitFor({ state: "attached", ...SLOW });
    assert.equal(await page.locator("#address").inputValue(), key.address, "the address stays, without the chain in front of it");
    await picture(page, `other-chain-${javaScriptEnabled ? "js" : "no-js"}`);
    await page.locator("#chain").selectOption("eip155:1");
    await page.locator("#get-text").click();
    await page.locator("#manual-text").filter({ hasText: "Chain ID: 1\n" }).waitFor(SLOW);
    await page.locator("#signature").fill(await key.signMessage(await page.locator("#manual-text").textContent()));
    await page.locator("#verify").click();
    await arrivedAs(visit, key.address);
    await context.close();
  });
}

await check("by hand, if several chains have the same address format, the user chooses the chain", async () => {
  const key = Wallet.createRandom();
  const context = await person();
  await context.route(/\/oauth\/challenge$/, (route) => {
    if (route.request().postDataJSON().chain) return route.fallback();
    const description = "wallet_address could belong to several chains; name one in chain: eip155:1 (Ethereum), eip155:137 (Polygon)";
    return route.fulfill({ status: 400, json: { error: "invalid_request", error_description: description } });
  });
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "no-wallet");
  await openManual(page);
  await page.locator("#address").fill(key.address);
  await page.locator("#get-text").click();
  await inState(page, "refused");
  await page.locator("#manual-alert", { hasText: "eip155:137 (Polygon)" }).waitFor(SLOW);
  assert.ok(await page.locator("#chain").evaluate((field) => field === document.activeElement), "the choice has the focus");
  assert.equal(await page.locator("#address").inputValue(), key.address);
  await picture(page, "choose-chain");
  await page.locator("#chain").selectOption("eip155:137");
  await page.locator("#get-text").click();
  await inState(page, "confirm");
  assert.match(await page.locator("#manual-text").textContent(), /\nChain ID: 137\n/);
  await page.locator("#address").fill(Wallet.createRandom().address);
  assert.ok(await page.locator("#chain-choice").isHidden(), "the choice was for the other address");
  await context.close();
});

// --- deny --------------------------------------------------------------------------------------------------

for (const javaScriptEnabled of [true, false]) {
  await check(`Deny redirects the user back with access_denied, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const context = await person({ javaScriptEnabled });
    const { page, fields } = await arrive(context);
    if (javaScriptEnabled) await inState(page, "no-wallet");
    await page.locator('button[form="deny"]:visible').first().click();
    await page.waitForURL((url) => url.href.startsWith(clientPage), SLOW);
    const answer = new URL(page.url()).searchParams;
    assert.equal(answer.get("error"), "access_denied");
    assert.equal(answer.get("state"), fields.state);
    assert.equal(answer.get("iss"), BASE);
    assert.equal(answer.get("code"), null);
    await context.close();
  });
}

// --- redirects after a form, which Chromium checks with form-action ----------------------------------------

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "the script" : "the form";
  await check(`${how} reaches a client on the web, whose query is kept`, async () => {
    const key = Wallet.createRandom();
    const context = await person({ javaScriptEnabled });
    const visit = await arrive(context, { client: onTheWeb, redirectUri: onTheWeb.redirect_uris[0], scope: "profile" });
    if (javaScriptEnabled) await inState(visit.page, "no-wallet");
    await openManual(visit.page);
    await signByHand(visit.page, key);
    await visit.page.locator("#verify").click();
    await arrivedAs(visit, key.address);
    assert.equal(new URL(visit.page.url()).searchParams.get("kept"), "yes");
    await context.close();
  });

  await check(`${how} opens an application through its private-use scheme`, async () => {
    const key = Wallet.createRandom();
    const context = await person({ javaScriptEnabled });
    const visit = await arrive(context, { client: onDevice, redirectUri: onDevice.redirect_uris[0], scope: "profile" });
    const { page } = visit;
    const devtools = await context.newCDPSession(page);
    await devtools.send("Page.enable");
    const target = new Promise((found) => {
      devtools.on("Page.frameRequestedNavigation", ({ url }) => url.startsWith("com.example.photos:") && found(url));
    });
    if (javaScriptEnabled) await inState(page, "no-wallet");
    await openManual(page);
    await signByHand(page, key);
    await page.locator("#verify").click();
    const tooLate = new Promise((_, late) => setTimeout(() => late(new Error("no navigation to com.example.photos:")), SLOW.timeout));
    const url = new URL(await Promise.race([target, tooLate]));
    assert.equal(url.pathname, "/cb");
    assert.equal(url.searchParams.get("state"), visit.fields.state);
    assert.ok(url.searchParams.get("code"));
    await page.locator(`a[href^="com.example.photos:/cb?"]`).first().waitFor({ state: "attached", ...SLOW });
    await context.close();
  });
}

// --- what the page must withstand --------------------------------------------------------------------------

await check("B-020 the page cannot be framed, not even by a site whose requests carry its cookie", async () => {
  const context = await browser.newContext(); // A separate context, because the blocked frame is an expected CSP violation.
  const page = await context.newPage();
  const inner = authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile", state: "framed" }).href;
  const refusal = page.waitForEvent("console", { predicate: (message) => /frame-ancestors|X-Frame-Options|refused to display/i.test(message.text()), ...SLOW });
  await page.goto(`http://localhost:${new URL(clientOrigin).port}/?frame=${encodeURIComponent(inner)}`).catch(() => page.goto(`${clientOrigin}/?frame=${encodeURIComponent(inner)}`));
  await refusal;
  const frame = await (await page.waitForSelector("#inner")).contentFrame();
  assert.ok(!frame.url().startsWith(BASE), frame.url());
  assert.equal(await frame.locator("main").count(), 0);
  await context.close();
});

const hostile = JSON.parse(readFileSync(`${project}tests/vectors/oauth/client_metadata_hostile.json`, "utf8")).cases;

await check(`B-066 hostile names and URLs of clients are refused or shown as plain text (${hostile.length} rows)`, async () => {
  const wallet = new TestWallet();
  const context = await person({ wallet, eip6963: true });
  let shown = 0;
  for (const { field, value, expect } of hostile) {
    const answer = await request("POST", "/oauth/clients", {
      body: { client_name: "Photo Album", redirect_uris: ["http://127.0.0.1/cb"], [field]: value },
    });
    const row = `${field} ${JSON.stringify(value.slice(0, 60))}: ${answer.status} ${answer.text.slice(0, 200)}`;
    if (answer.status !== 201) {
      assert.equal(answer.status, 400, row);
      assert.equal(answer.json.error, "invalid_client_metadata", row);
      assert.ok(!/^accept(,|;|$)/.test(expect), `${row}, but expected: ${expect}`);
      continue;
    }
    assert.ok(!/^reject( |:|$)(?!or )/.test(expect), `${row}, but expected: ${expect}`);
    const { page } = await arrive(context, { client: answer.json, scope: "profile" });
    await inState(page, "ready");
    if (field === "client_name") {
      assert.equal(await page.locator("#heading bdi").textContent(), value.trim(), row);
      if (value.includes("<img")) await picture(page, "hostile-name");
    }
    assert.equal(await page.locator("main script, main iframe, main [onerror], main [onmouseover]").count(), 0, row);
    await page.locator("#wallet-list .wallet").click();
    await inState(page, "confirm");
    assert.ok(!(await page.locator("#text").textContent()).includes(value), `the name is not in the signed text: ${row}`);
    await page.close();
    shown += 1;
  }
  assert.ok(shown >= 7, `${shown} rows were shown`);
  await context.close();
});

await check("without a pending request there is an error page with status 400", async () => {
  const context = await person();
  const page = await context.newPage();
  const answer = await page.goto(`${BASE}/auth`);
  assert.equal(answer.status(), 400);
  await page.getByText("Missing or expired OAuth session").first().waitFor(SLOW);
  await picture(page, "session-gone");
  await context.close();
});

await check("an unknown client gets an error page without a link to its redirect URI", async () => {
  const context = await person();
  const page = await context.newPage();
  const unknown = { client_id: "00000000-0000-4000-8000-000000000000", redirect_uris: ["https://evil.example/cb"] };
  const answer = await page.goto(authorizeUrl(unknown, { state: "x" }).href);
  assert.equal(answer.status(), 400);
  await page.getByText("Invalid client_id").first().waitFor(SLOW);
  assert.equal(await page.locator('a[href*="evil.example"]').count(), 0);
  await picture(page, "bad-client");
  await context.close();
});

await check("B-065 the browser's Back after a sign-in returns no second code", async () => {
  const wallet = new TestWallet();
  const context = await person({ wallet, eip6963: true });
  const visit = await arrive(context);
  const { page } = visit;
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await arrivedAs(visit, wallet.key.address);
  await page.goBack();
  await page.getByText("Missing or expired OAuth session").first().waitFor(SLOW);
  await context.close();
});

await check("the page fits on a phone (320 points wide), also in dark mode", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const context = await person({ wallet: new TestWallet(), eip6963: true, colorScheme, viewport: { width: 320, height: 640 } });
    const { page } = await arrive(context);
    await inState(page, "ready");
    await page.locator("#wallet-list .wallet").click();
    await inState(page, "confirm");
    await picture(page, `narrow-${colorScheme}`);
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(content <= window, `${content} points in ${window}`);
    await context.close();
  }
});

await check("the home page and the API documentation load only from this server", async () => {
  const context = await person();
  const page = await context.newPage();
  assert.equal((await page.goto(`${BASE}/`, { waitUntil: "networkidle" })).status(), 200);
  await picture(page, "home");
  assert.equal((await page.goto(`${BASE}/docs`, { waitUntil: "networkidle" })).status(), 200);
  for (const path of ["/oauth/clients", "/oauth/authorize", "/oauth/token", "/oauth/userinfo", "/oauth/revoke"]) {
    await page.getByText(path).first().waitFor({ state: "attached", ...SLOW });
  }
  await picture(page, "docs");
  await context.close();
});

await close();
