// The other endpoints: userinfo, revocation, introspection, pushed requests, device authorization, logout,
// discovery and keys.

import { answer, way } from "../observe.mjs";
import { CALLBACK, Person, basic, form } from "../site.mjs";

const GONE = undefined;
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const seen = (response) => answer(response, { fields: true });
const bearer = (token) => ({ authorization: `Bearer ${token}` });

/** Userinfo with a valid access token for openid and profile. */
const USERINFO = {
  "by GET": (site, token) => site.send("/oauth/userinfo", { headers: bearer(token) }),
  "by POST": (site, token) => site.send("/oauth/userinfo", { method: "POST", headers: bearer(token) }),
  "by POST, token in the form": (site, token) => site.form("/oauth/userinfo", { access_token: token }),
  "by POST, token in the form and in the header": (site, token) => site.form("/oauth/userinfo", { access_token: token }, bearer(token)),
  "token in the query": (site, token) => site.send(`/oauth/userinfo?access_token=${token}`),
  "without a token": (site) => site.send("/oauth/userinfo"),
  "token wrong": (site) => site.send("/oauth/userinfo", { headers: bearer("wrong") }),
  "token with one letter changed": (site, token) => site.send("/oauth/userinfo", { headers: bearer(`${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`) }),
  "token empty": (site) => site.send("/oauth/userinfo", { headers: { authorization: "Bearer " } }),
  "small letters": (site, token) => site.send("/oauth/userinfo", { headers: { authorization: `bearer ${token}` } }),
  "Basic": (site) => site.send("/oauth/userinfo", { headers: { authorization: basic("a", "b") } }),
  "another scheme": (site, token) => site.send("/oauth/userinfo", { headers: { authorization: `Token ${token}` } }),
  "unknown parameters": (site, token) => site.send("/oauth/userinfo?schema=openid&alt=json", { headers: bearer(token) }),
  "by HEAD": (site, token) => site.send("/oauth/userinfo", { method: "HEAD", headers: bearer(token) }),
  "by PUT": (site, token) => site.send("/oauth/userinfo", { method: "PUT", headers: bearer(token) }),
};

/** What tokens of other scopes return. */
const SCOPES = { "scope openid": "openid", "scopes openid and email": "openid email", "only scope profile": "profile" };

/** Revocation of a client's valid access token. */
const REVOCATION = {
  "of an access token": {},
  "token missing": { token: GONE },
  "token empty": { token: "" },
  "token unknown": { token: "unknown" },
  "token twice": ({ token }) => ({ token: [token, token] }),
  "with a hint": { token_type_hint: "access_token" },
  "with a wrong hint": { token_type_hint: "refresh_token" },
  "with an unknown hint": { token_type_hint: "pigeon" },
  "secret wrong": { client_secret: "wrong" },
  "secret missing": { client_secret: GONE },
  "nobody": { client_id: GONE, client_secret: GONE },
  "by another client": (_, site) => site.identify("other"),
};

/** Introspection of the same token. */
const INTROSPECTION = {
  ...REVOCATION,
  "by a public client": (_, site) => ({ client_secret: GONE, ...site.identify("public") }),
};

/** A pushed request, changed. */
const PUSHED = {
  "unchanged": {},
  "redirect_uri wrong": { redirect_uri: "https://evil.example/cb" },
  "redirect_uri missing": { redirect_uri: GONE },
  "response_type missing": { response_type: GONE },
  "response_type token": { response_type: "token" },
  "scope unknown": { scope: "wizardry" },
  "with a request_uri": { request_uri: "urn:ietf:params:oauth:request_uri:x" },
  "request is nonsense": { request: "nonsense" },
  "secret wrong": { client_secret: "wrong" },
  "secret missing": { client_secret: GONE },
  "state twice": { state: ["a", "b"] },
  "prompt unknown": { prompt: "whisper" },
  "PKCE plain": { code_challenge: "a".repeat(43), code_challenge_method: "plain" },
};

async function changed(site, path, good, change) {
  return seen(await site.form(path, { ...good, ...(typeof change === "function" ? change(good, site) : change) }));
}

const target = async (site) => ({ token: (await site.tokens()).access_token, ...site.identify("post") });
const push = async (site, name = "post", change = {}) => site.form("/oauth/par", { ...site.request(name), ...site.identify(name), ...change });

