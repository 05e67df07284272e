// The desk in Chromium: operators with wallets of five families make each change of the list, decline it in the wallet, are
// overtaken by somebody else, and send a change twice; with and without scripts. axe-core checks each state, at three widths,
// light and dark.
// node desk.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL          Screenshots go to target/screenshots/desk.

import assert from "node:assert/strict";
import { AXE, judgeLooks } from "./axe.mjs";
import { BASE, check } from "./client.mjs";
import { CHANGES, operate } from "./desk-changes.mjs";
import { SLOW, TestWallet, arrive, close, confirmed, inState, person, picturesIn } from "./people.mjs";
import { FAMILY_WALLETS } from "./wallets.mjs";

const picture = picturesIn("target/screenshots/desk");
const DESK = `${BASE}/admin`;
const LANGUAGES = ["de", "es", "fr", "pt-BR", "ja", "zh-CN"];

operate("group", "create", "operators");

// --- operators ---------------------------------------------------------------------------------------------

const familyWallet = (title) => FAMILY_WALLETS.find((each) => each.title === title).make();

/** One of each family: how it is announced, and what signs by hand. */
const FAMILIES = [
  () => {
    const wallet = new TestWallet();
    return { wallet, settings: { wallet, eip6963: true }, reject: () => wallet.refusals.push({ method: "personal_sign", error: { code: 4001, message: "no" } }), sign: (text) => wallet.key.signMessage(text) };
  },
  ...["a Solana wallet (Wallet Standard)", "a Bitcoin wallet (Wallet Standard)", "Keplr (ADR-036)", "a Tron wallet (TIP-6963)"].map((title) => () => {
    const wallet = familyWallet(title);
    return { wallet, settings: { others: [wallet] }, reject: () => wallet.refusals.push("sign"), sign: async (text) => wallet.key.signature(text) };
  }),
];

/** An operator who is signed in, at the overview. */
async function operator(make, { javaScriptEnabled = true, isOperator = true } = {}) {
  const holder = make();
  if (isOperator) operate("group", "add", "operators", holder.wallet.key.address);
  const context = await person({ viewport: { width: 1280, height: 900 }, ...holder.settings, javaScriptEnabled });
  if (javaScriptEnabled) await context.addInitScript({ path: AXE });
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  if (javaScriptEnabled) {
    await page.locator("#wallet-list .wallet", { hasText: holder.wallet.name }).click();
    await confirmed(page);
    await page.locator("#sign").click();
  } else {
    await page.locator("#address").fill(holder.wallet.key.address);
    await page.locator("#get-text").click();
    await page.locator("#signature").fill(await holder.sign(await page.locator("#manual-text").textContent()));
    await page.locator("#verify").click();
  }
  await page.waitForURL((url) => url.pathname.endsWith("/account"), SLOW);
  await page.goto(DESK);
  return { ...holder, context, page };
}

/** Checks the page as it is now, at every width and in both color schemes. */
async function look(page, name) {
  const before = page.viewportSize();
  await judgeLooks(page, name, { widths: [320, 768, 1280], picture });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}

// --- steps -------------------------------------------------------------------------------------------------

