// The desk's pages in Chromium: each at three widths, light and dark, and in every language; how few clicks lead to anybody and
// anything; charts; what a form that is filled in wrongly says; and what somebody sees who is no operator.
// node desk-pages.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL http://ADMIN_LISTEN ADMIN_KEY
// Screenshots go to target/screenshots/desk.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { judgeWords } from "./axe.mjs";
import { BASE, check } from "./client.mjs";
import { CHANGES, addMembers, giveName, manage } from "./desk-changes.mjs";
import { ATTACHED, DESK, FAMILIES, ask, choose, formFor, isDone, look, operator, picture } from "./desk-people.mjs";
import { SLOW, close, confirmed, person } from "./people.mjs";

const LANGUAGES = ["ar", "de", "es", "fr", "pt-BR", "ja", "zh-CN"];

await check("from the account page, an operator's first change takes seven clicks and two confirmations of the wallet", async () => {
  const { wallet, settings } = FAMILIES[0]();
  await addMembers("operators", wallet.key.address);
  const context = await person({ viewport: { width: 1280, height: 900 }, ...settings });
  const page = await context.newPage();
  let clicks = 0;
  const click = (what, options) => (clicks += 1, page.locator(what, options).first().click());
  await page.goto(`${BASE}/account`);
  await click("#wallet-list .wallet", { hasText: wallet.name });
  await confirmed(page);
  await click("#sign");
  await page.waitForURL((url) => url.pathname.endsWith("/account"), SLOW);
  await click('a[href$="/admin"]');
  await click('a[href$="/admin/clients"]');
  await click("details:has(input[value='client-register']) > summary");
  await page.locator('[name="client_name"]').fill("Wiki");
  await page.locator('[name="redirect_uris"]').fill("https://wiki.example/cb");
  await page.locator("form:has(input[value='client-register']) [name='rule']").selectOption("nobody");
  await click("form:has(input[value='client-register']) button[type='submit']");
  await click("#wallet-list .wallet", { hasText: wallet.name });
  await isDone(page, "client-register");
  assert.deepEqual([clicks, wallet.calls.filter((method) => method === "personal_sign").length], [7, 2]);
  await context.close();
});

const seat = await operator(FAMILIES[0]);
const { page: desk, wallet } = seat;

await check("an application for a new group of ten takes two signatures and eight clicks", async () => {
  const { calls } = wallet;
  const before = calls.filter((method) => method === "personal_sign").length;
  let clicks = 0;
  const click = (what, options) => (clicks += 1, desk.locator(what, options).first().click());
  const begin = async (path, change, fields, choices = {}) => {
    await click(`a[href$="/admin/${path}"]`);
    const form = desk.locator(`details:has(input[value='${change}'])`).first();
    await click(`details:has(input[value='${change}']) > summary`);
    for (const [name, value] of Object.entries(fields)) await form.locator(`[name="${name}"]`).fill(value);
    for (const [name, value] of Object.entries(choices)) await form.locator(`[name="${name}"]`).selectOption(value);
    await click(`form:has(input[value='${change}']) button[type='submit']`);
    await desk.locator("#text").waitFor(ATTACHED);
    await click("#wallet-list .wallet", { hasText: wallet.name });
    await isDone(desk, change);
  };
  const ten = Array.from({ length: 10 }, () => `0x${randomBytes(20).toString("hex")}`);
  const group = `ten-${randomBytes(4).toString("hex")}`;
  await desk.goto(`${DESK}`);
  await begin("groups", "group-create", { group, members: ten.join("\n") });
  const client = { client_name: "Ten", redirect_uris: "https://ten.example/cb", rule_groups: group };
  await begin("clients", "client-register", client, { rule: "groups" });
  const signed = calls.filter((method) => method === "personal_sign").length - before;
  assert.deepEqual([signed, clicks], [2, 8]);
  await desk.goto(`${DESK}/groups/${group}`);
  assert.equal(await desk.locator("#members tbody tr").count(), 10);
  assert.ok((await desk.locator("#clients").textContent()).includes("Ten"));
});

// Something of each kind, so that no list is empty; two changes are this operator's.
const subjects = {};
for (const { change, prepare } of CHANGES) subjects[change] = await prepare();
for (const change of ["wallet-block", "client-register"]) {
  await ask(desk, change, subjects[change]);
  await choose(desk, wallet);
  await isDone(desk, change);
}

