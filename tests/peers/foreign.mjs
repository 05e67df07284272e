// Attacks by other sites on a signed-in user, in Chromium: forms, scripts, frames, frames without an origin,
// and our own page that posts responses. The browser has both cookies; requests from a site on another port
// of the same host even carry them (F-02, A-056, B-056, B-063). What HTTP alone can show is in
// tests/e2e/own_pages.rs.
// node foreign.mjs http://localhost:8080

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { BASE, authorizeUrl, check, finish, register } from "./client.mjs";
import { SLOW, TestWallet, browser, loopback, clientPage } from "./people.mjs";

const ACCOUNT = "00000000-0000-0000-0000-000000000000";
const OURS = new URL(BASE).origin;

// --- the other sites ---------------------------------------------------------------------------------------

/** A site that shows an empty page. Its scripts do the rest. */
async function site(host) {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><h1>Another site</h1>");
  });
  await new Promise((done) => server.listen(0, done));
  return `http://${host}:${server.address().port}`;
}
const evil = await site("127.0.0.1"); // A different site from localhost.
const sibling = await site("localhost"); // The same site, so SameSite cookies are sent.

// --- the user ----------------------------------------------------------------------------------------------

/** Signs the text of the pending request, as the page does. */
async function sign(context, wallet, named, more = {}) {
  const asked = await context.request.post(`${BASE}/oauth/challenge`, { data: { ...named, wallet_address: wallet.key.address } });
  assert.equal(asked.status(), 200, await asked.text());
  const { challenge } = await asked.json();
  const signed = { ...named, ...more, wallet_address: wallet.key.address, challenge, signature: await wallet.key.signMessage(challenge) };
  const done = await context.request.post(`${BASE}/oauth/login`, { data: signed, headers: { accept: "application/json" } });
  assert.equal(done.status(), 200, await done.text());
}

const context = await browser.newContext();
context.setDefaultTimeout(SLOW.timeout);
const wallet = new TestWallet();
let states = 0;

/** A client sends the user here; returns the fields that identify the request. */
async function begin() {
  states += 1;
  const state = `foreign ${states}`;
  const url = authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile email", state });
  const page = await context.newPage();
  await page.goto(url.href);
  const address = page.url();
  await page.close();
  return { address, named: { client_id: loopback.client_id, redirect_uri: clientPage, state } };
}

await sign(context, wallet, (await begin()).named, { remember: true, email: "ann@example.com" });
{
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  assert.equal(await page.locator("main").getAttribute("data-state"), "account");
  await page.close();
}
const waiting = await begin();
const cookies = (await context.cookies(BASE)).map(({ name }) => name);
assert.ok(cookies.includes("oauth_session") && cookies.includes("countersign_login"), `both cookies: ${cookies}`);

/** Everything that could have changed. */
async function standing() {
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  const at = async (selector) => page.locator(selector).count();
  const account = {
    user: await page.locator("#user").textContent(), email: await page.locator("#email-address").textContent(),
    apps: await at("[data-client]"), sessions: await at("[data-session]"),
  };
  await page.goto(waiting.address);
  const request = await page.locator("main").getAttribute("data-state");
  await page.close();
  return { ...account, request, cookies: (await context.cookies(BASE)).find(({ name }) => name === "countersign_login")?.value };
}

const before = await standing();
assert.equal(before.request, "remembered");

// --- what is tried -----------------------------------------------------------------------------------------

const account = `eip155:1:${wallet.key.address}`;
const CHANGES = [
  ["/oauth/continue", { ...waiting.named, wallet_account: account }],
  ["/oauth/deny", waiting.named],
  ["/oauth/logout", { confirm: "yes" }],
  ["/device", { user_code: "BCDF-GHJK" }],
  ["/account/sign-in", {}],
  ["/account/apps/revoke", { client_id: loopback.client_id }],
  ["/account/sessions/end", { session: "all" }],
  ["/account/email", { email: "eve@example.com" }],
  ["/account/email/remove", {}],
  ["/account/email/confirm", { token: "A".repeat(64) }],
  ["/account/data", {}],
  ["/account/delete", { confirm: "yes" }],
  ["/account/wallets/challenge", { change: "unlink", wallet_address: account, other_wallet_address: account }],
  ["/account/wallets/link", { challenge: "x", signature: "y", other_challenge: "x", other_signature: "y" }],
  ["/account/wallets/unlink", { challenge: "x", signature: "y" }],
  ["/account/wallets/rename", { wallet_account: account, kind: "key", name: "Evil" }],
];

/** Ways to make a browser post, each a function that runs on a page of another site. */
const WAYS = {
  "a form in a frame": ([url, fields]) => {
    const frame = Object.assign(document.createElement("iframe"), { name: `frame ${Math.random()}` });
    const form = Object.assign(document.createElement("form"), { method: "post", action: url, target: frame.name });
    for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(frame, form);
    form.submit();
  },
  "a fetch of a form": ([url, fields]) => {
    fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams(fields) }).catch(() => {});
  },
  "a fetch of JSON as text": ([url, fields]) => {
    fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify(fields) }).catch(() => {});
  },
  "a frame without an origin": ([url, fields]) => {
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts allow-forms";
    frame.srcdoc = `<form method="post" action="${url}">${inputs}</form><script>document.forms[0].submit()<` + "/script>";
    document.body.append(frame);
  },
  "a page in its own address": ([url, fields]) => {
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
    const frame = document.createElement("iframe");
    frame.src = `data:text/html,${encodeURIComponent(`<form method="post" action="${url}">${inputs}</form><script>document.forms[0].submit()<` + "/script>")}`;
    document.body.append(frame);
  },
};

/**
 * The browser hides the requests of frames without an origin, but logs in its console that they were refused.
 */
