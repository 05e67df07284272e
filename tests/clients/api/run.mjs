// Calls the APIs of docs/protecting-an-api.md with good tokens and with every kind of wrong one:
// node run.mjs http://localhost:8080 '{"photos": …, "payroll": …, "program": …, "api": …, "staff": "0x<private key>"}'
// `program` is a client of the grant type wallet-signature, `api` the API's own client; `staff` is in the group that photos.admin needs.

import assert from "node:assert/strict";
import { Wallet } from "ethers";
import * as oauth from "oauth4webapi";
import { App, freePort } from "../driver/app.mjs";

const [, , issuer, told] = process.argv;
const { photos, payroll, program, api, staff } = JSON.parse(told);
const SIGNATURE = "urn:countersign:params:oauth:grant-type:wallet-signature";
const insider = new Wallet(staff);
const outsider = Wallet.createRandom();
const basic = ({ client_id, client_secret }) => ({ Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` });

async function post(path, body, headers = {}) {
  const answer = await fetch(`${issuer}${path}`, { method: "POST", headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path} answered ${answer.status}: ${text}`);
  return text && JSON.parse(text);
}

/** The tokens that a wallet gets by its signature. */
async function signIn(wallet, scope, resource, key) {
  const asked = JSON.stringify({ client_id: program.client_id, wallet_address: wallet.address, scope, resource });
  const { challenge } = await post("/oauth/challenge", asked, { "Content-Type": "application/json" });
  const form = new URLSearchParams({ grant_type: SIGNATURE, challenge, signature: await wallet.signMessage(challenge) });
  if (!key) return post("/oauth/token", form, basic(program));
  const proof = (nonce) => proofOf(key, "POST", `${issuer}/oauth/token`, { nonce });
  const first = await fetch(`${issuer}/oauth/token`, { method: "POST", headers: { ...basic(program), DPoP: await proof() }, body: form });
  assert.equal((await first.json()).error, "use_dpop_nonce");
  return post("/oauth/token", form, { ...basic(program), DPoP: await proof(first.headers.get("dpop-nonce")) });
}

/** A proof of a key (RFC 9449). */
async function proofOf({ publicKey, privateKey }, htm, htu, { token, nonce } = {}) {
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const b64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const ath = token && Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(token))).toString("base64url");
  const claims = { jti: crypto.randomUUID(), htm, htu, iat: Math.floor(Date.now() / 1000), ath, nonce };
  const signed = `${b64({ typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } })}.${b64(claims)}`;
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString("base64url")}`;
}

const [key, otherKey] = [await oauth.generateKeyPair("ES256"), await oauth.generateKeyPair("ES256")];
const both = "photos.read photos.admin";
const of = {
  reader: await signIn(outsider, "photos.read"),
  outsider: await signIn(outsider, both),
  insider: await signIn(insider, both),
  openid: await signIn(insider, `openid ${both}`, photos),
  payroll: await signIn(insider, "payroll.read"),
  profile: await signIn(insider, "profile"),
  bound: await signIn(insider, both, photos, key),
  itself: await post("/oauth/token", new URLSearchParams({ grant_type: "client_credentials", scope: "photos.read" }), basic(program)),
};
assert.equal(of.outsider.scope, "photos.read", "who is not in the group gets the rest");
assert.deepEqual(of.insider.scope.split(" ").sort(), both.split(" ").sort());
const audience = ({ access_token }) => JSON.parse(Buffer.from(access_token.split(".")[1], "base64url")).aud;
assert.deepEqual([audience(of.insider), audience(of.payroll)].map(String), [photos, payroll]);

let judged = 0;
const facts = [];

/** Calls an API, and compares its answer. */
async function expects(port, says, method, headers, status, challenge) {
  const answer = await fetch(`http://127.0.0.1:${port}/photos`, { method, headers });
  const found = [answer.status, answer.headers.get("www-authenticate")];
  const wanted = [status, challenge ?? null];
  judged += 1;
  if (JSON.stringify(found) !== JSON.stringify(wanted)) facts.push(`${says}: ${method} answered ${found}, not ${wanted}`);
}

