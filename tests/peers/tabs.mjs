// Deny, Back, reload, two tabs, a second browser, another site: nothing is lost and nothing leaks (B-055 to
// B-070). What HTTP alone can show is in tests/e2e/security/login_sessions.rs. Here is what needs a browser,
// Chromium.
// node tabs.mjs http://localhost:8080

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BASE, authorizeUrl, check, codeOf, exchange, register, request, userinfo } from "./client.mjs";
import {
  SLOW, TestWallet, allowedHosts, arrive, arrivedAs, browser, clientOrigin, clientPage, close, confirmed, inState, loopback, onDevice,
  person, project, severalAtOnce, textByHand,
} from "./people.mjs";

const OVER = "Missing or expired OAuth session";

// --- a client on the web, with a self-signed certificate ---------------------------------------------------

const folder = mkdtempSync(join(tmpdir(), "countersign-tabs-"));
const pem = (name) => join(folder, `${name}.pem`);
execFileSync("openssl", [
  "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
  "-keyout", pem("key"), "-out", pem("certificate"),
], { stdio: "pipe" });
const webSite = createServer({ key: readFileSync(pem("key")), cert: readFileSync(pem("certificate")) }, (_, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><h1>The client application</h1>");
});
rmSync(folder, { recursive: true });
await new Promise((done) => webSite.listen(0, "127.0.0.1", done));
const webPage = `https://localhost:${webSite.address().port}/cb`;
allowedHosts.add(new URL(webPage).host);
const onHttps = await register({ client_name: "Web Album", redirect_uris: [webPage], scopes: ["profile", "email"] });
const second = await register({ client_name: "Music Box", redirect_uris: ["http://127.0.0.1/music"], scopes: ["profile", "email"] });
const secondPage = `${clientOrigin}/music`;

// --- steps -------------------------------------------------------------------------------------------------

const SCRIPTS = [true, false];
const how = (javaScriptEnabled) => (javaScriptEnabled ? "with the script" : "with forms only");

const scenes = [];

/** A check with its own browsers. */
function scene(claim, body) {
  scenes.push(() => check(claim, body));
}

/** A browser that records every redirect to a client: the whole URLs, with codes and errors. */
async function browsing(settings = {}) {
  const context = await person({ eip6963: true, ignoreHTTPSErrors: true, ...settings });
  const answers = [];
  context.on("request", (made) => {
    if (made.isNavigationRequest() && /[?&](code|error)=/.test(made.url()) && !made.url().startsWith(BASE)) answers.push(made.url());
  });
  return { context, answers };
}

/** Signs on the page: with the wallet, or by copying if there are no scripts. */
async function sign(page, wallet, { javaScriptEnabled = true, remember = true } = {}) {
  if (javaScriptEnabled) {
    await page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();
    await confirmed(page);
    await page.locator("#remember").setChecked(remember);
    return page.locator("#sign").click();
  }
  await page.locator("#signature").fill(await wallet.key.signMessage(await textByHand(page, wallet.key.address)));
  await page.locator("#remember").setChecked(remember);
  return page.locator("#verify").click();
}

/** The browser remembers the user, who has allowed this client. */
async function remembered(context, wallet, settings, options) {
  const visit = await arrive(context, options);
  await sign(visit.page, wallet, settings);
  await visit.page.waitForURL((url) => url.href.startsWith(visit.fields.redirect_uri), SLOW);
  await visit.page.close();
}

const pressDeny = (page) => page.locator('button[form="deny"]:visible').first().click();
const atClient = (visit) => visit.page.waitForURL((url) => url.href.startsWith(visit.fields.redirect_uri), SLOW);
const codesIn = (answers) => answers.filter((address) => new URL(address).searchParams.has("code"));

/** The page says that the request is over, and has no buttons. */
async function saysOver(page) {
  await page.getByText(OVER).first().waitFor(SLOW);
  assert.equal(await page.locator("#sign:visible, #continue:visible, #verify:visible, #deny").count(), 0);
}

// --- two tabs ----------------------------------------------------------------------------------------------

