// The API documentation in Chromium: one operation at a time, its list and search, the authorization that is entered
// once, requests and their curl commands, and the same without scripts and on paper. axe-core checks it.
// node docs.mjs http://localhost:8080          Screenshots go to target/screenshots.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Wallet } from "ethers";
import { violationsOf } from "./axe.mjs";
import { BASE, check, request } from "./client.mjs";
import { SLOW, close, person, picturesIn } from "./people.mjs";

const picture = picturesIn("target/screenshots");
const DOCS = `${BASE}/docs`;

/** A developer who opens the documentation. */
async function reader({ fragment = "", width = 1280, path = "/docs", ...settings } = {}) {
  const context = await person({ viewport: { width, height: 900 }, ...settings });
  const page = await context.newPage();
  assert.equal((await page.goto(`${BASE}${path}${fragment}`)).status(), 200);
  if (settings.javaScriptEnabled !== false) await page.locator(".contents [aria-current]").waitFor({ state: "attached", ...SLOW });
  return page;
}

/** The parts that can be seen, by their ids. */
const seen = (page) => page.locator(".part").evaluateAll((parts) => parts.filter((part) => part.checkVisibility()).map(({ id }) => id));
/** The entries of the list that can be seen. */
const listed = (page) => page.locator(".contents li a").evaluateAll((links) => links.filter((link) => link.checkVisibility()).map(({ hash }) => hash));

/** Opens the form of the operation in view. */
async function form(page) {
  await page.locator(".part:target .try-out > summary").click();
  const found = page.locator(".part:target form");
  await found.waitFor(SLOW);
  return found;
}

async function send(page) {
  await page.locator(".part:target form button[type=submit]").click();
  const status = page.locator(".part:target .output .status").first();
  await status.waitFor(SLOW);
  return status.textContent();
}

async function curlOf(page) {
  const place = page.locator(".part:target form details", { has: page.locator("> summary", { hasText: "curl" }) });
  if (!(await place.evaluate((details) => details.open))) await place.locator("summary").click();
  await place.locator("pre").filter({ hasText: "curl" }).waitFor(SLOW);
  return place.locator("pre").textContent();
}

async function accessible(page, what) {
  assert.deepEqual(await violationsOf(page), [], what);
  const [content, window_] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window_, `${what}: ${content} points in ${window_}`);
}

// --- reading -----------------------------------------------------------------------------------------------

await check("one part is shown at a time: the one that the fragment names, also by Back and by a reload", async () => {
  const page = await reader();
  assert.deepEqual(await seen(page), ["about"]);
  await page.locator('.contents a[href="#step-5-token"]').click();
  assert.deepEqual(await seen(page), ["step-5-token"]);
  assert.match(await page.title(), /^Exchange a code - /);
  assert.equal(await page.locator(".contents [aria-current]").getAttribute("href"), "#step-5-token");
  await page.locator('.contents a[href="#revokeAccess"]').click();
  assert.deepEqual(await seen(page), ["revokeAccess"]);
  await page.goBack();
  assert.deepEqual(await seen(page), ["step-5-token"]);
  assert.match(await page.title(), /^Exchange a code - /);
  await page.reload();
  assert.deepEqual(await seen(page), ["step-5-token"]);
  await page.goto(`${DOCS}#nothing`);
  assert.deepEqual(await seen(page), ["about"]);
  await page.context().close();
});

await check("every operation of the document can be reached from the list, and all of them are on one page", async () => {
  const { paths } = (await request("GET", "/openapi.json")).json;
  const wanted = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((operation) => (operation["x-steps"] ?? [0]).map(() => operation.operationId)));
  const page = await reader();
  const shown = await page.locator(".contents li a").evaluateAll((links) => links.map(({ hash }) => document.querySelector(hash)?.dataset.operation).filter(Boolean));
  assert.deepEqual(shown.sort(), wanted.sort());
  await page.locator('.contents a[href="#all"]').click();
  assert.equal((await seen(page)).length, wanted.length + 2);
  await page.context().close();
});

await check("the search filters the list by names, paths, fields and at last by every word; Enter opens the first", async () => {
  const page = await reader();
  const all = (await listed(page)).length;
  const search = page.locator("#search");
  await search.fill("  Revoke TOKEN ");
  assert.deepEqual(await listed(page), ["#step-8-revoke"]);
  assert.equal(await page.locator("#found").textContent(), `1 of ${all - 3}`);
  await search.fill("device_code");
  assert.ok((await listed(page)).includes("#step-5-token"), "a field");
  await search.fill("/oauth/par");
  assert.deepEqual(await listed(page), ["#pushAuthorization"]);
  await search.fill("authorization_pending");
  assert.ok((await listed(page)).includes("#step-5-token"), "an error");
  await search.fill("no such words");
  assert.deepEqual(await listed(page), []);
  assert.equal(await page.locator("#found").textContent(), `0 of ${all - 3}`);
  await search.fill("/health/ready");
  await search.press("Enter");
  assert.deepEqual(await seen(page), ["ready"]);
  await search.fill("");
  assert.equal((await listed(page)).length, all);
  await page.context().close();
});

