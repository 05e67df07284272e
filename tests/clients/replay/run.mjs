// Sends the requests of applications.mjs and checks the responses as those applications do.
// node run.mjs http://localhost:8080
//
// Prints a line for each check, and for each application its row of docs/clients as a line of JSON. The
// packages that it needs are installed in ../oracle, whose clients and users it uses.

import assert from "node:assert/strict";
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { CALLBACK, Person, Site, form } from "../oracle/site.mjs";
import { applications } from "./applications.mjs";

const [base] = process.argv.slice(2);
if (!/^https?:\/\//.test(base ?? "")) {
  console.error("usage: node run.mjs http://localhost:8080");
  process.exit(2);
}

const AFTERWARDS = "https://client.example/bye";
const site = new Site(base);
let failed = 0;

/** Validates an ID token as go-oidc, omniauth and Spring do; returns its claims. */
async function believed(token, { metadata, client, nonce }) {
  const [header, claims] = token.split(".").slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url")));
  assert.ok(metadata.id_token_signing_alg_values_supported.includes(header.alg), `${header.alg} is announced`);
  assert.equal(header.alg, "RS256", "the algorithm is the default");
  const jwk = (await site.send(metadata.jwks_uri)).json.keys.find(({ kid }) => kid === header.kid);
  assert.ok(jwk, "the key is published");
  const [input, signature] = [token.slice(0, token.lastIndexOf(".")), Buffer.from(token.split(".")[2], "base64url")];
  assert.ok(verify("sha256", Buffer.from(input), createPublicKey({ key: jwk, format: "jwk" }), signature), "the signature is valid for the key");
  assert.equal(claims.iss, metadata.issuer);
  assert.ok([claims.aud].flat().includes(client.client_id), "the audience is the client");
  assert.ok(claims.azp === undefined || claims.azp === client.client_id, "the authorized party is the client");
  assert.ok(claims.exp > Date.now() / 1000 && claims.iat <= Date.now() / 1000 + 30, "it is valid now");
  assert.equal(claims.nonce, nonce, "the nonce is the one that was sent, or none");
  return claims;
}

const has = (object, names, what) => assert.deepEqual((names ?? []).filter((name) => object[name] === undefined), [], `${what} has everything that is needed`);

async function send(path, { headers, body }) {
  return site.send(path, { method: "POST", headers, body: String(form(body)) });
}

