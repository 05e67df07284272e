// Somebody whom an application does not let in, in Chromium, on a server that lets nobody in: the card on the
// page, made by the script and by the server, in eight languages, light and dark, from 320 points, with the
// keyboard, with axe-core; what the application and the device hear; and that nothing on it tells why.
// node turned-away.mjs http://localhost:8080 help@example.com     The server has default_access = nobody and this contact.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Wallet } from "ethers";
import { judgeLooks } from "./axe.mjs";
import { BASE, begin, challenge, check, login, refused, register, request } from "./client.mjs";
import { SLOW, TestWallet, arrive, clientPage, close, confirmed, inState, person, picturesIn, project, runsScripts, textByHand } from "./people.mjs";

const picture = picturesIn("target/screenshots/turned-away");
const CONTACT = process.argv[3];
const LANGUAGES = ["en", "de", "es", "fr", "pt-BR", "ja", "zh-CN", "ar"];
const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const texts = Object.fromEntries(LANGUAGES.map((language) => [language, JSON.parse(readFileSync(`${project}templates/locales/${language}/auth.json`, "utf8"))]));

// --- steps -------------------------------------------------------------------------------------------------

/** `scripted: false` is a browser that gets none of our scripts, so that axe-core can still run in its pages. */
async function visitor({ scripted = true, ...settings } = {}) {
  const context = await person({ viewport: { width: 1280, height: 900 }, ...settings });
  if (!scripted) await context.route(/\/assets\/[^/]*\.js$/, (route) => route.abort());
  return context;
}

async function inLanguage(page, language) {
  const address = new URL(page.url());
  address.searchParams.set("lang", language);
  await page.goto(address.href);
}

/** Signs with the wallet that the page found. */
async function signConnected(page) {
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  await confirmed(page);
  const [answer] = await Promise.all([page.waitForResponse(/\/oauth\/login$/), page.locator("#sign").click()]);
  return answer;
}

/** Signs by hand. Without scripts the server answers with the next page. */
async function signByHand(page, key) {
  await page.locator("#signature").fill(await key.signMessage(await textByHand(page, key.address)));
  const [answer] = await Promise.all([page.waitForResponse(/\/oauth\/login$/), page.locator("#verify").click()]);
  return answer;
}

const focused = (page, selector) => page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector, SLOW);
const cardOf = async (page) => (await page.locator("#not-admitted").innerText()).replace(/\s+/g, " ").replace(/\b[0-9a-f]{32}\b/, "REFERENCE").trim();

/** Every width, light and dark. With JavaScript off, axe-core cannot run, and the page only has to fit. */
async function look(page, name) {
  const widths = [320, 768, 1280];
  if (runsScripts(page)) {
    await judgeLooks(page, name, { widths, picture });
    return;
  }
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await picture(page, `${name}-${width}`);
    const content = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(content <= width, `${name}: ${content} points in ${width}`);
  }
}

/** The client has heard that the person was not let in, as if they had pressed Deny. */
async function heardDenied({ page, fields }) {
  await page.waitForURL((url) => url.href.startsWith(clientPage), SLOW);
  const heard = new URL(page.url()).searchParams;
  assert.deepEqual([heard.get("error"), heard.get("state"), heard.get("iss"), heard.get("code")], ["access_denied", fields.state, BASE, null]);
}

// --- the card ----------------------------------------------------------------------------------------------

const cards = {};

for (const language of LANGUAGES) {
  await check(`${language}: with scripts and without, the card says the same in this language only`, async () => {
    const said = texts[language];
    for (const scripted of [true, false]) {
      const wallet = new TestWallet();
      const context = await visitor({ scripted, eip6963: true, wallet });
      const visit = await arrive(context);
      const { page } = visit;
      await inLanguage(page, language);
      const answer = await (scripted ? signConnected(page) : signByHand(page, wallet.key));
      assert.equal(answer.status(), 403);
      await inState(page, "not-admitted");
      await focused(page, "#not-admitted-heading");
      const { address } = wallet.key;
      assert.equal(await page.locator("#not-admitted h1").textContent(), said.not_admitted.replace("{client}", "Photo Album"));
      assert.equal(await page.locator('[data-part="account"]').textContent(), address);
      assert.equal(await page.locator('[data-part="short"]').textContent(), `${address.slice(0, 6)}…${address.slice(-4)}`);
      assert.equal(await page.locator('[data-part="reference"]').textContent(), answer.headers()["x-request-id"]);
      assert.equal(await page.locator("#contact a").getAttribute("href"), CONTACT.includes("@") ? `mailto:${CONTACT}` : CONTACT);
      assert.equal(await page.locator("#contact").innerText(), `${said.ask} ${CONTACT}`);
      assert.equal(await page.locator("html").getAttribute("dir"), language === "ar" ? "rtl" : "ltr");
      assert.ok((await page.title()).startsWith(`${said.script.title_not_admitted} - `), await page.title());
      assert.equal(await page.locator("main section:visible, main details:visible").count(), 1, "nothing else is there");
      await look(page, `${language}${scripted ? "" : "-by-server"}`);
      const card = (await cardOf(page)).replaceAll(address, "ADDRESS").replaceAll(`${address.slice(0, 6)}…${address.slice(-4)}`, "SHORT");
      cards[language] ??= card;
      assert.equal(card, cards[language], "the server and the script write one card");
      await page.locator("#leave").click();
      await heardDenied(visit);
      await context.close();
    }
  });
}

