// Every library that logs in: how its client registers, what its application shows, and known differences.

import { generateKeyPairSync } from "node:crypto";
import { registered } from "./registrations.mjs";

const OPENID = ["openid", "profile", "email", "offline_access"];
const OAUTH = ["profile", "email", "offline_access"];
const ALL = ["id_token", "userinfo", "refresh", "revoke", "logout"];

/** Auth.js and NextAuth begin and end with a form that contains a CSRF token. */
const byForm = (api, action) => async (browser, url, options) => {
  const { csrfToken } = JSON.parse((await browser.request(`${url}${api}/csrf`)).text);
  return browser.visit(`${url}${api}/${action}`, { ...options, form: { csrfToken, callbackUrl: `${url}/` } });
};

/** How a reader makes such a key: the private half for the application, the public one for the registration. */
const PREPARE = `node -e '
const { privateKey, publicKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = (key) => ({ ...key.export({ format: "jwk" }), kid: "1", alg: "ES256" });
fs.writeFileSync("client.key", JSON.stringify(jwk(privateKey)), { mode: 0o600 });
fs.writeFileSync("keys.json", JSON.stringify({ keys: [jwk(publicKey)] }));'
export CLIENT_KEY="$(cat client.key)"`;

/** The key of a client that authenticates with signatures. */
const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" });
const named = (key) => ({ ...key.export({ format: "jwk" }), kid: "the client's", alg: "ES256" });

export const ROWS = [
  {
    library: "openid-client",
    from: "npm",
    file: "openid-client.mjs",
    method: "client_secret_post",
    pkce: true,
    algorithm: "ES256",
    scopes: OPENID,
    steps: ALL,
  },
  {
    library: "openid-client",
    title: "openid-client with FAPI 2.0",
    from: "npm",
    file: "openid-client-fapi.mjs",
    method: "private_key_jwt",
    metadata: { jwks: { keys: [named(KEY.publicKey)] } },
    prepare: PREPARE,
    environment: { CLIENT_KEY: JSON.stringify(named(KEY.privateKey)) },
    pkce: true,
    bound: true,
    algorithm: "ES256",
    scopes: OPENID,
    steps: ["id_token", "userinfo", "refresh", "logout"],
    refuses: ["state"],
    noLiar: true,
    note: "The client authenticates with `private_key_jwt`, pushes its requests (PAR), and binds its tokens to a key (DPoP). Its assertions and proofs are for the issuer, so the dishonest server cannot get in between. If you add `--require-pushed-authorization-requests --dpop-bound-access-tokens` to the command, the server refuses everything else from this client and holds it to the whole profile.",
  },
  {
    library: "oauth4webapi",
    from: "npm",
    file: "oauth4webapi.mjs",
    method: "none",
    pkce: true,
    algorithm: "EdDSA",
    scopes: OPENID,
    steps: ALL,
  },
  {
    ...registered("authjs"),
    from: "npm",
    file: "auth-express.mjs",
    pkce: true,
    login: byForm("/auth", "signin/countersign"),
    steps: ["id_token"],
    refuses: ["state", "nonce", "audience", "issuer", "expiry"],
    note: "Its sign-out only ends the application's session. The profile comes from the id_token, whose signature it does not check because it relies on TLS.",
  },
  {
    ...registered("next-auth"),
    from: "npm",
    file: "next-auth.mjs",
    pkce: true,
    login: byForm("/api/auth", "signin/countersign"),
    steps: ["id_token"],
    note: "Its sign-out only ends the application's session. The profile comes from the id_token.",
  },
  {
    library: "passport-openidconnect",
    from: "npm",
    file: "passport-openidconnect.mjs",
    method: "client_secret_post",
    pkce: false,
    algorithm: "RS256",
    scopes: OPENID,
    steps: ["id_token", "userinfo"],
    refuses: ["state", "nonce", "audience", "issuer", "expiry"],
    note: "It checks the claims of the id_token, but relies on TLS instead of the signature.",
  },
  {
    library: "passport-oauth2",
    from: "npm",
    file: "passport-oauth2.mjs",
    method: "client_secret_post",
    pkce: true,
    scopes: OAUTH,
    steps: ["userinfo"],
  },
  {
    ...registered("express-openid-connect"),
    from: "npm",
    file: "express-openid-connect.mjs",
    pkce: true,
    steps: ["id_token", "userinfo", "refresh", "logout"],
    refuses: ["state", "nonce", "audience", "issuer", "expiry"],
    note: "It relies on TLS instead of the signature of the id_token.",
  },
  {
    library: "oidc-client-ts",
    from: "npm",
    file: "oidc-client-ts.mjs",
    seat: "chromium",
    method: "none",
    pkce: true,
    algorithm: "RS256",
    scopes: OPENID,
    steps: ALL,
    refuses: ["state", "nonce"],
    note: "In a page, the library trusts the token because it came over TLS from the token endpoint. It checks `state` and `nonce`, not the signature.",
  },
  {
    library: "simple-oauth2",
    from: "npm",
    file: "simple-oauth2.mjs",
    method: "client_secret_basic",
    pkce: false,
    scopes: OAUTH,
    steps: ["userinfo", "refresh", "revoke"],
  },
  {
    library: "Authlib",
    from: "pip",
    file: "authlib_flask.py",
    method: "client_secret_basic",
    pkce: true,
    algorithm: "ES256",
    scopes: OPENID,
    steps: ALL,
  },
  {
    library: "requests-oauthlib",
    from: "pip",
    file: "requests_oauthlib_flask.py",
    method: "client_secret_post",
    pkce: true,
    scopes: OAUTH,
    steps: ["userinfo", "refresh"],
  },
  {
    ...registered("mozilla-django-oidc"),
    from: "pip",
    file: "django_oidc.py",
    pkce: true,
    login: (browser, url, options) => browser.visit(`${url}/oidc/authenticate/`, options),
    logout: (browser, url) => browser.visit(`${url}/oidc/logout/`, { form: {} }),
    steps: ["id_token", "userinfo", "logout"],
    userinfo: async (browser, url) => JSON.parse((await browser.request(`${url}/`)).text).person,
    refuses: ["state", "nonce", "expiry", "signature"],
    note: "It calls userinfo by itself. It reads neither `iss` nor `aud`.",
  },
  {
    library: "mcp",
    from: "pip",
    file: "mcp_client.py",
    beside: "mcp_server.py",
    seat: "program",
    registers: "none",
    pkce: true,
    resource: (seat) => `${seat.environment.RESOURCE_URL}/mcp`,
    steps: ["refresh"],
    note: "It registers by itself, requests a token only for the MCP server (`resource`), and calls a tool there.",
  },
  {
    library: "openidconnect",
    from: "crate",
    file: "openidconnect.rs",
    seat: "program",
    method: "client_secret_basic",
    pkce: true,
    algorithm: "EdDSA",
    scopes: OPENID,
    steps: ["id_token", "userinfo", "refresh", "logout"],
  },
  {
    library: "oauth2",
    from: "crate",
    file: "oauth2.rs",
    seat: "program",
    method: "none",
    pkce: true,
    scopes: OAUTH,
    steps: ["userinfo", "refresh"],
    note: "It can also revoke tokens, but only at https URLs, and the server in this test has none.",
  },
  {
    library: "oidc-agent",
    from: "deb",
    package: "oidc-agent-cli",
    file: "oidc-agent.sh",
    seat: "program",
    listens: true,
    registers: "client_secret_post",
    pkce: true,
    steps: ["userinfo", "refresh"],
    note: "It registers by itself. Debian and Ubuntu package it as `oidc-agent-cli`.",
  },
];