const UNSEEN = new Set(["a frame without an origin", "a page in its own address"]);

async function refusedUnseen(page, way) {
  let refused = 0;
  const wanted = CHANGES.length - 1; // All except the form that is redirected to the page that asks.
  const all = new Promise((done) => {
    page.on("console", (message) => {
      if (!/status of 403/.test(message.text())) return;
      refused += 1;
      if (refused >= wanted) done();
    });
  });
  for (const [path, fields] of CHANGES) await page.evaluate(way, [`${BASE}${path}`, fields]);
  await Promise.race([all, new Promise((done) => setTimeout(done, SLOW.timeout))]);
  await page.close();
  tried += CHANGES.length;
  withoutOrigin += Math.min(refused, CHANGES.length);
  assert.ok(refused >= wanted, `${refused} of ${wanted} were refused`);
}

let tried = 0;
let withCookies = 0;
let withoutOrigin = 0;

for (const [where, from] of [["another site", evil], ["a sibling of ours", sibling]]) {
  for (const [how, way] of Object.entries(WAYS)) {
    await check(`F-02 ${how} of ${where} changes nothing`, async () => {
      const page = await context.newPage();
      await page.goto(from);
      if (UNSEEN.has(how)) {
        await refusedUnseen(page, way);
        assert.deepEqual(await standing(), before);
        return;
      }
      const answers = CHANGES.map(([path]) =>
        page.waitForResponse((answer) => answer.request().method() === "POST" && new URL(answer.url()).pathname === path, SLOW));
      for (const [path, fields] of CHANGES) await page.evaluate(way, [`${BASE}${path}`, fields]);
      for (const [index, answered] of answers.entries()) {
        const answer = await answered;
        const headers = await answer.request().allHeaders();
        tried += 1;
        withCookies += headers.cookie ? 1 : 0;
        withoutOrigin += headers.origin === "null" ? 1 : 0;
        const [path] = CHANGES[index];
        // Clients also use forms to sign users out. A form that is not from our own page is redirected to the
        // page that asks.
        const expected = path === "/oauth/logout" ? [200, 303, 403] : [400, 403];
        assert.ok(expected.includes(answer.status()), `${path}: ${answer.status()}`);
      }
      await page.close();
      assert.deepEqual(await standing(), before);
    });
  }
}

await check("F-02 a form of a sibling at the top level, with both cookies, changes nothing", async () => {
  for (const [path, fields] of CHANGES) {
    const page = await context.newPage();
    await page.goto(sibling);
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST", SLOW);
    await page.evaluate(([url, all]) => {
      const form = Object.assign(document.createElement("form"), { method: "post", action: url });
      for (const [name, value] of Object.entries(all)) form.append(Object.assign(document.createElement("input"), { name, value }));
      document.body.append(form);
      form.submit();
    }, [`${BASE}${path}`, fields]);
    const answer = await answered;
    const { cookie = "" } = await answer.request().allHeaders();
    tried += 1;
    assert.ok(cookie.includes("countersign_login=") && cookie.includes("oauth_session="), `${path}: ${cookie.length}`);
    assert.equal(answer.status(), 403, path);
    await page.close();
  }
  assert.deepEqual(await standing(), before);
});

await check("F-02 our own page that posts answers cannot be made to post to ourselves", async () => {
  const port = new URL(BASE).port;
  for (const path of ["/account/email/remove", "/oauth/continue", "/account/delete"]) {
    await assert.rejects(register({ client_name: "Ours", redirect_uris: [`${BASE}${path}`] }), path);
    const client = await register({ client_name: "Any port", redirect_uris: [`http://127.0.0.1${path}`], scopes: ["profile"] });
    const page = await context.newPage();
    const posts = [];
    page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
    for (const scope of ["profile", "nonsense"]) {
      const url = authorizeUrl(client, { redirectUri: `http://127.0.0.1:${port}${path}`, scope, state: "x" });
      url.searchParams.set("response_mode", "form_post");
      const answer = await page.goto(url.href);
      tried += 1;
      assert.equal(answer.status(), 400, url.href);
    }
    assert.deepEqual(posts, []);
    await page.close();
  }
  assert.deepEqual(await standing(), before);
});

// --- our own pages still work ------------------------------------------------------------------------------

await check("our own forms carry their origin, also after Back and in two tabs", async () => {
  const [one, two] = [await context.newPage(), await context.newPage()];
  await one.goto(`${BASE}/account`);
  await two.goto(`${BASE}/account`);
  await one.goto(`${BASE}/verify`);
  await one.goBack();
  for (const [page, selector] of [[one, "[data-client] button"], [two, "#remove-email"]]) {
    const posted = page.waitForRequest((request) => request.method() === "POST", SLOW);
    await page.locator("details:has([data-client]) > summary").evaluateAll((rows) => rows.forEach((row) => (row.parentElement.open = true)));
    await page.locator(selector).click();
    const request = await posted;
    assert.equal((await request.allHeaders()).origin, OURS, "the page's referrer policy is same-origin");
    assert.equal((await request.response()).status(), 303);
    await page.waitForURL(/done=/, SLOW);
  }
  assert.equal(await two.locator("[data-client]").count(), 0);
  assert.equal(await two.locator("#email-address").count(), 0);
});

await check("the Deny button answers the request that was pending all the time", async () => {
  const page = await context.newPage();
  await page.goto(waiting.address);
  await page.locator('button[form="deny"]:visible').first().click();
  await page.waitForURL((url) => url.href.startsWith(clientPage), SLOW);
  assert.match(page.url(), /error=access_denied/);
});

console.log(`${tried} requests of other sites, ${withCookies} with cookies, ${withoutOrigin} without an origin`);
assert.ok(withCookies > 0 && withoutOrigin > 0);
await browser.close();
finish();
