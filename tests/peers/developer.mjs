// A developer who walks through the playground. playground.mjs and playground-code.mjs share it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BASE } from "./client.mjs";
import { SLOW, inState, person } from "./people.mjs";

/** The folder of the judges. */
export const here = fileURLToPath(new URL(".", import.meta.url));

/** The URL of the playground, and its steps by their names on the page. */
export const PLAYGROUND = `${BASE}/playground`;
export const STEPS = ["register", "authorize", "sign_in", "token", "userinfo", "refresh", "revoke", "userinfo_again"];

export const sent = []; // All requests of the browsers. The wallets' keys must not be in them.
export const walletKeys = new Set();

/** A developer who opens the playground. */
export async function developer({ colorScheme, width = 1280, javaScriptEnabled } = {}) {
  const context = await person({ colorScheme, javaScriptEnabled, viewport: { width, height: 900 } });
  context.on("request", (made) => sent.push(`${made.url()} ${JSON.stringify(made.headers())} ${made.postData() ?? ""}`));
  const page = await context.newPage();
  assert.equal((await page.goto(PLAYGROUND)).status(), 200);
  if (javaScriptEnabled !== false) await page.locator("#break-token").waitFor();
  return page;
}

// --- steps -------------------------------------------------------------------------------------------------

export const outcome = async (page, step, ...wanted) => {
  const found = page.locator(wanted.map((each) => `.progress [data-step="${step}"][data-outcome="${each}"]`).join(", "));
  await found.waitFor(SLOW).catch(async () => assert.fail(`${step}: ${await page.locator(`#${step} .verdict`).textContent()}`));
};
export const press = (page, step) => page.locator(`form[data-step="${step}"] button[type="submit"]`).click();
export const wire = (page, step) => page.locator(`#${step} .wire pre`).allTextContents();
export const kept = (page) => page.evaluate(() => JSON.parse(sessionStorage.getItem("countersign.playground")));
export const habit = (page, name, on = true) =>
  page.locator(`#habits input[value="${name}"]`).evaluate((box, wanted) => {
    if (box.checked !== wanted) box.click();
  }, on);

export const keysOf = (page) => page.evaluate(() => JSON.parse(sessionStorage.getItem("countersign.playground.keys")));

/** On the sign-in page: chooses the test wallet. */
export async function chooseWallet(page) {
  await page.waitForURL((url) => url.pathname.endsWith("/auth"), SLOW);
  // A user who has signed in before is asked to continue without a wallet.
  const another = page.locator("#another");
  if (await another.count()) await another.click();
  await page.locator("#wallet-list .wallet", { hasText: "Test wallet (throw-away)" }).click();
}

/** Signs in with the test wallet and returns. */
export async function signIn(page) {
  await chooseWallet(page);
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await page.locator("dialog.test-wallet button.primary").click();
  await page.waitForURL((url) => url.href === PLAYGROUND, SLOW);
  for (const key of await keysOf(page)) walletKeys.add(key);
}

/** Registers a client of the given kind and signs in, up to the code. */
export async function withCode(page) {
  await page.locator("#run-to-sign-in").click();
  await signIn(page);
  await outcome(page, "sign_in", "done");
}

export async function choose(page, { kind = "confidential", pkce = true, callback }) {
  await page.locator(`[name="kind"][value="${kind}"]`).check();
  if (kind === "confidential") await page.locator("#pkce").setChecked(pkce);
  if (callback) await page.locator("#callback").fill(callback);
}

/** Runs a program; `ended` resolves to its output when it has exited. */
export function run(program, args, input) {
  const child = spawn(program, args, { cwd: here, stdio: ["pipe", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (printed += part));
  if (input !== undefined) child.stdin.end(input);
  return { child, printed: () => printed, ended: new Promise((over) => child.on("close", () => over(printed))) };
}
