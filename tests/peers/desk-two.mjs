// Two operators in Chromium, on a server where dangerous changes need both: one proposes, the other signs, or is overtaken, or the
// first takes it back. axe-core checks each state.
// node desk-two.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL          Screenshots go to target/screenshots/desk.

import assert from "node:assert/strict";
import { AXE, judgeLooks } from "./axe.mjs";
import { BASE, check } from "./client.mjs";
import { CHANGES, operate } from "./desk-changes.mjs";
import { SLOW, TestWallet, close, confirmed, inState, person, picturesIn } from "./people.mjs";
import { FAMILY_WALLETS } from "./wallets.mjs";

const picture = picturesIn("target/screenshots/desk");
const DESK = `${BASE}/admin`;

operate("group", "create", "operators");

async function operator(wallet, settings) {
  operate("group", "add", "operators", wallet.key.address);
  const context = await person({ viewport: { width: 1280, height: 900 }, ...settings });
  await context.addInitScript({ path: AXE });
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  await page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();
  await confirmed(page);
  await page.locator("#sign").click();
  await page.waitForURL((url) => url.pathname.endsWith("/account"), SLOW);
  return { wallet, page, context };
}

const ethereum = new TestWallet();
const solana = FAMILY_WALLETS.find(({ title }) => title.startsWith("a Solana")).make();
const one = await operator(ethereum, { wallet: ethereum, eip6963: true });
const two = await operator(solana, { others: [solana] });

async function look(page, name) {
  const before = page.viewportSize();
  await judgeLooks(page, name, { widths: [320, 768, 1280], picture });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}

const choose = ({ page, wallet }) => page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();

/** Proposes that a client is deleted. Returns the path of the proposal. */
async function propose(seat) {
  const subject = await CHANGES.find(({ change }) => change === "client-delete").prepare();
  const { page } = seat;
  await page.goto(`${DESK}${subject.page}`);
  await page.locator('form:has(input[name="change"][value="client-delete"]) button[type="submit"]').click();
  await page.locator("#second").waitFor(SLOW);
  await choose(seat);
  await page.locator("#proposal").waitFor(SLOW);
  return { ...subject, path: await page.locator("#proposal").getAttribute("href") };
}

await check("one proposes, the other sees the same words and how it is now, signs, and it is done", async () => {
  const { path, page: client } = await propose(one);
  await look(one.page, "proposed");
  const before = await one.page.request.get(`${DESK}${client}`);
  assert.equal(before.status(), 200, "nothing happened yet");
  await one.page.goto(new URL(path, BASE).href);
  await one.page.locator("#same-person").waitFor(SLOW);
  await look(one.page, "proposal-of-mine");
  await two.page.goto(`${DESK}/proposals`);
  await look(two.page, "proposals");
  await two.page.locator(`a[href="${path}"]`).click();
  await look(two.page, "proposal-of-another");
  await two.page.locator("#sign-form button").click();
  await two.page.locator("#text").waitFor(SLOW);
  assert.match(await two.page.locator("#text").textContent(), /urn:countersign:proposal:/);
  await look(two.page, "sign-second");
  solana.refusals.push("sign");
  await choose(two);
  await inState(two.page, "sign-rejected");
  await two.page.locator("#sign").click();
  await two.page.locator('[data-done="client_delete"]').waitFor(SLOW);
  const after = await one.page.request.get(`${DESK}${client}`);
  assert.equal(after.status(), 404, "the client is gone");
  await two.page.goto(new URL(path, BASE).href);
  await look(two.page, "proposal-done");
});

await check("what changed meanwhile is refused with what changed", async () => {
  const { path, meanwhile } = await propose(one);
  await two.page.goto(new URL(path, BASE).href);
  await two.page.locator("#sign-form button").click();
  await two.page.locator("#text").waitFor(SLOW);
  meanwhile();
  await choose(two);
  await two.page.locator("#stale").waitFor(SLOW);
  await look(two.page, "stale-second");
});

await check("whoever proposed it takes it back, and the other cannot sign it any more", async () => {
  const { path } = await propose(one);
  await two.page.goto(new URL(path, BASE).href);
  await two.page.locator("#sign-form button").click();
  await two.page.locator("#text").waitFor(SLOW);
  await one.page.goto(new URL(path, BASE).href);
  await one.page.locator('form:has(input[name="change"][value="proposal-withdraw"]) button[type="submit"]').click();
  await one.page.locator("#text").waitFor(SLOW);
  await choose(one);
  await one.page.locator('[data-done="proposal_withdraw"]').waitFor(SLOW);
  await choose(two);
  await two.page.locator("#trouble").waitFor(SLOW);
  await look(two.page, "proposal-gone");
});

await check("the overview says what waits for a second operator", async () => {
  const { path } = await propose(one);
  await two.page.goto(DESK);
  assert.match(await two.page.locator("#waiting").innerText(), /^[1-9]/);
  await look(two.page, "overview");
  await two.page.locator("#waiting a").click();
  await two.page.locator(`a[href="${path}"]`).waitFor(SLOW);
});

await check("what was signed by two verifies offline", () => {
  assert.match(operate("event", "verify"), /hold/i);
});

await one.context.close();
await two.context.close();
await close();