await check("on a phone the list is a page of its own, and each part leads back to it", async () => {
  const page = await reader({ width: 390 });
  assert.ok(await page.locator("#contents").isVisible());
  await picture(page, "docs-phone");
  await page.locator('.contents a[href="#step-1-registerClient"]').click();
  assert.deepEqual(await seen(page), ["step-1-registerClient"]);
  assert.ok(!(await page.locator("#contents").isVisible()));
  await picture(page, "docs-phone-operation");
  const back = page.locator(".back a");
  assert.ok(await back.evaluate((link) => link.getBoundingClientRect().top >= 0), "the way back is in view");
  await back.click();
  assert.ok(await page.locator("#contents").isVisible());
  await page.context().close();
});

await check("without scripts it is one page with everything, and nothing that would not work", async () => {
  const page = await reader({ javaScriptEnabled: false });
  assert.ok((await seen(page)).length > 50);
  for (const selector of ["#search", "#access", ".try-out", 'a[href="#access"]']) assert.ok(!(await page.locator(selector).first().isVisible()), selector);
  assert.match(await page.locator("#about .warning").textContent(), /^Without scripts this page shows everything at once/);
  await page.locator('.contents a[href="#step-5-token"]').click();
  assert.ok((await seen(page)).length > 50);
  await page.context().close();
});

await check("on paper there is the part in view, unfolded, and nothing to click", async () => {
  const page = await reader({ fragment: "#step-5-token" });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await seen(page), ["step-5-token"]);
  assert.ok(await page.getByText("no one has answered the device yet").first().isVisible());
  for (const selector of ["#contents", ".part:target .try-out", ".more"]) assert.ok(!(await page.locator(selector).isVisible()), selector);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(!(await page.getByText("no one has answered the device yet").first().isVisible()));
  await page.context().close();
});

// --- trying out --------------------------------------------------------------------------------------------

await check("a client that is registered here is entered everywhere, and its curl command does the same", async () => {
  const page = await reader({ fragment: "#step-1-registerClient" });
  const register = await form(page);
  const name = "It's $HOME `id` \"quoted\" \\ & ünï";
  await register.locator('[name="client_name"]').fill(name);
  assert.equal(await send(page), "201");
  const registered = JSON.parse(await page.locator(".part:target .output pre").first().textContent());
  assert.equal(registered.client_name, name);
  const printed = execFileSync("sh", ["-c", await curlOf(page)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  assert.match(printed, /^HTTP\/1.1 201 /);
  assert.equal(JSON.parse(printed.slice(printed.indexOf("\r\n\r\n"))).client_name, name);
  assert.ok(!(await curlOf(page)).includes(registered.client_id), "another registration is of another client");
  await picture(page, "docs-registered");

  await page.locator('.contents a[href="#access"]').click();
  await page.locator("#access form").waitFor(SLOW);
  assert.equal(await page.locator('#access [name="client_id"]').inputValue(), registered.client_id);
  await picture(page, "docs-access");
  await page.locator('.contents a[href="#step-8-revoke"]').click();
  const revoke = await form(page);
  assert.equal(await revoke.locator('[name="client_secret"]').inputValue(), registered.client_secret);
  await revoke.locator('[name="token"]').fill("none");
  assert.equal(await send(page), "200");
  await page.locator('.contents a[href="#readClient"]').click();
  await form(page);
  assert.equal(await send(page), "200", "by the registration access token");
  await page.context().close();
});

await check("the eight steps can be walked: each form has what the responses before it said", async () => {
  const key = Wallet.createRandom();
  const page = await reader({ fragment: "#step-1-registerClient" });
  const walk = async (step, values = {}) => {
    await page.locator(`.contents a[href="#step-${step}"]`).click();
    const shown = await form(page);
    for (const [name, value] of Object.entries(values)) await shown.locator(`[name="${name}"]`).first().fill(value);
    return shown;
  };
  await form(page);
  assert.equal(await send(page), "201");
  const authorize = await walk("2-authorize");
  const opened = page.context().waitForEvent("page");
  await authorize.locator("a.primary").click();
  const tab = await opened;
  await tab.waitForURL((url) => url.pathname.endsWith("/auth"), SLOW);
  await walk("3-issueChallenge", { wallet_address: key.address });
  assert.equal(await send(page), "200");
  const login = await walk("4-login");
  const text = await login.locator('[name="challenge"]').inputValue();
  assert.match(text, new RegExp(key.address));
  await login.locator('[name="signature"]').fill(await key.signMessage(text));
  assert.equal(await send(page), "200");
  for (const step of ["5-token", "6-userInfo", "7-token"]) {
    await walk(step);
    assert.equal(await send(page), "200", step);
  }
  await page.locator('.contents a[href="#step-6-userInfo"]').click();
  assert.equal(await send(page), "200", "with the new access token");
  await walk("8-revoke");
  assert.equal(await send(page), "200");
  await page.locator('.contents a[href="#step-6-userInfo"]').click();
  await page.locator(".part:target form button[type=submit]").click();
  await page.locator(".part:target .output .status", { hasText: "401" }).waitFor(SLOW);
  await page.context().close();
});

await check("what is entered once goes into every form, also as HTTP Basic, and nowhere else", async () => {
  const registered = (await request("POST", "/oauth/clients", { body: { client_name: "Basic", redirect_uris: ["https://app.example/cb"], token_endpoint_auth_method: "client_secret_basic" } })).json;
  const page = await reader({ fragment: "#access" });
  const access = page.locator("#access form");
  await access.waitFor(SLOW);
  await access.locator('[name="client_id"]').fill(registered.client_id);
  await access.locator('[name="client_secret"]').fill(registered.client_secret);
  await access.locator('[name="access_token"]').fill("a-token-of-mine");
  await page.locator('.contents a[href="#introspect"]').click();
  const introspect = await form(page);
  await introspect.locator('[name="token"]').fill("none");
  assert.equal(await introspect.locator('[name="client_id"]').inputValue(), registered.client_id);
  assert.ok((await curlOf(page)).includes(registered.client_secret), "in the body");
  await page.locator('.contents a[href="#access"]').click();
  await access.locator("[type=checkbox]").check();
  await page.goBack();
  assert.match(await curlOf(page), /-H 'authorization: Basic /);
  assert.ok(!(await curlOf(page)).includes(registered.client_secret), "it is sent one way only");
  assert.equal(await send(page), "200");
  await page.locator('.contents a[href="#step-6-userInfo"]').click();
  await form(page);
  assert.match(await curlOf(page), /Bearer a-token-of-mine/);
  assert.equal(await send(page), "401");

  const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, location.href]);
  assert.deepEqual(kept, [0, 0, `${DOCS}#step-6-userInfo`]);
  assert.ok(!JSON.stringify(await page.context().cookies()).includes("a-token-of-mine"));
  await page.locator('.contents a[href="#access"]').click();
  await access.locator("button").click();
  await page.locator('.contents a[href="#step-6-userInfo"]').click();
  assert.equal(await page.locator('.part:target [name="access_token"]').inputValue(), "");
  await page.reload();
  await page.goto(`${DOCS}#access`);
  await access.waitFor(SLOW);
  assert.equal(await access.locator('[name="client_id"]').inputValue(), "");
  await page.context().close();
});

await check("all of it works with the keyboard", async () => {
  const page = await reader();
  await page.locator("#search").focus();
  await page.keyboard.type("/oauth/userinfo");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.deepEqual(await seen(page), ["step-6-userInfo"]);
  // The next element that takes the focus is in the part, so nobody walks through the list again.
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".part")?.id), "step-6-userInfo");
  await page.keyboard.press("Enter");
  await page.locator(".part:target form").waitFor(SLOW);
  await page.keyboard.press("Tab");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  await page.locator(".part:target .output .status").first().waitFor(SLOW);
  await page.context().close();
});

