// Three stock libraries, whose clients have lifetimes of their own, while an operator shortens those of one:
// node lifetimes.mjs http://localhost:8080 '{"brief": <client>, "shortened": <client>, "idle": <client>, "shorten": <command>}'
//
// No lifetime is shorter than a minute, so this waits for one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { owner } from "./driver/judge.mjs";
import { Program, Web } from "./driver/surfaces.mjs";
import { ROWS } from "./rows.mjs";

const [issuer, given] = process.argv.slice(2);
const { brief, shortened, idle, shorten } = JSON.parse(given);
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** An application with a client that an operator registered, in which a new person is signed in. */
async function signedIn(Seat, library, client) {
  const row = ROWS.find((each) => (each.title ?? each.library) === library);
  const seat = await Seat.start({ ...row, client }, issuer);
  assert.ok(await seat.login(), seat.why());
  return { seat, library, kept: await seat.held() };
}

/** What the library says about how long the access token is valid. */
const lasts = async ({ seat, library }, seconds) => assert.equal((await seat.held()).tokens.expires_in, seconds, library);

const refused = ({ seat, library }, step) => assert.rejects(() => seat.act(step), undefined, `${library}: ${step} is answered`);

/** The access token has ended, the library says so, and a new one is as long as the client's are now. */
async function endedAndRefreshed(application, seconds) {
  const { seat, library, kept } = application;
  assert.equal(await owner(issuer, kept.tokens), undefined, `${library}: the access token still works`);
  await refused(application, "userinfo");
  await seat.act("refresh");
  await lasts(application, seconds);
  assert.equal((await seat.act("userinfo")).wallet_address, seat.address, library);
}

const applications = await Promise.all([
  signedIn(Web, "openid-client", brief),
  signedIn(Web, "Authlib", shortened),
  signedIn(Program, "openidconnect", idle),
]);
const [openidClient, authlib, openidconnect] = applications;
await lasts(openidClient, MINUTE);
await lasts(authlib, 8 * HOUR);
await lasts(openidconnect, HOUR);
for (const { seat, library } of applications) assert.equal((await seat.act("userinfo")).wallet_address, seat.address, library);

await pause((MINUTE + 2) * 1_000);
await endedAndRefreshed(openidClient, MINUTE);
console.log("ok      openid-client: a minute was given; its access token ended by itself, and a refresh brought another");

assert.equal((await owner(issuer, authlib.kept.tokens))?.wallet_address, authlib.seat.address, "it ended before the operator shortened it");
execFileSync(shorten.program, shorten.words, { cwd: shorten.folder, env: { ...process.env, ...shorten.environment } });
await endedAndRefreshed(authlib, MINUTE);
console.log("ok      Authlib: eight hours were given and shortened to a minute; its access token ended at once, and a refresh brought another");

assert.equal((await openidconnect.seat.act("userinfo")).wallet_address, openidconnect.seat.address);
await refused(openidconnect, "refresh");
console.log("ok      openidconnect: refresh tokens end after a minute without use; its access token still works, its refresh token does not");

await Promise.all(applications.map(({ seat }) => seat.stop()));
