// A day at the desk in Chromium, as the operators of a server for two hundred people spend it: twelve tasks, each with the clicks, signatures and
// seconds that it takes, beside what it took on the desk of 24 November. No task takes more than then, and all together at most half.
// node desk-day.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL http://ADMIN_LISTEN ADMIN_KEY

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Wallet } from "ethers";
import { BASE, begin, challenge, check, login, register } from "./client.mjs";
import { addMembers, giveName, manage } from "./desk-changes.mjs";
import { DESK, FAMILIES, isDone, operator } from "./desk-people.mjs";
import { SLOW, close } from "./people.mjs";

/** What each task took on 24 November, as an experienced operator counted; `null`: it could not be done at the desk. */
const BEFORE = {
  "register an application": [5, 1],
  "a group of ten": [54, 11],
  "let a group in": [6, 1],
  "find a refusal by its reference": null,
  "answer: why can't I sign in": null,
  "block a person": [6, 1],
  "rotate a secret": [5, 1],
  "co-sign a proposal": [7, 1],
  "refuse a proposal": null,
  "an operator leaves": [14, 2],
  "restore access": [6, 1],
  "the last sign-ins of a person": [2, 0],
};

const [ada, bob, carl] = [await operator(FAMILIES[0]), await operator(FAMILIES[1]), await operator(FAMILIES[0])];
for (const [seat, name] of [[ada, "Ada Boss"], [bob, "Bob Watt"], [carl, "Carl Diaz"]]) {
  await giveName("users", (await manage("GET", `/users/${seat.wallet.key.address}`)).id, name);
}
const took = {};

/** Does a task, and counts. It begins at the overview. */
async function task(name, seat, body) {
  await check(`the day: ${name}`, async () => {
    const { page, wallet } = seat;
    let [clicks, signatures] = [0, 0];
    const click = async (what, options) => {
      await page.locator(what, options).first().click();
      clicks += 1;
    };
    const sign = async (done) => {
      await click("#wallet-list .wallet", { hasText: wallet.name });
      signatures += 1;
      await (done ? page.locator(done).waitFor(SLOW) : page.locator("[data-done]").waitFor(SLOW));
    };
    await page.goto(DESK);
    const from = performance.now();
    await body({ page, click, sign });
    took[name] = { clicks, signatures, seconds: (performance.now() - from) / 1000 };
    const before = BEFORE[name];
    if (before) assert.ok(clicks <= before[0] && signatures <= before[1], `${clicks} clicks and ${signatures} signatures; before: ${before}`);
  });
}

const form = (change) => `form:has(input[name='change'][value='${change}'])`;
const folded = (change) => `details:has(> ${form(change)}) > summary`;
const choice = (row, change) => [`tr:has-text("${row}") .menu > summary`, `tr:has-text("${row}") .menu a[href*="do=${change}"]`];

/** Someone who signed in once, with a name. */
async function signedIn(name) {
  const key = Wallet.createRandom();
  const visit = await begin(await register());
  const { challenge: text } = await challenge(visit, key.address);
  await login(visit, { address: key.address, text, signature: await key.signMessage(text) });
  await giveName("users", (await manage("GET", `/users/${key.address}`)).id, name);
  return key.address;
}

const client = async (name) => (await manage("POST", "/clients", { client_name: name, redirect_uris: ["http://127.0.0.1/cb"] })).client_id;
const group = `day-${randomBytes(3).toString("hex")}`;
const ten = Array.from({ length: 10 }, () => `0x${randomBytes(20).toString("hex")}`);
await manage("POST", "/groups", { name: "staff" });
const [wiki, closed, leaving] = [await client("Day Wiki"), await client("Day Closed"), await client("Day Leaving")];
await manage("PUT", `/clients/${closed}/access`, { rule: "groups:staff" });
const people = [];
for (const name of ["Bea Okafor", "Grace Lin", "Dmitri Volkov"]) people.push(await signedIn(name));

await task("register an application", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/clients"]');
  await click(folded("client-register"));
  const asked = page.locator(form("client-register"));
  await asked.locator('[name="application"]').selectOption("gitea");
  await asked.locator('[name="application_url"]').fill("https://git.example.com");
  await asked.locator('[name="rule"]').selectOption("nobody");
  await click(`${form("client-register")} button[type="submit"]`);
  await sign();
  for (const [id, part] of [["#settings", "--auto-discover-url"], ["main", `${BASE}/.well-known/openid-configuration`], ["#heading", "Ada Boss registered Gitea"]]) {
    assert.ok((await page.locator(id).innerText()).includes(part), part);
  }
  const secret = await page.locator("#secret-1").innerText();
  await page.reload();
  assert.equal(await page.locator("#secret-1").innerText(), secret, "loaded again, it shows the secret again");
});

await task("a group of ten", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/groups"]');
  await click(folded("group-create"));
  const asked = page.locator(form("group-create"));
  await asked.locator('[name="group"]').fill(group);
  await asked.locator('[name="members"]').fill(ten.join("\n"));
  await click(`${form("group-create")} button[type="submit"]`);
  await sign();
});