async function replay(application, check) {
  const { needs } = application;
  const client = (await site.post("/oauth/clients", { client_name: application.name.slice(0, 40), redirect_uris: [CALLBACK], post_logout_redirect_uris: [AFTERWARDS], scope: "openid profile email offline_access" })).json;
  const given = {
    client, redirect_uri: CALLBACK, post_logout_redirect_uri: AFTERWARDS, state: randomBytes(32).toString("base64url"),
    nonce: randomBytes(16).toString("hex"), verifier: randomBytes(96).toString("base64url"), ...application.made,
  };
  const person = new Person(site);

  await check("discovery returns what is needed", undefined, async () => {
    const { status, json, headers } = await site.send("/.well-known/openid-configuration", { headers: { accept: "*/*" } });
    assert.equal(status, 200);
    assert.match(headers.get("content-type"), /^application\/json/);
    assert.equal(json.issuer, site.issuer);
    given.metadata = json;
    has(json, needs.metadata, "the metadata");
  });

  await check("a user signs in", "login", async () => {
    const asked = application.authorize(given);
    const { location } = await person.authorize(asked);
    const back = new URL(location);
    assert.equal(back.origin + back.pathname, CALLBACK, location);
    assert.equal(back.searchParams.get("state"), given.state);
    given.code = back.searchParams.get("code");
    assert.ok(given.code, location);
    given.asked = asked;
  });

  await check("the last attempt redeems the code", "login", async () => {
    const attempts = application.token.map((attempt) => () => send(given.metadata.token_endpoint, attempt(given)));
    for (const attempt of attempts.slice(0, -1)) {
      const { status, json } = await attempt();
      assert.ok(status >= 400 && typeof json.error === "string", "the first attempt gets an error");
    }
    const { status, json, text } = await attempts.at(-1)();
    assert.equal(status, 200, text);
    assert.equal(json.token_type.toLowerCase(), "bearer");
    assert.ok(Number.isInteger(json.expires_in), "expires_in is a whole number");
    given.tokens = json;
  });

  await check("the ID token is accepted", "id_token", async () => {
    const nonce = application.nonce ? application.nonce(given) : given.asked.nonce;
    given.claims = await believed(given.tokens.id_token, { ...given, nonce });
    has(given.claims, needs.id_token, "the ID token");
    for (const name of needs.noObjects ?? []) assert.equal(given.claims[name], undefined, `${name} means something else here`);
    assert.notEqual(given.claims.email_verified, false, "oauth2-proxy refuses users with email_verified=false");
    if (application.atHash) assert.equal(given.claims.at_hash, createHash("sha256").update(given.tokens.access_token).digest().subarray(0, 16).toString("base64url"));
  });

  await check("userinfo returns the same user", "userinfo", async () => {
    const { status, json, text } = await site.send(given.metadata.userinfo_endpoint, { headers: application.userinfo(given) });
    assert.equal(status, 200, text);
    assert.equal(json.sub, given.claims.sub);
    has(json, needs.userinfo, "userinfo");
    assert.deepEqual(Object.values(json).filter((value) => value === null), [], "nothing is null");
  });

  if (application.strongKeys) {
    await check("all published keys are strong enough for it", undefined, async () => {
      for (const { kty, crv, n } of (await site.send(given.metadata.jwks_uri)).json.keys) {
        if (kty === "RSA") assert.ok(Buffer.from(n, "base64url").length >= 256, "RSA of 2048 bits");
        else assert.ok(["P-256", "Ed25519"].includes(crv), `${kty} ${crv}`);
      }
    });
  }

  if (application.refresh) {
    await check("the tokens are refreshed", "refresh", async () => {
      const { status, json, text } = await send(given.metadata.token_endpoint, application.refresh(given));
      assert.equal(status, 200, text);
      assert.notEqual(json.access_token, given.tokens.access_token);
      given.tokens = { ...given.tokens, ...json };
    });
  }

  if (application.logout) {
    await check("logging out redirects back, or asks the user", "logout", async () => {
      const sent = application.logout(given);
      const { status, location, text } = await person.fetch(`${new URL(given.metadata.end_session_endpoint).pathname}?${typeof sent === "string" ? sent : form(sent)}`, { headers: { accept: "text/html" } });
      const hinted = typeof sent !== "string" && sent.id_token_hint;
      if (hinted) assert.equal(location, AFTERWARDS, text.slice(0, 300));
      else assert.equal(status, 200, "without a hint the user is asked");
    });
  }
}

for (const application of applications) {
  const steps = { login: "none", id_token: "none", refresh: "none", userinfo: "none", revoke: "none", logout: "none" };
  const before = failed;
  await replay(application, async (claim, step, body) => {
    try {
      await body();
      if (step && steps[step] === "none") steps[step] = "ok";
      console.log(`ok      ${application.name}: ${claim}`);
    } catch (error) {
      failed += 1;
      if (step) steps[step] = "failed";
      console.log(`FAILED  ${application.name}: ${claim}\n        ${String(error.stack).split("\n").slice(0, 8).join("\n        ")}`);
    }
  });
  const { name, auth, pkce, snippet = "", source } = application;
  console.log(JSON.stringify({ name, version: "replayed", kind: "replayed", auth, pkce, alg: "RS256", steps, snippet, result: failed === before ? "ok" : "failed", note: source.join("; ") }));
}
process.exitCode = failed === 0 ? 0 : 1;
