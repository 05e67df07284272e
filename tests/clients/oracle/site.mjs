// One of the two servers: its clients, users who sign in there, and single requests.

import assert from "node:assert/strict";
import { setDefaultResultOrder } from "node:dns";
import { Wallet } from "ethers";
import { Key, assertion } from "./jwt.mjs";

setDefaultResultOrder("ipv4first"); // The server may listen only on 127.0.0.1 while its name is localhost.

export const CALLBACK = "https://client.example/cb";
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const S256 = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };
export const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
export const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ALL = "openid profile email offline_access";
const HOPS = 12;

/** The keys of the clients that authenticate with one. They are the same at both servers. */
export const keys = { RS256: new Key("RS256"), ES256: new Key("ES256"), other: new Key("ES256") };

/** The clients that are registered with both servers. */
const CLIENTS = {
  post: { token_endpoint_auth_method: "client_secret_post" },
  basic: { token_endpoint_auth_method: "client_secret_basic" },
  public: { token_endpoint_auth_method: "none" },
  jwt: { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [keys.RS256.jwk, keys.ES256.jwk] } },
  narrow: { scope: "openid profile" },
  several: { redirect_uris: [CALLBACK, "https://client.example/cb?fixed=1", "https://other.example/deep/cb"] },
  loopback: { application_type: "native", token_endpoint_auth_method: "none", redirect_uris: ["http://127.0.0.1/cb", "http://[::1]/cb", "http://localhost/cb"] },
  native: { application_type: "native", token_endpoint_auth_method: "none", redirect_uris: ["com.example.app:/cb"] },
  service: { grant_types: ["client_credentials"] },
  device: { token_endpoint_auth_method: "none", grant_types: [DEVICE, "refresh_token"] },
  pushed: { require_pushed_authorization_requests: true },
  other: {},
};

/** Encodes parameters: undefined ones are left out, lists are sent several times. */
export function form(parameters) {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) for (const each of [value].flat()) if (each !== undefined) sent.append(name, each);
  return sent;
}

export const basic = (id, secret) => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

/** A user's browser at one server. */
export class Person {
  #cookies = new Map();
  #wallet;

  constructor(site, wallet = Wallet.createRandom()) {
    this.site = site;
    this.#wallet = wallet;
  }

  async fetch(url, options = {}) {
    const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await this.site.send(url, { ...options, headers: { ...options.headers, ...(cookie && { cookie }) } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value === "" || /max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }

  /**
   * Sends an authorization request and grants it; returns what the client gets, or where the flow ends
   * earlier.
   */
  async authorize(parameters) {
    let answer = await this.fetch(`/oauth/authorize?${form(parameters)}`);
    for (let hop = 0; hop < HOPS && answer.location && this.site.has(answer.location); hop += 1) {
      const { pathname } = new URL(answer.location, this.site.issuer);
      answer = pathname === "/auth" ? { ...answer, location: await this.#sign(parameters) } : await this.fetch(answer.location);
    }
    return answer;
  }

  async #sign({ client_id, redirect_uri, state }) {
    const post = async (path, body) => {
      const headers = { accept: "application/json", "content-type": "application/json" };
      const answer = await this.fetch(path, { method: "POST", headers, body: JSON.stringify({ ...body, client_id, redirect_uri, state }) });
      assert.equal(answer.status, 200, answer.text);
      return answer.json;
    };
    const wallet_address = this.#wallet.address;
    const { challenge } = await post("/oauth/challenge", { wallet_address });
    return (await post("/oauth/login", { wallet_address, challenge, signature: await this.#wallet.signMessage(challenge), remember: true })).redirect_to;
  }
}

export class Site {
  clients = {};

  constructor(issuer) {
    this.issuer = issuer.replace(/\/$/, "");
  }

  /** Registers the clients. If the server refuses one, the error names it. */
  async prepare() {
    for (const [name, metadata] of Object.entries(CLIENTS)) {
      const { status, json, text } = await this.post("/oauth/clients", { client_name: name, redirect_uris: [CALLBACK], scope: ALL, ...metadata });
      assert.equal(status, 201, `the client "${name}" is registered at ${this.issuer}: ${text}`);
      this.clients[name] = json;
    }
    return this;
  }

  /** Does the URL belong to this server? */
  has(url) {
    return new URL(url, this.issuer).origin === this.issuer;
  }

  /** Sends one request and follows no redirect. */
  async send(path, { method = "GET", headers = {}, body } = {}) {
    const response = await fetch(new URL(path, this.issuer), { method, redirect: "manual", headers: { accept: "application/json", ...headers }, body });
    const text = await response.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, location: response.headers.get("location"), text, json };
  }

  /** Sends JSON. */
  post(path, body, headers = {}) {
    return this.send(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  }

  /** Sends a form. */
  form(path, parameters, headers = {}) {
    return this.send(path, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", ...headers }, body: String(form(parameters)) });
  }

  /** What a client adds to a form to authenticate, with the method that it registered. */
  identify(name) {
    const client = this.clients[name];
    const { client_id, client_secret } = client;
    const ways = {
      none: () => ({ client_id }),
      private_key_jwt: () => ({ client_assertion_type: ASSERTION, client_assertion: assertion(this, client, keys.ES256) }),
    };
    return (ways[client.token_endpoint_auth_method] ?? (() => ({ client_id, client_secret })))();
  }

  /** A client's valid authorization request. */
  request(name = "post") {
    const client = this.clients[name];
    const pkce = client.token_endpoint_auth_method === "none" ? S256 : {};
    return { client_id: client.client_id, redirect_uri: client.redirect_uris[0], response_type: "code", scope: "openid profile", state: "s-1", nonce: "n-1", ...pkce };
  }

  /** A code that a client got from a new user. */
  async code(name = "post", parameters = {}) {
    const answer = await new Person(this).authorize({ ...this.request(name), ...parameters });
    const code = answer.location && new URL(answer.location).searchParams.get("code");
    assert.ok(code, `no code for ${name}: ${answer.status} ${answer.location} ${answer.text.slice(0, 300)}`);
    return code;
  }

  /** The form that exchanges a code. */
  exchange(code, name = "post") {
    const verifier = this.clients[name].token_endpoint_auth_method === "none" ? { code_verifier: VERIFIER } : {};
    return { grant_type: "authorization_code", code, redirect_uri: this.clients[name].redirect_uris[0], ...verifier, ...this.identify(name) };
  }

  /** Tokens that a client got from a new user. */
  async tokens(name = "post", parameters = {}) {
    const { status, json, text } = await this.form("/oauth/token", this.exchange(await this.code(name, parameters), name));
    assert.equal(status, 200, text);
    return json;
  }
}