/** The form of a page for a change, opened. */
async function formFor(page, change, about) {
  let form = page.locator(`form[action$="/admin/changes"]:has(input[name="change"][value="${change}"])`);
  if (about) form = form.filter({ has: page.locator(`input[type="hidden"][value="${about}"]`) });
  form = form.first();
  await form.evaluate((each) => {
    for (let up = each.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    for (const inner of each.querySelectorAll("details")) inner.open = true;
  });
  return form;
}

/** Fills in a form, and goes on to the text. */
async function ask(page, change, { page: path, about, fields = {} }) {
  await page.goto(`${DESK}${path}`);
  const form = await formFor(page, change, about);
  for (const [name, value] of Object.entries(fields)) {
    const field = form.locator(`[name="${name}"]`);
    if (Array.isArray(value)) for (const each of value) await form.locator(`[name="${name}"][value="${each}"]`).check();
    else if (value === true) await field.check();
    else if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
  await form.locator('button[type="submit"]').click();
  await page.locator("#text").waitFor(SLOW);
  const text = await page.locator("#text").textContent();
  assert.match(text, new RegExp(`\n- urn:countersign:change:${change}\n`));
  assert.ok(text.startsWith(`${new URL(BASE).host} wants you to sign in with your `));
  return text;
}

const choose = (page, wallet) => page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();

async function signByHand({ page, sign }) {
  await page.locator("#by-hand").evaluate((details) => (details.open = true));
  await page.locator("#signature").fill(await sign(await page.locator("#text").textContent()));
  await page.locator("#finish").click();
}

/** What a browser sends with this signature, to send it again. */
function requestsOf(page) {
  const sent = [];
  page.on("request", (request) => request.method() === "POST" && sent.push({ url: request.url(), body: request.postData() }));
  return sent;
}

const isDone = (page, change) => page.locator(`[data-done="${change.replaceAll("-", "_")}"]`).waitFor(SLOW);

// --- each change -------------------------------------------------------------------------------------------

const desks = await Promise.all(FAMILIES.map((make) => operator(make)));

for (const [place, { change, prepare }] of CHANGES.entries()) {
  const seat = desks[place % desks.length];
  const { page, wallet } = seat;
  // Once keys are replaced at once, the last seal is of a key that is gone until there is another one.
  if (change === "keys-rotate") {
    await check("what was signed verifies offline", async () => {
      await new Promise((done) => setTimeout(done, 12_000)); // Until it is sealed.
      assert.match(operate("event", "verify"), /hold/i);
    });
  }
  await check(`${change}: declined in ${wallet.name}, overtaken, made, and sent again`, async () => {
    const first = await prepare();
    await ask(page, change, first);
    seat.reject();
    await choose(page, wallet);
    await inState(page, "sign-rejected");
    assert.equal(await page.locator('[role="alert"] p').count(), 0, "declining is not an error");
    if (first.meanwhile) {
      first.meanwhile();
      const [answer] = await Promise.all([page.waitForResponse((response) => response.request().method() === "POST"), page.locator("#sign").click()]);
      assert.equal(answer.status(), 409);
      await page.locator("#stale").waitFor(SLOW);
      assert.ok((await page.locator("tbody tr").count()) > 0, "what changed is said");
      if (change === "wallet-block") await look(page, "stale");
    }
    const second = await prepare();
    await ask(page, change, second);
    if (["user-block", "client-register", "keys-rotate"].includes(change)) await look(page, `sign-${change}`);
    const sent = requestsOf(page);
    await choose(page, wallet);
    await isDone(page, change);
    if (["user-block", "client-register", "admin-key-create"].includes(change)) await look(page, `done-${change}`);
    const signing = sent.find(({ url }) => url.endsWith("/admin/changes/sign"));
    const again = await page.request.post(signing.url, {
      data: signing.body,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(BASE).origin, accept: "text/html" },
      maxRedirects: 0,
    });
    assert.ok(again.status() >= 400 && again.status() < 500, `sent again: ${again.status()}`);
  });
}

// --- pages -------------------------------------------------------------------------------------------------

const [{ page: desk }] = desks;
const PAGES = [
  ["overview", ""], ["people", "/people"], ["wallets", "/wallets"], ["groups", "/groups"], ["clients", "/clients"], ["access", "/access"],
  ["resources", "/resources"], ["events", "/events"], ["proposals", "/proposals"], ["keys", "/keys"], ["admin-keys", "/admin-keys"], ["search", "/search?q=nothing-like-that"],
];
for (const [name, path] of PAGES) {
  await check(`the page ${name}, at three widths, light and dark, and in every language`, async () => {
    await desk.goto(`${DESK}${path}`);
    await look(desk, name);
    const mark = path.includes("?") ? "&" : "?";
    await desk.goto(`${DESK}${path}${mark}lang=ar`);
    assert.equal(await desk.locator("html").getAttribute("dir"), "rtl");
    await look(desk, `${name}-right-to-left`);
    for (const language of LANGUAGES) {
      await desk.goto(`${DESK}${path}${mark}lang=${language}`);
      await judgeLooks(desk, `${name}-${language}`, { widths: [320], picture });
    }
    await desk.goto(`${DESK}${path}${mark}lang=en`);
  });
}

for (const [name, list] of [["person", "/people"], ["wallet", "/wallets"], ["group", "/groups"], ["client", "/clients"], ["event", "/events"]]) {
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
  const [{ wallet }] = desks;
  for (const text of [wallet.key.address, "operators", "Wiki"]) {
    await desk.goto(DESK);
    await desk.locator("#q").fill(text);
    await desk.keyboard.press("Enter");
    await desk.waitForURL((url) => url.href !== DESK, SLOW);
    // A single finding is shown at once.
    if (new URL(desk.url()).pathname.endsWith("/search")) await desk.locator("main table a").first().click();
    await desk.locator("#heading").waitFor(SLOW);
    assert.match(await desk.locator("main").innerText(), new RegExp(text.slice(-6)));
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

// --- two operators -----------------------------------------------------------------------------------------

await check("a signature of the wrong wallet and one that is none are told beside the text, and the text can be signed again", async () => {
  const seat = desks[0];
  const other = new TestWallet();
  const subject = await CHANGES.find(({ change }) => change === "group-create").prepare();
  await ask(seat.page, "group-create", subject);
  await signByHand({ page: seat.page, sign: (text) => other.key.signMessage(text) });
  await seat.page.locator("#trouble").waitFor(SLOW);
  await look(seat.page, "bad-signature");
  await signByHand(seat);
  await isDone(seat.page, "group-create");
});

await check("a text that is too long, and a field that is wrong, are told before anybody signs", async () => {
  const { page } = desks[1];
  await page.goto(`${DESK}/groups`);
  const form = await formFor(page, "group-create");
  await form.locator('[name="group"]').fill("No Name");
  await form.locator('button[type="submit"]').click();
  await page.locator("#trouble").waitFor(SLOW);
  assert.equal(await page.locator("#text").count(), 0);
  await look(page, "wrong-field");
});

await check("whoever is no operator sees what every path shows that is not there", async () => {
  const { page, context } = await operator(FAMILIES[0], { isOperator: false });
  const [desks404, nothing] = await Promise.all([page.request.get(DESK), page.request.get(`${BASE}/nothing-like-that`)]);
  assert.deepEqual([desks404.status(), await desks404.text()], [404, await nothing.text()]);
  await context.close();
});

// --- without scripts ---------------------------------------------------------------------------------------

for (const [place, make] of FAMILIES.slice(0, 4).entries()) {
  await check(`without scripts, the wallet elsewhere: operator ${place + 1} reads, signs by hand, is overtaken, and is refused a second time`, async () => {
    const seat = await operator(make, { javaScriptEnabled: false });
    const { page, context } = seat;
    for (const [, path] of PAGES) {
      const answer = await page.goto(`${DESK}${path}`);
      assert.equal(answer.status(), 200, path);
    }
    const own = CHANGES.filter((_, index) => index % 4 === place && !["keys-rotate", "key-withdraw"].includes(CHANGES[index].change));
    for (const { change, prepare } of own) {
      const first = await prepare();
      if (first.meanwhile) {
        await ask(page, change, first);
        first.meanwhile();
        await signByHand(seat);
        await page.locator("#stale").waitFor(SLOW);
      }
      await ask(page, change, await prepare());
      const sent = requestsOf(page);
      await signByHand(seat);
      await isDone(page, change);
      const signing = sent.find(({ url }) => url.endsWith("/admin/changes/sign"));
      const again = await page.request.post(signing.url, { data: signing.body, headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(BASE).origin }, maxRedirects: 0 });
      assert.ok(again.status() >= 400 && again.status() < 500, `${change}, sent again: ${again.status()}`);
    }
    await picture(page, `no-script-${place}`);
    await context.close();
  });
}

for (const { context } of desks) await context.close();
await close();
