// Leaving our pages, in Chromium: responses that the browser posts to the client (response_mode=form_post),
// with and without scripts, and the page that asks whether to sign out. axe-core checks each page.
// node answers.mjs http://localhost:8080          Screenshots go to target/screenshots/answers.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { judgeLooks } from "./axe.mjs";
import { BASE, authorizeUrl, check, exchange, register } from "./client.mjs";
import { SLOW, TestWallet, allowedHosts, close, confirmed, inState, person, picturesIn, textByHand } from "./people.mjs";

const picture = picturesIn("target/screenshots/answers");
const HOSTILE = `"><script>alert(1)</script>'&lt;;</form><base href=//evil.example>`;

// --- the client, which keeps what is posted to it ----------------------------------------------------------

const posts = [];
async function take(incoming, response) {
  let body = "";
  for await (const piece of incoming) body += piece;
  if (incoming.method === "POST") posts.push(Object.fromEntries(new URLSearchParams(body)));
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>Client</title><h1>The client application</h1>");
}
async function listen(host) {
  const site = createServer(take);
  await new Promise((done) => site.listen(0, host, done));
  const origin = `http://${host.includes(":") ? `[${host}]` : host}:${site.address().port}`;
  allowedHosts.add(new URL(origin).host);
  return { site, origin, page: `${origin}/cb` };
}
const sites = await Promise.all(["127.0.0.1", "::1"].map(listen));
const [here] = sites;
const goodbye = `${here.origin}/goodbye`;
const client = await register({
  client_name: "Photo <b>Album</b>", redirect_uris: sites.map((site) => site.page), post_logout_redirect_uris: [goodbye], scopes: ["openid", "profile"],
});

// --- steps -------------------------------------------------------------------------------------------------

let states = 0;

/** The client sends the user to the server and requests the response as a form post. */
async function arrive(context, { redirectUri = here.page, more = {}, mode = "form_post" } = {}) {
  const state = `${HOSTILE} ${(states += 1)}`;
  const page = await context.newPage();
  const url = authorizeUrl(client, { redirectUri, scope: "openid profile", state });
  for (const [name, value] of Object.entries({ response_mode: mode, ...more })) url.searchParams.set(name, value);
  await page.goto(url.href);
  return { page, client, fields: { redirect_uri: redirectUri, state } };
}

/** The user signs and is remembered, with the wallet or by hand. */
async function sign(page, wallet, javaScriptEnabled) {
  if (javaScriptEnabled) {
    await inState(page, "ready");
    await page.locator("#wallet-list .wallet").first().click();
    await confirmed(page);
    await page.locator("#remember").check();
    await page.locator("#sign").click();
    return;
  }
  await page.locator("#signature").fill(await wallet.key.signMessage(await textByHand(page, wallet.key.address)));
  await page.locator("#remember").check();
  await page.locator("#verify").click();
}

/** The fields that were posted to the client. None of them was ever in a URL. */
async function posted({ page, fields }) {
  await page.waitForURL(fields.redirect_uri, SLOW);
  const answer = posts.pop();
  assert.equal(answer.state, fields.state);
  assert.equal(answer.iss, BASE);
  return answer;
}

/** Checks a page: axe-core, wide and narrow, light and dark. */
const judge = (page, name) => judgeLooks(page, name, { widths: [320, 1280], height: 800, picture });

const browserOf = (wallet, javaScriptEnabled = true, more = {}) => person({ wallet: javaScriptEnabled ? wallet : undefined, eip6963: true, javaScriptEnabled, ...more });

// --- answers -----------------------------------------------------------------------------------------------

for (const javaScriptEnabled of [true, false]) {
  const how = `JavaScript ${javaScriptEnabled ? "on" : "off"}`;

  for (const site of sites) {
    await check(`a code is posted to ${site.origin.replace(/\d+$/, "…")}, ${how}`, async () => {
      const wallet = new TestWallet();
      const context = await browserOf(wallet, javaScriptEnabled);
      const visit = await arrive(context, { redirectUri: site.page });
      await sign(visit.page, wallet, javaScriptEnabled);
      if (!javaScriptEnabled) {
        await inState(visit.page, "form-post");
        await picture(visit.page, "form-post-no-js");
        await visit.page.locator("#continue").click();
      }
      const { code, ...rest } = await posted(visit);
      assert.deepEqual(Object.keys(rest), ["state", "iss"]);
      await exchange(visit, code);
      await context.close();
    });
  }

  await check(`an error and a Deny are posted too, and a hostile state stays text, ${how}`, async () => {
    const context = await browserOf(undefined, javaScriptEnabled);
    const refused = await arrive(context, { more: { prompt: "none" } });
    if (!javaScriptEnabled) await refused.page.locator("#continue").click();
    assert.equal((await posted(refused)).error, "login_required");
    const denied = await arrive(context);
    await denied.page.locator('button[form="deny"]:visible').first().click();
    if (!javaScriptEnabled) {
      await inState(denied.page, "form-post");
      await denied.page.locator("#continue").click();
    }
    assert.equal((await posted(denied)).error, "access_denied");
    await context.close();
  });
}

