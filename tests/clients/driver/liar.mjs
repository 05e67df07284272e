// An issuer that lies: it forwards everything to the real one, but signs the ID tokens again with its own key
// and makes the requested change. If no change is requested, applications accept it, so a refusal is really a
// refusal of the lie.

import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";

const KEYS = {
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
};

/** What each lie changes in the claims, or in the key that signs. */
export const LIES = {
  nonce: { claims: (claims) => ({ ...claims, nonce: "another" }) },
  audience: { claims: (claims) => ({ ...claims, aud: randomUUID() }) },
  issuer: { claims: (claims) => ({ ...claims, iss: "https://another.example" }) },
  expiry: { claims: (claims) => ({ ...claims, iat: claims.iat - 7200, exp: claims.iat - 3600, auth_time: claims.iat - 7200 }) },
  signature: { key: "foreign" },
};

const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

class Signer {
  constructor(algorithm) {
    this.algorithm = algorithm;
    this.own = KEYS[algorithm]().privateKey;
    this.foreign = KEYS[algorithm]().privateKey;
    this.kid = `liar-${algorithm}`;
  }

  get jwk() {
    return { ...createPublicKey(createPrivateKey(this.own.export({ type: "pkcs8", format: "pem" }))).export({ format: "jwk" }), kid: this.kid, alg: this.algorithm, use: "sig" };
  }

  token(claims, key = "own") {
    const input = `${encode({ alg: this.algorithm, kid: this.kid, typ: "JWT" })}.${encode(claims)}`;
    const digest = this.algorithm === "EdDSA" ? null : "sha256";
    return `${input}.${sign(digest, Buffer.from(input), { key: this[key], dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  }
}

/** Starts a liar; `lie` is the name of what it changes next, or undefined. */
export async function liar(issuer) {
  const signers = Object.fromEntries(Object.keys(KEYS).map((algorithm) => [algorithm, new Signer(algorithm)]));
  const state = { lie: undefined, url: "" };

  const resigned = (token) => {
    const [header, payload] = token.split(".").slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url")));
    const { claims = (same) => same, key } = LIES[state.lie] ?? {};
    return signers[header.alg].token(claims({ ...payload, iss: state.url }), key);
  };

  const rewritten = (path, text) => {
    if (path.startsWith("/.well-known/")) return text.replaceAll(issuer, state.url);
    if (path === "/oauth/jwks") return JSON.stringify({ keys: Object.values(signers).map((signer) => signer.jwk) });
    if (path !== "/oauth/token") return text;
    const answer = JSON.parse(text);
    return JSON.stringify(answer.id_token ? { ...answer, id_token: resigned(answer.id_token) } : answer);
  };

  const server = createServer(async (request, response) => {
    // Browsers are redirected, because what they see there is the issuer's own.
    if (/^\/oauth\/(authorize|logout)\b/.test(request.url)) return response.writeHead(302, { location: `${issuer}${request.url}` }).end();
    const parts = [];
    for await (const part of request) parts.push(part);
    const { host, connection, "content-length": length, ...headers } = request.headers;
    const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
    const answer = await fetch(new URL(request.url, issuer), { method: request.method, headers, body, redirect: "manual" });
    const text = rewritten(new URL(request.url, issuer).pathname, await answer.text());
    const passed = ["content-type", "cache-control", "location", "www-authenticate", "access-control-allow-origin", "access-control-allow-headers", "access-control-allow-methods", "dpop-nonce"];
    response.writeHead(answer.status, Object.fromEntries(passed.filter((name) => answer.headers.has(name)).map((name) => [name, answer.headers.get(name)])));
    response.end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  state.url = `http://127.0.0.1:${server.address().port}`;
  state.close = () => new Promise((done) => (server.closeAllConnections(), server.close(done)));
  return state;
}