/** An authorization request that refers to a pushed one. */
async function pushed(site, { client = "post", by = client, twice = false, besides = {} } = {}) {
  const { request_uri } = (await push(site, client)).json;
  const parameters = form({ client_id: site.clients[by].client_id, request_uri, ...besides });
  const ask = () => site.send(`/oauth/authorize?${parameters}`);
  if (twice) await new Person(site).authorize({ client_id: site.clients[by].client_id, request_uri, redirect_uri: CALLBACK, state: "s-1" });
  return way(site, await ask());
}

/** Whether a token works after a revocation. */
async function after(site, revoked, tried) {
  const tokens = await site.tokens();
  await site.form("/oauth/revoke", { token: tokens[revoked], ...site.identify("post") });
  if (tried === "access_token") return answer(await site.send("/oauth/userinfo", { headers: bearer(tokens.access_token) }));
  return answer(await site.form("/oauth/token", { grant_type: "refresh_token", refresh_token: tokens.refresh_token, ...site.identify("post") }));
}

async function introspected(site, token) {
  const { json, status } = await site.form("/oauth/introspect", { token, ...site.identify("post") });
  return `${status} active=${json?.active} {${Object.keys(json ?? {}).sort().join(" ")}}`;
}

const device = (site, change = {}, name = "device") => site.form("/oauth/device_authorization", { scope: "openid", ...site.identify(name), ...change }).then(seen);
/** Its errors are pages for users, so only the status or the redirect is compared. */
const logout = async (site, parameters = {}) => {
  const seen = way(site, await site.send(`/oauth/logout?${form(parameters)}`, { headers: { accept: "text/html" } }));
  return /^\d+/.exec(seen)?.[0] ?? seen;
};

const keysOf = async (site) => {
  const { json } = await site.send("/oauth/jwks");
  return json.keys.map((key) => `${key.kty} ${key.crv ?? ""} ${key.alg} ${key.use} ${"d" in key ? "private" : "public"}`).sort().join(", ");
};

const names = (list) => [...(list ?? [])].sort().join(" ");

/** Members of the metadata that list what is supported. */
const METADATA = [
  "response_types_supported", "response_modes_supported", "grant_types_supported", "subject_types_supported", "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported", "token_endpoint_auth_signing_alg_values_supported", "id_token_signing_alg_values_supported",
  "scopes_supported", "prompt_values_supported", "dpop_signing_alg_values_supported",
];
const FLAGS = [
  "authorization_response_iss_parameter_supported", "claims_parameter_supported", "request_parameter_supported", "request_uri_parameter_supported",
  "require_pushed_authorization_requests", "backchannel_logout_supported", "backchannel_logout_session_supported",
];

async function allowed(site, path, method, header) {
  const headers = { origin: "https://spa.example", "access-control-request-method": method, ...(header && { "access-control-request-headers": header }) };
  const { headers: told } = await site.send(path, { method: "OPTIONS", headers });
  return `origin ${told.get("access-control-allow-origin")}, credentials ${told.get("access-control-allow-credentials")}`;
}

const group = (title, table, run) => Object.entries(table).map(([name, value]) => [`${title}, ${name}`, (site) => run(site, value)]);
const PATHS = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"];