async function judge(name, file, asks) {
  const port = await freePort();
  const credentials = asks ? { API_CLIENT_ID: api.client_id, API_CLIENT_SECRET: api.client_secret } : {};
  const app = new App(file, { ISSUER: issuer, RESOURCE: photos, PORT: String(port), ...credentials });
  const by = `${name}, ${asks ? "introspection" : "offline"}`;
  try {
    await app.listening(port);
    const call = (says, ...rest) => expects(port, `${by}: ${says}`, ...rest);
    const bearer = ({ access_token }) => ({ Authorization: `Bearer ${access_token}` });
    const WRONG = 'Bearer error="invalid_token"';
    const fewer = (scope) => `Bearer error="insufficient_scope", scope="${scope}"`;
    await call("no token", "GET", {}, 401, "Bearer");
    await call("a reader reads", "GET", bearer(of.reader), 200);
    await call("a reader does not delete", "DELETE", bearer(of.reader), 403, fewer("photos.admin"));
    await call("who lacks the group reads", "GET", bearer(of.outsider), 200);
    await call("who lacks the group does not delete", "DELETE", bearer(of.outsider), 403, fewer("photos.admin"));
    await call("who is in the group deletes", "DELETE", bearer(of.insider), 200);
    await call("a token for two audiences", "DELETE", bearer(of.openid), 200);
    await call("a program for itself reads", "GET", bearer(of.itself), 200);
    await call("a program for itself does not delete", "DELETE", bearer(of.itself), 403, fewer("photos.admin"));
    await call("a token of another resource", "GET", bearer(of.payroll), 401, WRONG);
    await call("a token for the server only", "GET", bearer(of.profile), 401, WRONG);
    await call("an ID token", "GET", { Authorization: `Bearer ${of.openid.id_token}` }, 401, WRONG);
    await call("a refresh token", "GET", { Authorization: `Bearer ${of.reader.refresh_token}` }, 401, WRONG);
    await call("another scheme", "GET", { Authorization: `Basic ${of.reader.access_token}` }, 401, WRONG);
    await call("a scheme alone", "GET", { Authorization: "Bearer" }, 401, WRONG);
    const [head, body, signature] = of.reader.access_token.split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
    for (const changed of [`${none}.${body}.`, `${head}.${body}.`, `${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`, `${head}.e30.${signature}`, "x", "a.b.c"])
      await call(`changed: ${changed.slice(0, 12)}…`, "GET", { Authorization: `Bearer ${changed}` }, 401, WRONG);
    const token = of.bound.access_token;
    const proven = async (who, method, url, whose = token) => ({ Authorization: `DPoP ${token}`, DPoP: await proofOf(who, method, url, { token: whose }) });
    const here = `${photos}/photos`;
    await call("a bound token with its proof", "DELETE", await proven(key, "DELETE", here), 200);
    await call("a bound token as a bearer token", "GET", { Authorization: `Bearer ${token}` }, 401, WRONG);
    await call("a bound token without a proof", "GET", { Authorization: `DPoP ${token}` }, 401, WRONG);
    await call("the proof of another key", "GET", await proven(otherKey, "GET", here), 401, WRONG);
    await call("the proof of another method", "GET", await proven(key, "DELETE", here), 401, WRONG);
    await call("the proof of another address", "GET", await proven(key, "GET", `${payroll}/photos`), 401, WRONG);
    await call("the proof of another token", "GET", await proven(key, "GET", here, of.reader.access_token), 401, WRONG);
    const revoked = await signIn(outsider, "photos.read");
    await post("/oauth/revoke", new URLSearchParams({ token: revoked.access_token }), basic(program));
    await call("a revoked token", "GET", bearer(revoked), ...(asks ? [401, WRONG] : [200]));
  } catch (error) {
    facts.push(`${by}: ${error.message}\n${app.printed}`);
  } finally {
    await app.stop();
  }
}

for (const [name, file] of [["Express", "api/express_api.mjs"], ["Flask", "api/flask_api.py"], ["axum", "api/axum_api.rs"]])
  for (const asks of [false, true]) await judge(name, file, asks);
for (const fact of facts) console.error(`FAILED ${fact}`);
console.log(`${judged} calls to 3 APIs, ${facts.length} wrong answers`);
process.exit(facts.length === 0 && judged === 6 * 29 ? 0 : 1);
