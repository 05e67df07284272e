// Receives pushed events, and checks each with npm `jose`: signature, type, issuer, audience.
// node events.mjs http://localhost:8080 PORT EVENTS

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

const [issuer, port, events] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const audience = `http://127.0.0.1:${port}/events`;
const keys = createRemoteJWKSet(new URL(`${issuer}/oauth/jwks`));
const verify = (token, more = {}) => jwtVerify(token, keys, { issuer, audience, typ: "secevent+jwt", algorithms: ["ES256"], ...more });
const rejected = (promise) => promise.then(() => false, () => true);

const seen = new Map();
await new Promise((done, failed) => {
  const late = setTimeout(() => failed(new Error(`${seen.size} of ${events} events`)), 90_000);
  createServer(async (request, answer) => {
    let token = "";
    for await (const part of request) token += part;
    try {
      assert.equal(request.headers["content-type"], "application/secevent+jwt");
      const { payload, protectedHeader } = await verify(token);
      assert.ok(protectedHeader.kid);
      assert.equal(payload.exp, undefined, "it tells what happened, and does not expire");
      assert.equal(payload.sub, undefined, "so that nobody takes it for another token (RFC 8417 section 4.5)");
      assert.equal(Object.keys(payload.events).length, 1);
      assert.match(Object.keys(payload.events)[0], /^urn:countersign:event:[a-z_]+$/);
      assert.ok(payload.toe <= payload.iat);
      seen.set(payload.jti, token);
      answer.writeHead(202).end();
    } catch (error) {
      answer.writeHead(500).end();
      failed(error);
    }
    if (seen.size >= events) {
      clearTimeout(late);
      done();
    }
  }).listen(port, "127.0.0.1");
});
console.log(`ok: ${seen.size} events hold, with the server's keys`);

const [token] = seen.values();
const [header, payload, signature] = token.split(".");
const altered = JSON.parse(Buffer.from(payload, "base64url"));
altered.jti = "another";
const forged = [header, Buffer.from(JSON.stringify(altered)).toString("base64url"), signature].join(".");
assert.ok(await rejected(verify(forged)), "an altered event");
assert.ok(await rejected(verify(token, { audience: "https://other.example" })), "an event for another receiver");
assert.ok(await rejected(verify(token, { typ: "at+jwt" })), "an event as an access token");
console.log("ok: an altered event, one for another receiver, and one as another token do not");
process.exit(0);