export const requests = [
  ...group("userinfo", USERINFO, async (site, send) => seen(await send(site, (await site.tokens()).access_token))),
  ...group("userinfo", SCOPES, async (site, scope) => seen(await site.send("/oauth/userinfo", { headers: bearer((await site.tokens("post", { scope, nonce: scope.includes("openid") ? "n-1" : GONE })).access_token) }))),
  ...group("revocation", REVOCATION, async (site, change) => changed(site, "/oauth/revoke", await target(site), change)),
  ["revocation, of a refresh token", async (site) => changed(site, "/oauth/revoke", { ...(await target(site)), token: (await site.tokens()).refresh_token }, {})],
  ["revocation, by a public client", async (site) => seen(await site.form("/oauth/revoke", { token: (await site.tokens("public")).access_token, ...site.identify("public") }))],
  ["revocation, by Basic", async (site) => {
    const { client_id, client_secret, token } = { ...site.identify("basic"), token: (await site.tokens("basic")).access_token };
    return seen(await site.form("/oauth/revoke", { token }, { authorization: basic(client_id, client_secret) }));
  }],
  ["revocation, as JSON", async (site) => seen(await site.post("/oauth/revoke", await target(site)))],
  ["revocation, by GET", async (site) => seen(await site.send(`/oauth/revoke?${form(await target(site))}`))],
  ["revocation of the access token: the access token afterwards", (site) => after(site, "access_token", "access_token")],
  ["revocation of the access token: the refresh token afterwards", (site) => after(site, "access_token", "refresh_token")],
  ["revocation of the refresh token: the access token afterwards", (site) => after(site, "refresh_token", "access_token")],
  ["revocation of the refresh token: the refresh token afterwards", (site) => after(site, "refresh_token", "refresh_token")],
  ...group("introspection", INTROSPECTION, async (site, change) => changed(site, "/oauth/introspect", await target(site), change)),
  ["introspection, response for an access token", async (site) => introspected(site, (await site.tokens()).access_token)],
  ["introspection, response for a refresh token", async (site) => introspected(site, (await site.tokens()).refresh_token)],
  ["introspection, response for nonsense", (site) => introspected(site, "nonsense")],
  ["introspection, response for an ID token", async (site) => introspected(site, (await site.tokens()).id_token ?? "")],
  ["introspection, as JSON", async (site) => seen(await site.post("/oauth/introspect", await target(site)))],
  ["introspection, by GET", async (site) => seen(await site.send(`/oauth/introspect?${form(await target(site))}`))],
  ...group("pushed request", PUSHED, async (site, change) => seen(await push(site, "post", change))),
  ["pushed request, of a public client", async (site) => seen(await push(site, "public"))],
  ["pushed request, of a client with a key", async (site) => seen(await push(site, "jwt"))],
  ["pushed request, by GET", async (site) => seen(await site.send(`/oauth/par?${form(site.request())}`))],
  ["pushed request, used", (site) => pushed(site)],
  ["pushed request, used twice", (site) => pushed(site, { twice: true })],
  ["pushed request, used by another client", (site) => pushed(site, { by: "other" })],
  ["pushed request, used with more parameters", (site) => pushed(site, { besides: { scope: "wizardry" } })],
  ["pushed request, used by a client that must push", (site) => pushed(site, { client: "pushed" })],
  ["device authorization", (site) => device(site)],
  ["device authorization, client missing", (site) => device(site, { client_id: GONE })],
  ["device authorization, client unknown", (site) => device(site, { client_id: "00000000-0000-4000-8000-000000000000" })],
  ["device authorization, scope unknown", (site) => device(site, { scope: "wizardry" })],
  ["device authorization, scope missing", (site) => device(site, { scope: GONE })],
  ["device authorization, client without the grant type", (site) => device(site, {}, "post")],
  ["logout without anything", (site) => logout(site)],
  ["logout, hint is nonsense", (site) => logout(site, { id_token_hint: "nonsense" })],
  ["logout, client unknown", (site) => logout(site, { client_id: "00000000-0000-4000-8000-000000000000" })],
  ["logout, redirect URI not registered", (site) => logout(site, { client_id: site.clients.post.client_id, post_logout_redirect_uri: "https://evil.example/" })],
  ["logout, redirect URI without a client", (site) => logout(site, { post_logout_redirect_uri: "https://evil.example/" })],
  ["keys", keysOf],
  ["keys, by POST", async (site) => answer(await site.form("/oauth/jwks", {}))],
  ...PATHS.map((path) => [`${path}`, async (site) => `${(await site.send(path)).status} issuer matches: ${(await site.send(path)).json?.issuer === site.issuer}`]),
  ...PATHS.map((path) => [`${path}, by POST`, async (site) => `${(await site.form(path, {})).status}`]),
  ...METADATA.map((member) => [`metadata, ${member}`, async (site) => names((await site.send(PATHS[0])).json[member])]),
  ...FLAGS.map((member) => [`metadata, ${member}`, async (site) => String((await site.send(PATHS[0])).json[member])]),
  ["another site's script, discovery", (site) => allowed(site, PATHS[0], "GET")],
  ["another site's script, keys", (site) => allowed(site, "/oauth/jwks", "GET")],
  ["another site's script, token", (site) => allowed(site, "/oauth/token", "POST", "content-type")],
  ["another site's script, userinfo", (site) => allowed(site, "/oauth/userinfo", "GET", "authorization")],
  ["another site's script, revocation", (site) => allowed(site, "/oauth/revoke", "POST", "content-type")],
  ["another site's script, introspection", (site) => allowed(site, "/oauth/introspect", "POST", "content-type")],
  ["another site's script, registration", (site) => allowed(site, "/oauth/clients", "POST", "content-type")],
  ["an unknown path", async (site) => answer(await site.send("/oauth/nothing"))],
];
