// A client application and its user's browser, as short as the flow allows. siwe.mjs and people.mjs share it.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setDefaultResultOrder } from "node:dns";

setDefaultResultOrder("ipv4first"); // The server may listen only on 127.0.0.1 while its name is localhost.

/** The URL of the running server, from the command line or the environment. */
export const BASE = (process.argv[2] ?? process.env.BASE ?? "").replace(/\/$/, "");
if (!/^https?:\/\//.test(BASE)) {
  console.error("usage: node <script> http://localhost:8080");
  process.exit(2);
}

// --- the count ---------------------------------------------------------------------------------------------

let passed = 0;
let failed = 0;

/** Runs one check and prints one line about it. A check that fails does not stop the others. */
export async function check(claim, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok      ${claim}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${claim}\n        ${String(error?.stack ?? error).split("\n").slice(0, 12).join("\n        ")}`);
  }
}

/** Prints the counts and exits. */
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

// --- requests ----------------------------------------------------------------------------------------------

/** A browser's cookies for one server. */
export class Cookies {
  #values = new Map();

  take(response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split(";").map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      const gone = value === "" || attributes.some((each) => /^max-age=0$/i.test(each));
      if (gone) this.#values.delete(name);
      else this.#values.set(name, value);
    }
  }

  copy() {
    const copy = new Cookies();
    copy.#values = new Map(this.#values);
    return copy;
  }

  get size() {
    return this.#values.size;
  }

  toString() {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** Sends one request and follows no redirect. `body` is JSON unless it is a URLSearchParams. */
export async function request(method, path, { body, cookies, headers = {} } = {}) {
  const form = body instanceof URLSearchParams;
  const response = await fetch(new URL(path, BASE), {
    method,
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "content-type": form ? "application/x-www-form-urlencoded" : "application/json" }),
      ...(cookies?.size ? { cookie: String(cookies) } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : form ? body.toString() : JSON.stringify(body),
  });
  cookies?.take(response);
  const text = await response.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, location: response.headers.get("location"), text, json };
}

/** Registers a client application. */
export async function register(metadata = {}) {
  const answer = await request("POST", "/oauth/clients", {
    body: { client_name: "Peers", redirect_uris: ["https://client.example/cb"], scopes: ["profile"], ...metadata },
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

/** The URL of an authorization request. */
export function authorizeUrl(client, { redirectUri = client.redirect_uris[0], scope = "profile", state } = {}) {
  const url = new URL("/oauth/authorize", BASE);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    scope,
    state,
  });
  return url;
}

/**
 * A browser that the client has sent to the server: its cookies, and the three fields that identify the
 * request.
 */
export async function begin(client, { redirectUri = client.redirect_uris[0], scope, cookies = new Cookies() } = {}) {
  const state = randomBytes(12).toString("base64url");
  const answer = await request("GET", authorizeUrl(client, { redirectUri, scope, state }), { cookies });
  assert.equal(answer.status, 302, answer.text);
  assert.equal(new URL(answer.location, BASE).pathname, "/auth");
  return { client, cookies, fields: { client_id: client.client_id, redirect_uri: redirectUri, state } };
}

/** Requests the text to sign. */
export async function challenge(visit, address) {
  const answer = await request("POST", "/oauth/challenge", {
    cookies: visit.cookies,
    body: { wallet_address: address, ...visit.fields },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Submits a signature as a script does; the response says where to go. */
export function login(visit, { address, text, signature, headers = { accept: "application/json" }, fields = visit.fields, cookies = visit.cookies }) {
  return request("POST", "/oauth/login", {
    cookies,
    headers,
    body: { wallet_address: address, challenge: text, signature, ...fields },
  });
}

/** The code in the URL that a successful login leads to. */
export function codeOf(target, visit) {
  const url = new URL(target);
  assert.equal(`${url.origin}${url.pathname}`, new URL(visit.fields.redirect_uri).origin + new URL(visit.fields.redirect_uri).pathname);
  assert.equal(url.searchParams.get("state"), visit.fields.state);
  assert.equal(url.searchParams.get("iss"), BASE);
  assert.equal(url.hash, "");
  const code = url.searchParams.get("code");
  assert.ok(code && code.length >= 43, `a code of 256 bits, not ${code}`);
  return code;
}

/** Exchanges a code at the token endpoint, with a form. */
export async function exchange(visit, code) {
  const answer = await request("POST", "/oauth/token", {
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: visit.fields.redirect_uri,
      client_id: visit.client.client_id,
      client_secret: visit.client.client_secret,
    }),
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.token_type, "Bearer");
  return answer.json;
}

/** The user that an access token belongs to. */
export async function userinfo(tokens) {
  const answer = await request("GET", "/oauth/userinfo", { headers: { authorization: `Bearer ${tokens.access_token}` } });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Expects a refusal: status, code and description, and no redirect to the client. */
export function refused(answer, status, error, description) {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json?.error, error, answer.text);
  if (description instanceof RegExp) assert.match(answer.json.error_description, description);
  else assert.equal(answer.json.error_description, description);
  assert.equal(answer.location, null, "there is no redirect");
  assert.equal(answer.json.redirect_to, undefined, "there is no redirect");
  assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
}
