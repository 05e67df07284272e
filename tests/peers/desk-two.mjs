// Two operators in Chromium, on a server where dangerous changes need both: one proposes, the other signs, or is overtaken, or the
// first takes it back. axe-core checks each state.
// node desk-two.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL http://ADMIN_LISTEN ADMIN_KEY
// Screenshots go to target/screenshots/desk.

import assert from "node:assert/strict";
import { BASE, check } from "./client.mjs";
import { CHANGES, operate } from "./desk-changes.mjs";
import { ATTACHED, DESK, FAMILIES, choose, look, operator } from "./desk-people.mjs";
import { SLOW, close, inState } from "./people.mjs";

const [one, two] = await Promise.all([operator(FAMILIES[0]), operator(FAMILIES[1])]);

/** Proposes that a client is deleted. Returns the path of the proposal. */
async function propose(seat) {
  const subject = await CHANGES.find(({ change }) => change === "client-delete").prepare();
  const { page } = seat;
  await page.goto(`${DESK}${subject.page}`);
  await page.locator('form:has(input[name="change"][value="client-delete"]) button[type="submit"]').click();
  await page.locator("#second").waitFor(SLOW);
  await choose(page, seat.wallet);
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
  await two.page.locator("#text").waitFor(ATTACHED);
  assert.match(await two.page.locator("#text").textContent(), /urn:countersign:proposal:/);
  await look(two.page, "sign-second");
  two.reject();
  await choose(two.page, two.wallet);
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
  await two.page.locator("#text").waitFor(ATTACHED);
  await meanwhile();
  await choose(two.page, two.wallet);
  await two.page.locator("#stale").waitFor(SLOW);
  await look(two.page, "stale-second");
});

await check("whoever proposed it takes it back, and the other cannot sign it any more", async () => {
  const { path } = await propose(one);
  await two.page.goto(new URL(path, BASE).href);
  await two.page.locator("#sign-form button").click();
  await two.page.locator("#text").waitFor(ATTACHED);
  await one.page.goto(new URL(path, BASE).href);
  await one.page.locator('form:has(input[name="change"][value="proposal-withdraw"]) button[type="submit"]').click();
  await one.page.locator("#text").waitFor(ATTACHED);
  await choose(one.page, one.wallet);
  await one.page.locator('[data-done="proposal_withdraw"]').waitFor(SLOW);
  await choose(two.page, two.wallet);
  await two.page.locator("#trouble").waitFor(SLOW);
  await look(two.page, "proposal-gone");
});

await check("another operator refuses it with a reason, which the first one reads", async () => {
  const { path } = await propose(one);
  await two.page.goto(new URL(path, BASE).href);
  const form = two.page.locator('details:has(input[name="change"][value="proposal-refuse"])');
  await form.locator("summary").click();
  await form.locator('input[name="reason"]').fill("It's still in use");
  await look(two.page, "refuse");
  await form.locator('button[type="submit"]').click();
  await two.page.locator("#text").waitFor(ATTACHED);
  await choose(two.page, two.wallet);
  await two.page.locator('[data-done="proposal_refuse"]').waitFor(SLOW);
  await one.page.goto(new URL(path, BASE).href);
  assert.match(await one.page.locator("main").innerText(), /It's still in use/);
  assert.equal(await one.page.locator("#sign-form, form:has(input[name=change])").count(), 0);
  await look(one.page, "refused");
});

await check("the overview says what waits for a second operator", async () => {
  const { path } = await propose(one);
  await two.page.goto(DESK);
  assert.match(await two.page.locator("#waiting").innerText(), /^[1-9]/);
  await look(two.page, "overview");
  await two.page.locator(`#warnings a[href$="/admin/proposals"]`).click();
  await two.page.locator(`a[href="${path}"]`).waitFor(SLOW);
});

await check("what was signed by two verifies offline", () => {
  assert.match(operate("event", "verify"), /hold/i);
});

await one.context.close();
await two.context.close();
await close();