// Names as long as they can be, of an operator and of everybody on the first page.
await giveName("wallets", `eip155:1:${wallet.key.address}`, "Ada \"the operator\" Lovelace-Byron, Countess of Lovelace");
for (const [place, { id }] of (await manage("GET", "/users?limit=10")).items.entries()) await giveName("users", id, place % 2 ? "نور حداد" : `Ann ${"W".repeat(60)}`);

// A refusal, which the server keeps in memory.
await desk.request.get(new URL("/nothing-is-here", DESK).href);

const PAGES = [
  ["overview", ""], ["people", "/people"], ["wallets", "/wallets"], ["groups", "/groups"], ["clients", "/clients"],
  ["resources", "/resources"], ["events", "/events"], ["refusals", "/refusals"], ["proposals", "/proposals"], ["keys", "/keys"], ["admin-keys", "/admin-keys"], ["search", "/search?q=nothing-like-that"],
];
for (const [name, path] of PAGES) {
  await check(`the page ${name}, at three widths, light and dark, and in every language`, async () => {
    await desk.goto(`${DESK}${path}`);
    await look(desk, name);
    const mark = path.includes("?") ? "&" : "?";
    for (const language of LANGUAGES) {
      await desk.goto(`${DESK}${path}${mark}lang=${language}`);
      assert.equal(await desk.locator("html").getAttribute("lang"), language);
      assert.equal(await desk.locator("html").getAttribute("dir"), language === "ar" ? "rtl" : "ltr");
      await judgeWords(desk, `${name}-${language}`, { widths: language === "ar" ? [320, 768, 1280] : [320], picture });
    }
    await desk.goto(`${DESK}${path}${mark}lang=en`);
  });
}
await desk.setViewportSize({ width: 1280, height: 900 });

for (const [name, list] of [["person", "/people"], ["wallet", "/wallets"], ["group", "/groups"], ["client", "/clients"], ["event", "/events"], ["refusal", "/refusals"]]) {
  await check(`the page of one ${name} is one click from its list`, async () => {
    await desk.goto(`${DESK}${list}`);
    await desk.locator("main table tbody tr a").first().click();
    await desk.locator("#heading").waitFor(SLOW);
    assert.notEqual(new URL(desk.url()).pathname, new URL(`${DESK}${list}`).pathname);
    await desk.evaluate(() => document.querySelectorAll("main details").forEach((each) => (each.open = true)));
    await look(desk, `one-${name}`);
  });
}

await check("a wallet, a client, a group and a request are found within two clicks", async () => {
  const { items } = await manage("GET", "/events?type=wallet_blocked&limit=10");
  const { request } = items.find(({ actor }) => actor.startsWith("wallet:"));
  for (const text of [wallet.key.address, "operators", "Wiki", request]) {
    await desk.goto(DESK);
    await desk.locator("#q").fill(text);
    await desk.keyboard.press("Enter");
    await desk.waitForURL((url) => url.href !== DESK, SLOW);
    // A single finding is shown at once.
    if (new URL(desk.url()).pathname.endsWith("/search")) await desk.locator("main table a").first().click();
    await desk.locator("#heading").waitFor(SLOW);
    // The events of a request are a list, whose address names the request.
    assert.match(`${desk.url()} ${await desk.locator("main").innerText()}`, new RegExp(text.slice(-6)));
  }
});

await check("charts have words and a table", async () => {
  await desk.goto(DESK);
  const charts = desk.locator('svg[role="img"]');
  assert.ok((await charts.count()) >= 3);
  for (const chart of await charts.all()) {
    assert.ok((await chart.locator("> title").textContent()).length > 5);
    assert.ok((await chart.locator("> desc").textContent()).length > 5);
    assert.equal(await chart.evaluate((svg) => svg.innerHTML.includes("style=") || svg.innerHTML.includes("<script")), false);
  }
  assert.ok((await desk.locator(".charts table").count()) >= (await charts.count()));
});

await check("a field that is wrong is told before anybody signs", async () => {
  await desk.goto(`${DESK}/groups`);
  const form = await formFor(desk, "group-create");
  await form.locator('[name="group"]').fill("No Name");
  await form.locator('button[type="submit"]').click();
  await desk.locator("#trouble").waitFor(SLOW);
  assert.equal(await desk.locator("#text").count(), 0);
  await look(desk, "wrong-field");
});

await check("whoever is no operator sees what every path shows that is not there", async () => {
  const { page, context } = await operator(FAMILIES[0], { isOperator: false });
  const [desks404, nothing] = await Promise.all([page.request.get(DESK), page.request.get(`${BASE}/nothing-like-that`)]);
  assert.deepEqual([desks404.status(), await desks404.text()], [404, await nothing.text()]);
  await context.close();
});

await seat.context.close();
await close();
