// Changes at the desk in Chromium: operators with wallets of five families make each change of the list, decline it in the
// wallet, are overtaken by somebody else, and send it twice; with scripts, and without them. axe-core checks the states that a
// change goes through, at three widths, light and dark.
// node desk.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL http://ADMIN_LISTEN ADMIN_KEY
// Screenshots go to target/screenshots/desk.

import assert from "node:assert/strict";
import { check } from "./client.mjs";
import { CHANGES, operate } from "./desk-changes.mjs";
import { DESK, FAMILIES, ask, choose, isDone, keepSigned, look, operator, picture, signByHand } from "./desk-people.mjs";
import { SLOW, TestWallet, close, inState, severalAtOnce } from "./people.mjs";

/** Two that would overtake each other go one after the other. */
const OF_KEYS = ["keys-rotate", "key-withdraw"];

/** The changes of each seat: dealt out, so that each family makes several. */
const shares = FAMILIES.map((make, seat) => ({ make, changes: CHANGES.filter(({ change }, place) => !OF_KEYS.includes(change) && place % FAMILIES.length === seat) }));
shares.at(-1).changes.push(...CHANGES.filter(({ change }) => OF_KEYS.includes(change)));

await severalAtOnce(shares.map(({ make, changes }) => async () => {
  const seat = await operator(make);
  const { page, wallet } = seat;
  const sendAgain = keepSigned(page);
  for (const { change, prepare } of changes) {
    await check(`${change}: declined in ${wallet.name}, overtaken, made, and sent again`, async () => {
      const first = await prepare();
      await ask(page, change, first);
      seat.reject();
      await choose(page, wallet);
      await inState(page, "sign-rejected");
      assert.equal(await page.locator('[role="alert"] p').count(), 0, "declining is not an error");
      if (first.meanwhile) {
        await first.meanwhile();
        const [answer] = await Promise.all([page.waitForResponse((response) => response.request().method() === "POST"), page.locator("#sign").click()]);
        assert.equal(answer.status(), 409);
        await page.locator("#stale").waitFor(SLOW);
        assert.ok((await page.locator("#changed dt").count()) > 0, "what changed is said");
        if (change === "wallet-block") await look(page, "stale");
      }
      await ask(page, change, await prepare());
      if (["user-block", "client-register", "keys-rotate"].includes(change)) await look(page, `sign-${change}`);
      await choose(page, wallet);
      await isDone(page, change);
      if (["user-block", "client-register", "admin-key-create"].includes(change)) await look(page, `done-${change}`);
      await sendAgain();
    });
  }
  await seat.context.close();
}));

await check("a signature of the wrong wallet and one that is none are told beside the text, and the text can be signed again", async () => {
  const seat = await operator(FAMILIES[0]);
  const other = new TestWallet();
  const subject = await CHANGES.find(({ change }) => change === "group-create").prepare();
  await ask(seat.page, "group-create", subject);
  await signByHand({ page: seat.page, sign: (text) => other.key.signMessage(text) });
  await seat.page.locator("#trouble").waitFor(SLOW);
  await look(seat.page, "bad-signature");
  await signByHand(seat);
  await isDone(seat.page, "group-create");
  await seat.context.close();
});

// --- without scripts ---------------------------------------------------------------------------------------

const PAGES = ["", "/people", "/wallets", "/groups", "/clients", "/resources", "/events", "/proposals", "/keys", "/admin-keys", "/search?q=nothing-like-that"];

await severalAtOnce(FAMILIES.slice(0, 4).map((make, place) => () =>
  check(`without scripts, the wallet elsewhere: operator ${place + 1} reads, is overtaken, signs by hand, and is refused a second time`, async () => {
    const seat = await operator(make, { javaScriptEnabled: false });
    const { page, context } = seat;
    for (const path of PAGES) {
      const answer = await page.goto(`${DESK}${path}`);
      assert.equal(answer.status(), 200, path);
    }
    const sendAgain = keepSigned(page);
    let isOvertaken = false;
    for (const { change, prepare } of CHANGES.filter(({ change }, index) => index % 4 === place && !OF_KEYS.includes(change))) {
      const first = await prepare();
      await ask(page, change, first);
      if (first.meanwhile && !isOvertaken) {
        await first.meanwhile();
        await signByHand(seat);
        await page.locator("#stale").waitFor(SLOW);
        isOvertaken = true;
        await ask(page, change, await prepare());
      }
      await signByHand(seat);
      await isDone(page, change);
      await sendAgain();
    }
    assert.ok(isOvertaken);
    await picture(page, `no-script-${place}`);
    await context.close();
  }),
));

await check("what was signed verifies offline", () => {
  assert.match(operate("event", "verify"), /hold/i);
});

await close();