scene("a tab that is reloaded still shows its own request, whatever other tabs started", async () => {
  const { context } = await browsing({ wallet: new TestWallet() });
  const one = await arrive(context);
  const two = await arrive(context, { client: second, redirectUri: secondPage });
  for (const [{ page }, name] of [[one, "Photo Album"], [two, "Music Box"]]) {
    await page.reload();
    assert.match(await page.locator("#heading").innerText(), new RegExp(`^${name} `), name);
  }
  await context.close();
});

for (const javaScriptEnabled of SCRIPTS) {
  scene(`two tabs with two requests each finish with their own state, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context } = await browsing({ wallet, javaScriptEnabled });
    const one = await arrive(context);
    const two = await arrive(context, { client: second, redirectUri: secondPage });
    for (const visit of [two, one]) {
      await visit.page.bringToFront();
      await sign(visit.page, wallet, { javaScriptEnabled, remember: false });
      await arrivedAs(visit, wallet.key.address);
    }
    await context.close();
  });

  scene(`a second tab with the same request: one code, and the other tab says so, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context, answers } = await browsing({ wallet, javaScriptEnabled });
    await remembered(context, wallet, { javaScriptEnabled });
    for (const finish of ["#continue", "deny"]) {
      answers.length = 0;
      const visit = await arrive(context);
      const other = await context.newPage();
      await other.goto(visit.page.url());
      await inState(other, "remembered");
      await (finish === "deny" ? pressDeny(visit.page) : visit.page.locator(finish).click());
      await atClient(visit);
      if (javaScriptEnabled) {
        await inState(other, "other-tab");
        await other.getByText(finish === "deny" ? "You denied this request in another tab." : "You finished signing in in another tab.").waitFor(SLOW);
        await other.reload();
      } else {
        await other.locator("#continue").click();
      }
      await saysOver(other);
      assert.equal(answers.length, 1, `${finish}: ${answers.join(" ")}`);
      await other.close();
    }
    await context.close();
  });

  scene(`after signing out in one tab, Continue in the other shows the whole page, returns no code and loses no request, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context, answers } = await browsing({ wallet, javaScriptEnabled });
    await remembered(context, wallet, { javaScriptEnabled });
    const visit = await arrive(context);
    await inState(visit.page, "remembered");
    const account = await context.newPage();
    await account.goto(`${BASE}/account`);
    await account.locator("#sign-out").click();
    await inState(account, "signed-out");
    answers.length = 0;
    await visit.page.locator("#continue").click();
    await visit.page.locator("#manual").waitFor({ state: "attached", ...SLOW });
    assert.deepEqual(answers, [], "no code");
    assert.match(await visit.page.locator("#heading").innerText(), /^Photo Album /);
    await sign(visit.page, wallet, { javaScriptEnabled });
    await arrivedAs(visit, wallet.key.address);
    await context.close();
  });

  scene(`another user signed in in another tab: a page that names one account does not continue as the other, ${how(javaScriptEnabled)}`, async () => {
    const [ann, bob] = [new TestWallet({ name: "Wallet of Ann" }), new TestWallet({ name: "Wallet of Bob" })];
    const { context, answers } = await browsing({ wallets: [ann, bob], javaScriptEnabled });
    await remembered(context, ann, { javaScriptEnabled });
    const visit = await arrive(context);
    await inState(visit.page, "remembered");
    assert.match((await visit.page.locator("#account").innerText()).replaceAll(/\s/g, ""), new RegExp(ann.key.address));
    const other = await arrive(context);
    await other.page.locator("#another").click();
    await sign(other.page, bob, { javaScriptEnabled });
    await arrivedAs(other, bob.key.address);
    answers.length = 0;
    await visit.page.locator("#continue").click();
    await visit.page.waitForTimeout(1500);
    const [code] = codesIn(answers).map((address) => codeOf(address, visit));
    const who = code && (await userinfo(await exchange(visit, code))).address;
    assert.notEqual(who, bob.key.address, `the page offered to continue as ${ann.key.address}`);
    await context.close();
  });
}

// --- back and reload ---------------------------------------------------------------------------------------

for (const javaScriptEnabled of SCRIPTS) {
  for (const [name, isKnown] of [["Sign", false], ["Continue", true], ["Deny", false], ["Deny by a remembered user", true]]) {
    scene(`B-065 after ${name}, Back and reload say that it is over and give no second response, ${how(javaScriptEnabled)}`, async () => {
      const wallet = new TestWallet();
      const { context, answers } = await browsing({ wallet, javaScriptEnabled });
      if (isKnown) await remembered(context, wallet, { javaScriptEnabled });
      answers.length = 0;
      const visit = await arrive(context);
      const { page } = visit;
      if (isKnown) await inState(page, "remembered");
      if (name.startsWith("Deny")) await pressDeny(page);
      else if (isKnown) await page.locator("#continue").click();
      else await sign(page, wallet, { javaScriptEnabled });
      await atClient(visit);
      const wanted = name.startsWith("Deny") ? "error" : "code";
      assert.ok(new URL(page.url()).searchParams.has(wanted), page.url());
      // The page before is the one that a form led to. Back may show it, and it redirects to the client with
      // the same response.
      await page.goto(`${BASE}/auth`);
      await saysOver(page);
      await page.reload();
      await saysOver(page);
      await page.goBack();
      // Without scripts, the page before may be the answer to a form, and the browser asks before it sends a form again.
      await page.goBack().catch((error) => assert.ok(!javaScriptEnabled && /ERR_CACHE_MISS/.test(error.message), error));
      if (javaScriptEnabled) await saysOver(page);
      await page.reload().catch(() => {});
      assert.equal(new Set(answers).size, 1, `one response, however often: ${answers.join("\n")}`);
      await context.close();
    });
  }

  scene(`B-065 Back to an answered request does not show the request of another tab, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context } = await browsing({ wallet, javaScriptEnabled });
    const waiting = await arrive(context, { client: second, redirectUri: secondPage });
    const visit = await arrive(context);
    const address = visit.page.url();
    await sign(visit.page, wallet, { javaScriptEnabled, remember: false });
    await arrivedAs(visit, wallet.key.address);
    await visit.page.goto(address);
    const heading = await visit.page.locator("h1").first().innerText();
    assert.doesNotMatch(heading, /Music Box/, "the tab of Photo Album shows Music Box");
    await saysOver(visit.page);
    await sign(waiting.page, wallet, { javaScriptEnabled, remember: false });
    await arrivedAs(waiting, wallet.key.address);
    await context.close();
  });

  scene(`changing the language in the middle loses no request, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context } = await browsing({ wallet, javaScriptEnabled });
    const choose = async (page, language) => {
      await page.waitForLoadState(); // Before it is loaded the menu has a button, and only choosing does nothing.
      await page.locator("#language").selectOption(language);
      if (!javaScriptEnabled) await page.locator("#language-menu button").click();
      await page.locator(`html[lang="${language}"]`).waitFor({ state: "attached", ...SLOW });
    };
    const one = await arrive(context);
    const two = await arrive(context, { client: second, redirectUri: secondPage });
    // At each step: at the start, with the text shown, and when another wallet is wanted.
    await choose(one.page, "de");
    if (javaScriptEnabled) await one.page.locator("#wallet-list .wallet").click().then(() => confirmed(one.page));
    else await textByHand(one.page, wallet.key.address);
    await choose(one.page, "ar");
    assert.match(await one.page.locator("#heading").innerText(), /Photo Album/, "still the same request");
    await sign(one.page, wallet, { javaScriptEnabled });
    await arrivedAs(one, wallet.key.address);
    await choose(two.page, "ja");
    assert.match(await two.page.locator("#heading").innerText(), /Music Box/);
    await sign(two.page, wallet, { javaScriptEnabled });
    await arrivedAs(two, wallet.key.address);
    const known = await arrive(context);
    await inState(known.page, "remembered");
    await choose(known.page, "en");
    await inState(known.page, "remembered");
    await known.page.locator("#another").click();
    await choose(known.page, "de");
    await known.page.locator(".other-way a:visible").click(); // Until now, another wallet was wanted.
    await known.page.locator("#continue").click();
    await arrivedAs(known, wallet.key.address);
    await context.close();
  });
}

// --- a second browser, another site ------------------------------------------------------------------------

scene("B-057, B-064 a second browser with a copied address of the page gets nothing, whether or not its user is remembered", async () => {
  const [ann, bob] = [new TestWallet(), new TestWallet()];
  const first = await browsing({ wallet: ann });
  await remembered(first.context, ann);
  await arrive(first.context, { client: second, redirectUri: secondPage });
  const visit = await arrive(first.context);
  assert.match(visit.page.url(), /request=/);
  const strangers = [await browsing({ wallet: bob }), await browsing({ wallet: bob })];
  await remembered(strangers[1].context, bob);
  for (const { context, answers } of strangers) {
    answers.length = 0;
    const page = await context.newPage();
    const answer = await page.goto(visit.page.url());
    assert.equal(answer.status(), 400);
    await saysOver(page);
    assert.ok(!(await page.content()).includes("Photo Album"));
    assert.deepEqual(answers, []);
    await context.close();
  }
  await visit.page.locator("#continue").click();
  await arrivedAs(visit, ann.key.address);
  await first.context.close();
});

scene("B-063 a link on another site finds the user remembered; its forms and scripts carry no cookie and change nothing", async () => {
  const wallet = new TestWallet();
  const { context, answers } = await browsing({ wallet });
  await remembered(context, wallet);
  const waiting = await arrive(context);
  await inState(waiting.page, "remembered");
  answers.length = 0;
  const evil = await context.newPage();
  for (const [path, fields] of [
    ["/oauth/continue", waiting.fields], ["/oauth/deny", waiting.fields], ["/account/sessions/end", { session: "all" }],
    ["/account/apps/revoke", { client_id: loopback.client_id }], ["/account/delete", { confirm: "yes" }],
  ]) {
    await evil.goto(clientOrigin);
    const answered = evil.waitForResponse(`${BASE}${path}`, SLOW);
    const arrived = evil.waitForURL(`${BASE}${path}`, SLOW);
    await evil.evaluate(([action, all]) => {
      const form = Object.assign(document.createElement("form"), { method: "post", action });
      for (const [name, value] of Object.entries(all)) form.append(Object.assign(document.createElement("input"), { name, value }));
      document.body.append(form);
      form.submit();
    }, [`${BASE}${path}`, fields]);
    const answer = await answered;
    assert.equal(answer.status(), 403, path);
    assert.equal((await answer.request().allHeaders()).cookie, undefined, `${path}: no cookie`);
    await arrived;
  }
  await evil.goto(clientOrigin);
  const read = await evil.evaluate(async (base) => {
    const tries = [`${base}/account`, `${base}/account/data`, `${base}/auth`];
    return Promise.all(tries.map((url) => fetch(url, { credentials: "include" }).then((answer) => answer.text(), () => "refused")));
  }, BASE);
  assert.deepEqual(read, ["refused", "refused", "refused"]);
  assert.deepEqual(answers, []);
  // A link carries the cookie.
  const target = authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile email", state: "by a link" });
  await evil.evaluate((href) => document.body.append(Object.assign(document.createElement("a"), { id: "link", href, textContent: "Sign in" })), target.href);
  await evil.locator("#link").click();
  await inState(evil, "remembered");
  await waiting.page.locator("#continue").click();
  await arrivedAs(waiting, wallet.key.address);
  await context.close();
});

scene("B-063 a request that another site posts (OpenID Connect allows it) removes no request from the other tabs", async () => {
  const wallet = new TestWallet();
  const { context } = await browsing({ wallet });
  const waiting = await arrive(context);
  const posted = await context.newPage();
  await posted.goto(clientOrigin);
  await posted.evaluate(([action, search]) => {
    const form = Object.assign(document.createElement("form"), { method: "post", action });
    for (const [name, value] of new URLSearchParams(search)) form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(form);
    form.submit();
  }, [`${BASE}/oauth/authorize`, authorizeUrl(second, { redirectUri: secondPage, scope: "profile", state: "posted" }).search]);
  await posted.waitForURL((url) => url.pathname === "/auth", SLOW);
  await posted.locator("#heading", { hasText: "Music Box" }).waitFor(SLOW);
  await sign(waiting.page, wallet, { remember: false });
  await arrivedAs(waiting, wallet.key.address);
  await context.close();
});

scene("a site that opens our pages in a window gets no handle to it, and our pages have no opener (ADR 0012)", async () => {
  const wallet = new TestWallet();
  const { context } = await browsing({ wallet });
  await remembered(context, wallet);
  const opener = await context.newPage();
  await opener.goto(clientOrigin);
  const addresses = [authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile email", state: "opened" }).href, `${BASE}/account`, `${BASE}/verify`];
  for (const address of addresses) {
    const opened = context.waitForEvent("page");
    await opener.evaluate((url) => { window.held = window.open(url); }, address);
    const page = await opened;
    await page.locator("main").waitFor(SLOW);
    await opener.waitForFunction(() => window.held.closed, undefined, SLOW);
    assert.equal(await page.evaluate(() => window.opener), null, address);
    assert.equal(await opener.evaluate(() => window.held.length), 0, address);
    await page.close();
  }
  await context.close();
});

scene("B-020 the account page cannot be framed, not even by a site that has its cookie", async () => {
  const context = await browser.newContext(); // A separate context, because the blocked frame is an expected CSP violation.
  const page = await context.newPage();
  const refusal = page.waitForEvent("console", { predicate: (message) => /frame-ancestors|X-Frame-Options|refused to display/i.test(message.text()), ...SLOW });
  await page.goto(`${clientOrigin}/?frame=${encodeURIComponent(`${BASE}/account?done=signed_out`)}`);
  await refusal;
  const frame = await (await page.waitForSelector("#inner")).contentFrame();
  assert.equal(await frame.locator("main").count(), 0);
  await context.close();
});

scene("two users in two browsers each see their own account, and no script sees a cookie", async () => {
  const people = await Promise.all([new TestWallet(), new TestWallet()].map(async (wallet) => ({ wallet, ...(await browsing({ wallet })) })));
  for (const { wallet, context } of people) await remembered(context, wallet);
  for (const { wallet, context } of people) {
    const other = people.find((each) => each.wallet !== wallet).wallet;
    const page = await context.newPage();
    await page.goto(`${BASE}/account`);
    const seen = (await page.content()).replaceAll(/\s/g, "");
    assert.ok(seen.includes(wallet.key.address) && !seen.includes(other.key.address));
    assert.equal(await page.evaluate(() => document.cookie), "");
    const cookies = (await context.cookies()).filter(({ name }) => name.endsWith("countersign_login"));
    assert.deepEqual(cookies.map(({ httpOnly, sameSite, path }) => [httpOnly, sameSite, path]), [[true, "Lax", "/"]]);
    assert.ok(!seen.includes(cookies[0].value));
    await context.close();
  }
});

// --- where the forms redirect to ---------------------------------------------------------------------------

const TARGETS = [
  ["https", { client: onHttps, redirectUri: webPage }],
  ["http on any port of this computer", { client: second, redirectUri: secondPage }],
  ["an application's own scheme", { client: onDevice, redirectUri: onDevice.redirect_uris[0], scope: "profile" }],
];

for (const javaScriptEnabled of SCRIPTS) {
  for (const [name, options] of TARGETS) {
    scene(`${name} is reached with Sign, Continue and Deny, ${how(javaScriptEnabled)}`, async () => {
      const wallet = new TestWallet();
      const { context } = await browsing({ wallet, javaScriptEnabled });
      for (const press of ["sign", "continue", "deny"]) {
        const visit = await arrive(context, options);
        const { page } = visit;
        const target = reached(context, page, visit.fields.redirect_uri);
        if (press === "sign") await sign(page, wallet, { javaScriptEnabled });
        else if (press === "continue") await page.locator("#continue").click();
        else await pressDeny(page);
        const answer = new URL(await target);
        assert.equal(answer.searchParams.get("state"), visit.fields.state);
        assert.equal(answer.searchParams.get("iss"), BASE);
        assert.equal(answer.searchParams.get("error"), press === "deny" ? "access_denied" : null);
        assert.equal(answer.searchParams.has("code"), press !== "deny");
        if (press !== "deny") {
          const user = await userinfo(await exchange(visit, answer.searchParams.get("code")));
          assert.equal(user.address, wallet.key.address);
        }
        await page.close();
      }
      await context.close();
    });
  }
}

/**
 * Where the browser is redirected to for the client. An application's own scheme never gets a real request.
 */
async function reached(context, page, redirectUri) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Page.enable");
  const found = new Promise((done) => {
    devtools.on("Page.frameRequestedNavigation", ({ url }) => url.startsWith(redirectUri) && done(url));
    devtools.on("Page.frameNavigated", ({ frame }) => frame.url.startsWith(redirectUri) && done(frame.url));
  });
  const tooLate = new Promise((_, late) => setTimeout(() => late(new Error(`no navigation to ${redirectUri}`)), SLOW.timeout).unref());
  return Promise.race([found, tooLate]);
}

// --- hostile clients ---------------------------------------------------------------------------------------

const hostile = JSON.parse(readFileSync(`${project}tests/vectors/oauth/client_metadata_hostile.json`, "utf8")).cases;

for (const javaScriptEnabled of SCRIPTS) {
  scene(`B-066 hostile clients on every page that shows them: sign-in, remembered, step-up, account, and between, ${how(javaScriptEnabled)}`, async () => {
    const wallet = new TestWallet();
    const { context } = await browsing({ wallet, javaScriptEnabled });
    const clients = [];
    for (const { field, value } of hostile) {
      const metadata = { client_name: "Photo Album", redirect_uris: ["http://127.0.0.1/cb"], scopes: ["profile", "email"], [field]: value };
      const answer = await request("POST", "/oauth/clients", { body: metadata });
      assert.ok([201, 400].includes(answer.status), answer.text);
      if (answer.status === 201) clients.push({ client: answer.json, value, name: field === "client_name" ? value.trim() : "Photo Album" });
    }
    assert.ok(clients.length >= 8, `${clients.length} rows were accepted`);
    for (const { client, value, name } of clients) {
      const isHarmless = async (page) => {
        assert.equal(await page.locator("body script, iframe, object, embed, [onerror], [onload], [onmouseover]").count(), 0, value);
        assert.equal(await page.locator('img:not([src^="/assets/"]):not([src^="data:"])').count(), 0, value);
        assert.equal(await page.locator('a[href^="javascript:" i], a[href^="data:" i]').count(), 0, value);
        assert.ok((await page.locator("main").innerText()).includes(name), `${name} is shown unchanged`);
      };
      const visit = await arrive(context, { client, scope: "profile" });
      await isHarmless(visit.page);
      await sign(visit.page, wallet, { javaScriptEnabled });
      await arrivedAs(visit, wallet.key.address);
      const again = await arrive(context, { client, scope: "profile" });
      await inState(again.page, "remembered");
      await isHarmless(again.page);
      const wider = await arrive(context, { client });
      await inState(wider.page, "step-up");
      await isHarmless(wider.page);
      await pressDeny(wider.page);
      await atClient(wider);
      for (const page of [visit.page, again.page, wider.page]) await page.close();
    }
    const account = await context.newPage();
    await account.goto(`${BASE}/account`);
    const apps = await account.locator("#apps h3 bdi").allTextContents();
    assert.deepEqual(apps.toSorted(), clients.map(({ name }) => name).toSorted(), "each is on the account page, as text");
    assert.equal(await account.locator("body script, iframe, [onerror], [onload], main img").count(), 0);
    await context.close();
  });
}

await severalAtOnce(scenes);
webSite.close();
await close();
