// What each library is asked to do, and what counts as success. The server is asked too: a step counts only
// if the server agrees.

import assert from "node:assert/strict";
import { LIES, liar } from "./liar.mjs";

/** The columns of the table. */
export const STEPS = ["login", "id_token", "userinfo", "refresh", "revoke", "logout"];
/** What an application must refuse. */
export const FALSE = ["state", ...Object.keys(LIES)];

/** Whose access token this is, according to the server; undefined if it no longer works. */
export async function owner(issuer, tokens) {
  const answer = await fetch(`${issuer}/oauth/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  if (answer.status === 401) return undefined;
  assert.equal(answer.status, 200, `userinfo returned ${answer.status}`);
  return answer.json();
}

const part = (token, place) => JSON.parse(Buffer.from(token.split(".")[place], "base64url"));
const header = (token) => part(token, 0);
const payload = (token) => part(token, 1);

/** The redirect back, with a changed state. */
const otherState = (back) => {
  const url = new URL(back);
  url.searchParams.set("state", `${url.searchParams.get("state")}x`);
  return url.href;
};

const CHECKS = {
  async login(seat, issuer) {
    const held = await seat.login();
    assert.ok(held?.tokens?.access_token, `nobody is signed in: ${seat.why()}`);
    if (seat.row.resource) assert.equal(payload(held.tokens.access_token).aud, seat.row.resource(seat));
    else if (seat.row.bound) assert.ok(payload(held.tokens.access_token).cnf.jkt, "the access token is not bound to a key");
    else assert.equal((await owner(issuer, held.tokens))?.wallet_address, seat.address);
  },
  async id_token(seat, issuer) {
    const held = await seat.held();
    assert.equal(header(held.tokens.id_token).alg, seat.row.algorithm);
    assert.equal(held.claims.sub, payload(held.tokens.access_token).sub);
    assert.equal(payload(held.tokens.id_token).wallet_address, seat.address);
  },
  async userinfo(seat) {
    const told = await seat.act("userinfo");
    assert.equal(told.wallet_address, seat.address, JSON.stringify(told));
  },
  async refresh(seat, issuer) {
    const before = await seat.held();
    await seat.act("refresh");
    const after = await seat.held();
    for (const name of ["access_token", "refresh_token"].filter((each) => before.tokens[each])) assert.notEqual(after.tokens[name], before.tokens[name], `the same ${name} as before`);
    if (!seat.row.resource && !seat.row.bound) assert.equal((await owner(issuer, after.tokens)).wallet_address, seat.address);
  },
  async revoke(seat, issuer) {
    const { tokens } = await seat.held();
    await seat.act("revoke");
    assert.equal(await owner(issuer, tokens), undefined, "the access token still works");
  },
  async logout(seat) {
    assert.ok(await seat.login(), `the second sign-in: ${seat.why()}`);
    assert.ok(await seat.known(), "the server does not know the browser after a sign-in");
    await seat.act("logout");
    assert.equal(await seat.held(), undefined, `still signed in: ${seat.why()}`);
    assert.ok(!(await seat.known()), "the server still knows the browser");
  },
};

/**
 * Which of the lies the application refuses. If the liar tells the truth, the application must sign the user
 * in.
 */
async function refused(row, seatOf, issuer) {
  const [found, source] = [[], await liar(issuer)];
  const seat = await seatOf.start(row, issuer, source.url);
  try {
    assert.ok(await seat.login(), `it refuses a correct ID token: ${seat.why()}`);
    for (const lie of Object.keys(LIES)) {
      source.lie = lie;
      if (!(await seat.login())) found.push(lie);
    }
    return found;
  } finally {
    await seat.stop();
    await source.close();
  }
}

/** Judges one row: the result of each step, what was refused, and why something failed. */
export async function judge(row, seatOf, issuer) {
  const [results, reasons] = [{}, {}];
  const attempt = async (name, body) => {
    try {
      return await body();
    } catch (error) {
      reasons[name] = String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 700);
      return undefined;
    }
  };
  const seat = await attempt("login", () => seatOf.start(row, issuer));
  const steps = STEPS.filter((step) => step === "login" || row.steps.includes(step));
  const refuses = [];
  if (seat) {
    await attempt("state", async () => (await seat.login({ landing: otherState })) ?? refuses.push("state"));
    for (const step of steps) {
      if (step !== "login" && reasons.login) reasons[step] = "no one is signed in";
      else await attempt(step, () => CHECKS[step](seat, issuer));
    }
    await attempt("stop", () => seat.stop());
  } else {
    for (const step of steps) reasons[step] ??= "it did not start";
  }
  if (row.steps.includes("id_token") && !reasons.id_token && !row.noLiar) {
    refuses.push(...((await attempt("refuses", () => refused(row, seatOf, issuer))) ?? []));
  }
  for (const step of STEPS) results[step] = !steps.includes(step) ? "none" : reasons[step] || !seat ? "fails" : "yes";
  return { results, refuses, reasons };
}