await task("let a group in", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/clients"]');
  for (const step of choice("Day Wiki", "client-access")) await click(step);
  const asked = page.locator(form("client-access"));
  await asked.locator('[name="rule"]').selectOption("groups");
  await asked.locator('[name="rule_groups"]').fill(group);
  await click(`${form("client-access")} button[type="submit"]`);
  assert.match(await page.locator("#becomes").innerText(), new RegExp(group));
  await sign();
});

const elsewhere = new URLSearchParams({ response_type: "code", client_id: closed, redirect_uri: "https://elsewhere.example/cb" });
const refused = await fetch(`${BASE}/oauth/authorize?${elsewhere}`, { headers: { accept: "text/html" } });
const reference = refused.headers.get("x-request-id");

await task("find a refusal by its reference", ada, async ({ page }) => {
  await page.locator("#q").fill(reference);
  await page.keyboard.press("Enter");
  await page.locator(".refusal").first().waitFor(SLOW);
});

await task("answer: why can't I sign in", ada, async ({ page, click }) => {
  await click('a[href$="/admin/clients"]');
  await click('tbody th a', { hasText: "Day Closed" });
  await page.locator("#try-who").fill(people[0]);
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".tried").innerText(), /staff/);
});

await task("block a person", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/people"]');
  for (const step of choice("Bea Okafor", "user-block")) await click(step);
  await page.locator(form("user-block")).locator('[name="reason"]').fill("ticket 4711");
  await click(`${form("user-block")} button[type="submit"]`);
  await sign();
  assert.match(await page.locator("#heading").innerText(), /^Ada Boss blocked Bea Okafor/);
});

await task("restore access", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/people"]');
  await click("tbody th a", { hasText: "Bea Okafor" });
  await click(`${form("user-unblock")} button[type="submit"]`);
  await sign();
});

await task("rotate a secret", ada, async ({ page, click, sign }) => {
  await click('a[href$="/admin/clients"]');
  await click("tbody th a", { hasText: "Day Wiki" });
  await click(folded("client-rotate-secret"));
  await click(`${form("client-rotate-secret")} button[type="submit"]`);
  await sign();
  assert.equal(await page.locator("#only-once").count(), 1);
});

/** Ada proposes that a client is deleted. */
async function propose(id) {
  const { page, wallet } = ada;
  await page.goto(`${DESK}/clients/${id}`);
  await page.locator(`${form("client-delete")} button[type="submit"]`).click();
  await page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();
  await page.locator("#not-yet").waitFor(SLOW);
}

await propose(leaving);
await task("co-sign a proposal", bob, async ({ page, click, sign }) => {
  await click('a[href$="/admin/proposals"]');
  await click("tbody a", { hasText: "Day Leaving" });
  await click("#sign-form button");
  await sign();
  await isDone(page, "client-delete");
});

await propose(wiki);
await task("refuse a proposal", bob, async ({ page, click, sign }) => {
  await click('a[href$="/admin/proposals"]');
  await click("tbody a", { hasText: "Day Wiki" });
  await click(folded("proposal-refuse"));
  await page.locator(form("proposal-refuse")).locator('[name="reason"]').fill("still in use");
  await click(`${form("proposal-refuse")} button[type="submit"]`);
  await sign();
});

await task("an operator leaves", bob, async ({ page, click, sign }) => {
  await click('a[href$="/admin/people"]');
  await click("tbody th a", { hasText: "Carl Diaz" });
  await click(folded("operator-suspend"));
  await page.locator(form("operator-suspend")).locator('[name="reason"]').fill("left the company");
  await click(`${form("operator-suspend")} button[type="submit"]`);
  await sign();
  const answer = await carl.page.goto(DESK);
  assert.equal(answer.status(), 404, "a suspended operator's next request is not answered");
});

await task("the last sign-ins of a person", ada, async ({ page, click }) => {
  await click('a[href$="/admin/people"]');
  await click("tbody th a", { hasText: "Grace Lin" });
  assert.match(await page.locator("aside").innerText(), /Last sign-in\s+20\d\d-/);
});

await check("the day: all together take at most half of the clicks and signatures of before", () => {
  const done = Object.keys(BEFORE).filter((name) => BEFORE[name]);
  const sum = (values) => values.reduce((all, [clicks, signatures]) => [all[0] + clicks, all[1] + signatures], [0, 0]);
  const before = sum(done.map((name) => BEFORE[name]));
  const after = sum(done.map((name) => [took[name].clicks, took[name].signatures]));
  for (const [name, { clicks, signatures, seconds }] of Object.entries(took)) {
    console.log(`        ${name}: ${clicks} clicks, ${signatures} signatures, ${seconds.toFixed(1)} s; before: ${BEFORE[name] ? `${BEFORE[name][0]} clicks, ${BEFORE[name][1]} signatures` : "not at the desk"}`);
  }
  console.log(`        together: ${after[0]} clicks and ${after[1]} signatures; before: ${before[0]} and ${before[1]}`);
  assert.deepEqual(Object.keys(took).sort(), Object.keys(BEFORE).sort());
  assert.ok(after[0] * 2 <= before[0] && after[1] * 2 <= before[1]);
});

for (const seat of [ada, bob, carl]) await seat.context.close();
await close();