await check("without the document a form says so, and tries again", async () => {
  const page = await reader({ fragment: "#step-1-registerClient" });
  await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "" }));
  const summary = page.locator(".part:target .try-out > summary");
  await summary.click();
  await page.locator(".part:target .message.alert").filter({ hasText: "503" }).waitFor(SLOW);
  await page.unroute("**/openapi.json");
  await summary.click();
  await summary.click();
  await page.locator(".part:target form").waitFor(SLOW);
  assert.equal(await page.locator(".part:target .message.alert").count(), 0);
  await page.context().close();
});

// --- for everyone ------------------------------------------------------------------------------------------

// Colors are the same at every width.
for (const [colorScheme, widths] of [["light", [320, 768, 1280]], ["dark", [1280]]]) {
  await check(`axe finds nothing wrong at ${widths.join(", ")} points, ${colorScheme}`, async () => {
    for (const width of widths) {
      const page = await reader({ colorScheme, width });
      await accessible(page, `overview, ${width}`);
      if (width === 1280) await picture(page, `docs-${colorScheme}`);
      await page.goto(`${DOCS}#access`);
      await page.locator("#access form").waitFor(SLOW);
      await accessible(page, `authorization, ${width}`);
      await page.goto(`${DOCS}#step-1-registerClient`);
      await form(page);
      await send(page);
      await curlOf(page);
      await page.locator(".part:target details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
      await accessible(page, `an operation, ${width}`);
      if (width === 320) await picture(page, `docs-narrow-${colorScheme}`);
      await page.context().close();
    }
  });
}

await check("axe finds nothing wrong with all parts on one page, nor from right to left", async () => {
  const page = await reader({ fragment: "#all" });
  await accessible(page, "all");
  await page.goto(`${BASE}/docs?lang=ar#step-3-issueChallenge`);
  await form(page);
  assert.equal(await page.locator("html").getAttribute("dir"), "rtl");
  await accessible(page, "Arabic");
  await picture(page, "docs-arabic");
  await page.context().close();
});

await close();