await check("the page that posts looks right if its script does not run", async () => {
  const context = await browserOf();
  await context.route(/\/assets\/form-post\..*\.js$/, (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  const { page } = await arrive(context, { more: { prompt: "none" } });
  await inState(page, "form-post");
  await judge(page, "form-post");
  await context.close();
});

// --- signing out -------------------------------------------------------------------------------------------

/** A user who is signed in, and the ID token that the client got. */
async function signedIn(javaScriptEnabled, more) {
  const wallet = new TestWallet();
  const context = await browserOf(wallet, javaScriptEnabled, more);
  const visit = await arrive(context, { mode: "query" });
  await sign(visit.page, wallet, javaScriptEnabled);
  await visit.page.waitForURL((url) => url.href.startsWith(here.page), SLOW);
  const tokens = await exchange(visit, new URL(visit.page.url()).searchParams.get("code"));
  return { context, page: visit.page, tokens };
}

const isRemembered = async (context) => (await context.cookies(BASE)).some(({ name }) => name.endsWith("countersign_login"));
const logoutUrl = (fields) => `${BASE}/oauth/logout?${new URLSearchParams({ post_logout_redirect_uri: goodbye, state: HOSTILE, ...fields })}`;

for (const javaScriptEnabled of [true, false]) {
  const how = `JavaScript ${javaScriptEnabled ? "on" : "off"}`;

  await check(`a page asks whether to sign out, and then leads back to the client, ${how}`, async () => {
    const { context, page } = await signedIn(javaScriptEnabled);
    await page.goto(logoutUrl({ client_id: client.client_id }));
    await inState(page, "sign-out");
    assert.equal(await page.locator("main b").count(), 0, "the client's name is text");
    if (javaScriptEnabled) await judge(page, "sign-out");
    else await picture(page, "sign-out-no-js");
    assert.ok(await isRemembered(context));
    await page.locator("#sign-out").click();
    await page.waitForURL((url) => url.href.startsWith(`${goodbye}?`), SLOW);
    assert.equal(new URL(page.url()).searchParams.get("state"), HOSTILE);
    assert.ok(!(await isRemembered(context)));
    await page.goto(logoutUrl({ client_id: client.client_id }));
    await inState(page, "signed-out");
    if (javaScriptEnabled) await judge(page, "signed-out");
    assert.equal(await page.locator("#continue").getAttribute("href"), `${goodbye}?${new URLSearchParams({ state: HOSTILE })}`);
    await context.close();
  });
}

await check("with a hint, a link and a form on the client's site sign the user out at once", async () => {
  for (const byForm of [false, true]) {
    const { context, page, tokens } = await signedIn(true);
    const url = logoutUrl({ id_token_hint: tokens.id_token });
    if (byForm) {
      await page.evaluate((target) => {
        const form = Object.assign(document.createElement("form"), { method: "post", action: target.split("?")[0] });
        for (const [name, value] of new URL(target).searchParams) form.append(Object.assign(document.createElement("input"), { name, value }));
        document.body.append(form);
        form.submit();
      }, url);
    } else {
      await page.goto(url);
    }
    await page.waitForURL((at) => at.href.startsWith(`${goodbye}?`), SLOW);
    assert.ok(!(await isRemembered(context)), byForm ? "by a form" : "by a link");
    await context.close();
  }
});

await check("right-to-left readers are asked in their language", async () => {
  const { context, page } = await signedIn(true);
  await page.goto(logoutUrl({ client_id: client.client_id, ui_locales: "ar" }));
  await inState(page, "sign-out");
  assert.equal(await page.locator("html").getAttribute("dir"), "rtl");
  await judge(page, "sign-out-ar");
  await context.close();
});

for (const { site } of sites) {
  site.close();
  site.closeAllConnections();
}
await close();
