// People whom an operator invites, in Chromium: the link, the sign-in page that says what is accepted, and the account, in eight
// languages, light and dark, from 320 points, with axe-core; with scripts and without, on a phone and a laptop; with the
// clicks and the seconds that it takes from the link to the application.
// node invitations.mjs http://localhost:8080 BINARY DATABASE ADMIN ADMIN_KEY

import assert from "node:assert/strict";
import { judgeLooks } from "./axe.mjs";
import { BASE, authorizeUrl, check, codeOf, exchange, userinfo } from "./client.mjs";
import { manage } from "./desk-changes.mjs";
import { SLOW, TestWallet, clientPage, close, confirmed, inState, person, picturesIn, runsScripts, textByHand } from "./people.mjs";

const picture = picturesIn("target/screenshots/invitations");
const HOME = "https://client.example/";
const LANGUAGES = ["en", "de", "es", "fr", "pt-BR", "ja", "zh-CN", "ar"];
const PHONE = { viewport: { width: 390, height: 844 }, phone: true };
const LAPTOP = { viewport: { width: 1280, height: 800 } };

await manage("POST", "/groups", { name: "family" });
const shop = await manage("POST", "/clients", {
  client_name: "Photo Album", redirect_uris: [clientPage], client_uri: HOME, scope: "openid profile groups",
});
await manage("PUT", `/clients/${shop.client_id}/access`, { rule: "groups:family", release: "all" });
const shopOnly = { client_id: shop.client_id };
const invite = (more = {}) => manage("POST", "/invitations", { group: "family", from: "The Millers", ...more });

const visitor = (settings = {}) => person({ eip6963: true, ...settings });

async function look(page, name) {
  if (runsScripts(page)) await judgeLooks(page, name, { widths: [320, 768, 1280], picture });
}

let states = 0;

/** The application sends the person to the server, as its button does. */
async function toSignIn(page) {
  const state = `invited-${(states += 1)}`;
  await page.goto(authorizeUrl(shop, { redirectUri: clientPage, scope: "openid profile groups", state }).href);
  return { page, client: shop, fields: { client_id: shop.client_id, redirect_uri: clientPage, state } };
}

/** Signs with the wallet in the browser, or by hand if there are no scripts. Returns the number of clicks. */
async function sign(page, wallet, scripted) {
  if (scripted) {
    await inState(page, "ready");
    await page.locator("#wallet-list .wallet").click();
    await confirmed(page);
    assert.match(await page.locator("#text, .exact pre").first().textContent(), /Join the group family by invitation\./);
    await page.locator("#sign").click();
    return 2;
  }
  const text = await textByHand(page, wallet.key.address);
  assert.match(text, /Join the group family by invitation\./);
  await page.locator("#signature").fill(await wallet.key.signMessage(text));
  await page.locator("#verify").click();
  return 2;
}

for (const [device, settings] of [["a phone", PHONE], ["a laptop", LAPTOP]]) {
  for (const scripted of [true, false]) {
    await check(`on ${device}, ${scripted ? "with" : "without"} scripts, one signature leads from the link to the application`, async () => {
      const invitation = await invite({ ...shopOnly, name: "Ann" });
      const wallet = new TestWallet();
      const context = await visitor({ ...settings, wallet, javaScriptEnabled: scripted });
      const page = await context.newPage();
      const began = Date.now();
      await page.goto(invitation.link);
      assert.match(await page.locator("main").innerText(), /Invitation from The Millers[^]*family[^]*Photo Album[^]*Ann/);
      await page.locator("#go-on").click();
      await page.waitForURL(HOME, SLOW);
      const visit = await toSignIn(page);
      await page.locator("#invitation").waitFor(SLOW);
      const clicks = 1 + (await sign(page, wallet, scripted));
      await page.waitForURL((url) => url.href.startsWith(clientPage), SLOW);
      const seconds = (Date.now() - began) / 1000;
      const user = await userinfo(await exchange(visit, codeOf(page.url(), visit)));
      assert.deepEqual(user.groups, ["family"]);
      assert.equal((await manage("GET", `/invitations/${invitation.id}`)).wallets[0].name, "Ann");
      console.log(`        ${clicks} clicks and one signature, ${seconds.toFixed(1)} s`);
      assert.ok(clicks <= 3, `${clicks} clicks`);
      await context.close();
    });
  }
}

await check("without an application, the link leads to the account, which says who invited", async () => {
  const invitation = await invite();
  const wallet = new TestWallet();
  const context = await visitor({ ...LAPTOP, wallet });
  const page = await context.newPage();
  await page.goto(invitation.link);
  assert.equal(new URL(page.url()).pathname, "/auth");
  assert.ok(!page.url().includes(invitation.link.split("/").at(-1)), "the address does not have the link");
  await sign(page, wallet, true);
  await page.waitForURL((url) => url.pathname === "/account", SLOW);
  assert.match(await page.locator("#came-by").innerText(), /The Millers[^]*family/);
  await look(page, "account");
  await context.close();
});

await check("people who do not want it sign in without it", async () => {
  const invitation = await invite(shopOnly);
  const context = await visitor({ ...LAPTOP, wallet: new TestWallet() });
  const page = await context.newPage();
  await page.goto(invitation.link);
  await toSignIn(page);
  await page.locator("#uninvited").click();
  await inState(page, "ready");
  assert.equal(await page.locator("#invitation").count(), 0);
  assert.equal((await manage("GET", `/invitations/${invitation.id}`)).used, 0);
  await context.close();
});

await check("an invitation that ended before the signature is said to be over, and the person goes on without it", async () => {
  for (const scripted of [true, false]) {
    const invitation = await invite();
    const wallet = new TestWallet();
    const context = await visitor({ ...LAPTOP, wallet, javaScriptEnabled: scripted });
    const page = await context.newPage();
    await page.goto(invitation.link);
    if (scripted) await inState(page, "ready");
    await manage("DELETE", `/invitations/${invitation.id}`);
    await sign(page, wallet, scripted);
    if (scripted) await page.locator("#invitation.warning").waitFor(SLOW);
    else await page.locator("#notice").waitFor(SLOW);
    assert.match(await page.locator("main").innerText(), /no longer valid/);
    await page.locator("#uninvited").click();
    await page.waitForURL((url) => url.pathname === "/auth", SLOW);
    assert.equal(await page.locator("#invitation").count(), 0);
    await context.close();
  }
});

for (const language of LANGUAGES) {
  await check(`${language}: every page of an invitation is in this language only, and axe-core finds nothing wrong`, async () => {
    const context = await visitor({ wallet: new TestWallet() });
    const page = await context.newPage();
    const [open, ended] = [await invite({ ...shopOnly, name: "Ann" }), await invite(shopOnly)];
    await manage("DELETE", `/invitations/${ended.id}`);
    const go = (address) => page.goto(`${address}?lang=${language}`);
    await go(ended.link);
    assert.equal(await page.locator("html").getAttribute("lang"), language);
    await look(page, `${language}-ended`);
    await go(`${BASE}/join/${"x".repeat(43)}`);
    await look(page, `${language}-unknown`);
    await go(open.link);
    await look(page, `${language}-join`);
    await toSignIn(page);
    await page.goto(`${BASE}/auth?lang=${language}`);
    await inState(page, "ready");
    await look(page, `${language}-sign-in`);
    await context.close();
  });
}

await close();
