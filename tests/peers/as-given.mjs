// Checks in Chromium that what wallets return and what users paste reaches the server byte for byte. The
// wallet family is in no list and returns JSON.
// node as-given.mjs http://localhost:8080

import assert from "node:assert/strict";
import { Wallet } from "ethers";
import { check } from "./client.mjs";
import { SLOW, arrive, close, inState, person, textByHand } from "./people.mjs";

const KEY = Wallet.createRandom();
const ANSWER = ' {"family": "made up",  "signed": {"by me": [1, 2, 3]},\n\t"words": "with white  space"} ';

/**
 * A script of a family that the server does not know. Its one wallet has an Ethereum address and returns
 * JSON.
 */
const MODULE = `
  export function find(add) {
    add({
      name: "Made Up", kind: "Ethereum",
      connect: async () => [{ address: ${JSON.stringify(KEY.address)} }],
      sign: async () => ${JSON.stringify(ANSWER)},
    });
  }`;

/** The signatures that the page submits from now on. */
function signaturesOf(page) {
  const sent = [];
  page.on("request", (made) => new URL(made.url()).pathname === "/oauth/login" && sent.push(made.postDataJSON().signature));
  return sent;
}

await check("a wallet's JSON reaches the server unchanged, including white space", async () => {
  const context = await person({});
  await context.route(/ethereum[^/]*\.js$/, (route) => route.fulfill({ contentType: "text/javascript", body: MODULE }));
  const { page } = await arrive(context);
  const sent = signaturesOf(page);
  await page.locator("#wallet-list .wallet", { hasText: "Made Up" }).click(SLOW);
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await inState(page, "bad-signature");
  assert.deepEqual(sent, [ANSWER]);
  await context.close();
});

await check("white space around pasted text is removed, white space inside it is kept", async () => {
  const context = await person({});
  const { page } = await arrive(context);
  const sent = signaturesOf(page);
  await inState(page, "no-wallet");
  await textByHand(page, `  ${KEY.address}\u200b `);
  await page.locator("#signature").fill(`\ufeff\n${ANSWER}\u2060\n`);
  await page.locator("#verify").click();
  await inState(page, "bad-signature");
  assert.deepEqual(sent, [ANSWER.trim()]);
  await context.close();
});

await close();
