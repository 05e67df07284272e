// Operators at the desk in Chromium, for its judges: how they sign in, fill in a form and sign, with a wallet in the browser or
// with one that is elsewhere.

import assert from "node:assert/strict";
import { judgeLooks } from "./axe.mjs";
import { BASE } from "./client.mjs";
import { addMembers, manage } from "./desk-changes.mjs";
import { SLOW, TestWallet, confirmed, person, picturesIn, textByHand } from "./people.mjs";
import { FAMILY_WALLETS } from "./wallets.mjs";

export const DESK = `${BASE}/admin`;
export const picture = picturesIn("target/screenshots/desk");

await manage("POST", "/groups", { name: "operators" });

const familyWallet = (title) => FAMILY_WALLETS.find((each) => each.title === title).make();

/** A wallet of each of five families: how it is announced, how its holder declines, and what signs by hand. */
export const FAMILIES = [
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
export async function operator(make, { javaScriptEnabled = true, isOperator = true } = {}) {
  const holder = make();
  if (isOperator) await addMembers("operators", holder.wallet.key.address);
  const context = await person({ viewport: { width: 1280, height: 900 }, ...holder.settings, javaScriptEnabled });
  const page = await context.newPage();
  await page.goto(`${BASE}/account`);
  if (javaScriptEnabled) {
    await choose(page, holder.wallet);
    await confirmed(page);
    await page.locator("#sign").click();
  } else {
    await page.locator("#signature").fill(await holder.sign(await textByHand(page, holder.wallet.key.address)));
    await page.locator("#verify").click();
  }
  await page.waitForURL((url) => url.pathname.endsWith("/account"), SLOW);
  await page.goto(DESK);
  return { ...holder, context, page };
}

/** Checks the page as it is now, at every width and in both color schemes. */
export async function look(page, name) {
  const before = page.viewportSize();
  await judgeLooks(page, name, { widths: [320, 768, 1280], picture });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}

const SOON = { timeout: 5000 };
/** The text of a change is folded where scripts run. */
export const ATTACHED = { ...SLOW, state: "attached" };

/** The form of a page for a change, opened. */
export async function formFor(page, change, about) {
  let form = page.locator(`form[action$="/admin/changes"]:has(input[name="change"][value="${change}"])`);
  if (about) form = form.filter({ has: page.locator(`input[type="hidden"][value="${about}"]`) });
  form = form.first();
  await form.evaluate((each) => {
    for (let up = each.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    for (const inner of each.querySelectorAll("details")) inner.open = true;
  });
  return form;
}

/** The form of a page for a change, filled in. On a busy machine a page can be painted anew with its forms closed, so it is tried again. */
async function filledIn(page, change, about, fields) {
  for (let tries = 1; ; tries++) {
    const form = await formFor(page, change, about);
    try {
      for (const [name, value] of Object.entries(fields)) {
        const field = form.locator(`[name="${name}"]`);
        if (Array.isArray(value)) for (const each of value) await form.locator(`[name="${name}"][value="${each}"]`).check(SOON);
        else if (value === true) await field.check(SOON);
        else if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value, SOON);
        else await field.fill(value, SOON);
      }
      return form;
    } catch (error) {
      if (tries === 4) throw error;
    }
  }
}

/** Fills in a form, and goes on to the text. */
export async function ask(page, change, { page: path, about, fields = {} }) {
  await page.goto(`${DESK}${path}`);
  const form = await filledIn(page, change, about, fields);
  await form.locator('button[type="submit"]').click();
  await page.locator("#text").waitFor(ATTACHED);
  const text = await page.locator("#text").textContent();
  assert.match(text, new RegExp(`\n- urn:countersign:change:${change}\n`));
  assert.ok(text.startsWith(`${new URL(BASE).host} wants you to sign in with your `));
  return text;
}

export const choose = (page, wallet) => page.locator("#wallet-list .wallet", { hasText: wallet.name }).click();

export async function signByHand({ page, sign }) {
  await page.locator("#by-hand").evaluate((details) => (details.open = true));
  await page.locator("#signature").fill(await sign(await page.locator("#text").textContent()));
  await page.locator("#finish").click();
}

export const isDone = (page, change) => page.locator(`[data-done="${change.replaceAll("-", "_")}"]`).waitFor(SLOW);

/** Keeps what a page posts from now on. Returns how to send the last signature again, as the browser sent it. */
export function keepSigned(page) {
  const sent = [];
  page.on("request", (request) => request.method() === "POST" && sent.push({ url: request.url(), body: request.postData() }));
  return async () => {
    const signing = sent.findLast(({ url }) => url.endsWith("/admin/changes/sign"));
    const again = await page.request.post(signing.url, {
      data: signing.body,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(BASE).origin, accept: "text/html" },
      maxRedirects: 0,
    });
    assert.ok(again.status() >= 400 && again.status() < 500, `sent again: ${again.status()}`);
  };
}