await check("no two languages have the same card", () => assert.equal(new Set(Object.values(cards)).size, LANGUAGES.length));

await check("with the keyboard: whom to ask, the way back, another wallet, in this order", async () => {
  const context = await visitor({ eip6963: true, wallet: new TestWallet() });
  const visit = await arrive(context);
  await signConnected(visit.page);
  for (const next of ["#not-admitted-heading", "#contact a", "#leave", "#other-wallet"]) {
    await focused(visit.page, next);
    await visit.page.keyboard.press("Tab");
  }
  await visit.page.locator("#leave").focus();
  await visit.page.keyboard.press("Enter");
  await heardDenied(visit);
  await context.close();
});

for (const javaScriptEnabled of [true, false]) {
  await check(`another wallet can sign for the same request, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const context = await visitor({ javaScriptEnabled });
    const visit = await arrive(context);
    const { page } = visit;
    for (const key of [Wallet.createRandom(), Wallet.createRandom()]) {
      await signByHand(page, key);
      await inState(page, "not-admitted");
      assert.equal(await page.locator('[data-part="account"]').textContent(), key.address);
      await page.locator("#other-wallet").click();
      await page.waitForURL((url) => url.pathname.endsWith("/auth") && url.searchParams.has("request"), SLOW);
    }
    await context.close();
  });
}

for (const javaScriptEnabled of [true, false]) {
  await check(`a device whose person is not let in is denied by the button, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const client = await register({ client_name: "Photo Frame", redirect_uris: [], grant_types: [DEVICE_CODE], response_types: [], token_endpoint_auth_method: "none" });
    const waiting = await request("POST", "/oauth/device_authorization", { body: new URLSearchParams({ client_id: client.client_id, scope: "profile" }) });
    assert.equal(waiting.status, 200, waiting.text);
    const context = await visitor({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`${BASE}/device?user_code=${waiting.json.user_code}`);
    await page.locator("#go-on").click();
    await signByHand(page, Wallet.createRandom());
    await inState(page, "not-admitted");
    assert.equal(await page.locator("#leave").textContent(), texts.en.cancel);
    await look(page, `device${javaScriptEnabled ? "" : "-no-js"}`);
    await page.locator("#leave").click();
    await inState(page, "device-denied");
    const poll = await request("POST", "/oauth/token", { body: new URLSearchParams({ grant_type: DEVICE_CODE, device_code: waiting.json.device_code, client_id: client.client_id }) });
    refused(poll, 400, "access_denied", /./);
    await context.close();
  });
}

// --- what it does not tell ---------------------------------------------------------------------------------

/** Hands in a signature as a form without scripts does. */
async function handIn(visit, key) {
  const issued = await challenge(visit, key.address);
  const signature = await key.signMessage(issued.challenge);
  const body = new URLSearchParams({ wallet_address: key.address, challenge: issued.challenge, signature, ...visit.fields });
  return request("POST", "/oauth/login", { cookies: visit.cookies, headers: { accept: "text/html" }, body });
}

await check("two wallets get the same bytes, but for the wallet and the request id", async () => {
  const visit = await begin(await register());
  const [one, other] = await Promise.all([0, 1].map(async () => {
    const key = Wallet.createRandom();
    const answer = await handIn(visit, key);
    assert.equal(answer.status, 403, answer.text);
    const { address } = key;
    const id = answer.headers.get("x-request-id");
    assert.ok(answer.text.includes(address) && answer.text.includes(id));
    const body = answer.text.replaceAll(address, "ADDRESS").replaceAll(`${address.slice(0, 6)}…${address.slice(-4)}`, "SHORT").replaceAll(id, "ID");
    const headers = [...answer.headers].filter(([name]) => !["x-request-id", "date", "set-cookie"].includes(name));
    return { body, headers };
  }));
  assert.deepEqual(one, other);
  assert.doesNotMatch(one.body.replace(/<[^>]*>/g, " "), /block|group|member/i, "nothing that people read tells why");
});

await check("the page is sent like the sign-in page: framed by nobody, kept by nobody, with no script or style of its own", async () => {
  const visit = await begin(await register());
  const page = await request("GET", "/auth", { cookies: visit.cookies });
  const answer = await handIn(visit, Wallet.createRandom());
  const names = ["content-security-policy", "cache-control", "x-frame-options", "x-content-type-options", "referrer-policy", "permissions-policy", "cross-origin-resource-policy", "content-type"];
  const of = ({ headers }) => names.map((name) => [name, headers.get(name)]);
  assert.deepEqual(of(answer), of(page));
  assert.match(answer.headers.get("content-security-policy"), /frame-ancestors 'none'/);
  assert.match(answer.headers.get("cache-control"), /no-store/);
});

await check("a script gets 403 access_denied as JSON, and no redirect", async () => {
  const visit = await begin(await register());
  const key = Wallet.createRandom();
  const issued = await challenge(visit, key.address);
  const answer = await login(visit, { address: key.address, text: issued.challenge, signature: await key.signMessage(issued.challenge) });
  refused(answer, 403, "access_denied", "the application does not admit this wallet");
});

await check("a wrong signature is told as ever, not that the wallet is not let in", async () => {
  const visit = await begin(await register());
  const key = Wallet.createRandom();
  const issued = await challenge(visit, key.address);
  const answer = await login(visit, { address: key.address, text: issued.challenge, signature: `0x${"11".repeat(65)}` });
  refused(answer, 401, "access_denied", "Failed to verify signature");
});

await close();
