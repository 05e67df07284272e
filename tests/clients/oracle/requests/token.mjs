// Token requests: every way to authenticate, every field missing, doubled or wrong, every grant type.

import { assertion, hashOf, now, proof, unsigned, Key } from "../jwt.mjs";
import { answer } from "../observe.mjs";
import { ASSERTION, CALLBACK, DEVICE, S256, VERIFIER, basic, form, keys } from "../site.mjs";

const GONE = undefined;
const TOKEN = "/oauth/token";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const seen = (response) => answer(response, { fields: true });

// --- exchanging a code -------------------------------------------------------------------------------------

/** A valid exchange by the client with a secret in the body, changed. */
const FIELDS = {
  "code": {},
  "code, grant_type missing": { grant_type: GONE },
  "code, grant_type empty": { grant_type: "" },
  "code, grant_type unknown": { grant_type: "magic" },
  "code, grant_type implicit": { grant_type: "implicit" },
  "code, grant_type password": { grant_type: "password" },
  "code, grant_type twice": { grant_type: ["authorization_code", "authorization_code"] },
  "code missing": { code: GONE },
  "code empty": { code: "" },
  "code wrong": { code: "wrong" },
  "code with odd characters": { code: "a\u0000é" },
  "code twice": ({ code }) => ({ code: [code, code] }),
  "code, redirect_uri missing": { redirect_uri: GONE },
  "code, redirect_uri wrong": { redirect_uri: "https://client.example/other" },
  "code, redirect_uri twice": { redirect_uri: [CALLBACK, CALLBACK] },
  "code, an unexpected verifier": { code_verifier: VERIFIER },
  "code, scope in the exchange": { scope: "openid" },
  "code, an unknown parameter": { flavor: "mint" },
  "code, an unknown parameter twice": { flavor: ["mint", "lime"] },
  "code, resource not requested before": { resource: "https://api.example" },
  "code, resource with a fragment": { resource: "https://api.example/#f" },
  "code, client_id missing": { client_id: GONE },
  "code, client_id empty": { client_id: "" },
  "code, client_id unknown": { client_id: "00000000-0000-4000-8000-000000000000" },
  "code, client_id twice": ({ client_id }) => ({ client_id: [client_id, client_id] }),
  "code, client_secret missing": { client_secret: GONE },
  "code, client_secret empty": { client_secret: "" },
  "code, client_secret wrong": { client_secret: "wrong" },
  "code, client_secret twice": ({ client_secret }) => ({ client_secret: [client_secret, client_secret] }),
  "code, client and secret missing": { client_id: GONE, client_secret: GONE },
};

/** The same with PKCE; the second part was sent with the authorization request. */
const PKCE = {
  "code, verifier": ["post", S256, { code_verifier: VERIFIER }],
  "code, verifier missing": ["post", S256, {}],
  "code, verifier wrong": ["post", S256, { code_verifier: VERIFIER.replace("d", "e") }],
  "code, verifier too short": ["post", S256, { code_verifier: "short" }],
  "code, verifier too long": ["post", S256, { code_verifier: "a".repeat(129) }],
  "code, verifier empty": ["post", S256, { code_verifier: "" }],
  "code, verifier twice": ["post", S256, { code_verifier: [VERIFIER, VERIFIER] }],
  "code, the challenge as the verifier": ["post", S256, { code_verifier: S256.code_challenge }],
  "code of a public client": ["public", {}, {}],
  "code of a public client, verifier wrong": ["public", {}, { code_verifier: VERIFIER.replace("d", "e") }],
  "code of a public client, verifier missing": ["public", {}, { code_verifier: GONE }],
  "code of a public client, with a secret": ["public", {}, { client_secret: "guess" }],
  "code, resource": ["post", { resource: "https://api.example" }, { resource: "https://api.example" }],
  "code, another resource": ["post", { resource: "https://api.example" }, { resource: "https://files.example" }],
  "code without openid": ["post", { scope: "profile", nonce: GONE }, {}],
  "code with offline_access": ["post", { scope: "openid offline_access", prompt: "consent" }, {}],
};

/** Client authentication with Basic: headers, and changes of the body. */
const BASIC = {
  "Basic": ({ client_id, client_secret }) => [basic(client_id, client_secret)],
  "Basic, form-encoded": ({ client_id, client_secret }) => [basic(encodeURIComponent(client_id).replaceAll("-", "%2D"), encodeURIComponent(client_secret).replaceAll("-", "%2D"))],
  "Basic, small letters": ({ client_id, client_secret }) => [basic(client_id, client_secret).replace("Basic", "basic")],
  "Basic, secret wrong": ({ client_id }) => [basic(client_id, "wrong")],
  "Basic, secret empty": ({ client_id }) => [basic(client_id, "")],
  "Basic, client unknown": () => [basic("00000000-0000-4000-8000-000000000000", "wrong")],
  "Basic, no colon": ({ client_id }) => [`Basic ${Buffer.from(client_id).toString("base64")}`],
  "Basic, not base64": () => ["Basic !!!"],
  "Basic, nothing": () => ["Basic"],
  "Basic, a bad escape": ({ client_id }) => [basic(client_id, "%zz")],
  "Basic, client_id repeated": ({ client_id, client_secret }) => [basic(client_id, client_secret), { client_id }],
  "Basic, another client_id in the body": ({ client_id, client_secret }, site) => [basic(client_id, client_secret), { client_id: site.clients.post.client_id }],
  "Basic and the secret in the body": ({ client_id, client_secret }) => [basic(client_id, client_secret), { client_id, client_secret }],
  "Basic and a wrong secret in the body": ({ client_id, client_secret }) => [basic(client_id, client_secret), { client_id, client_secret: "wrong" }],
  "Basic registered, body used": ({ client_id, client_secret }) => [undefined, { client_id, client_secret }],
  "Bearer instead of Basic": ({ client_id, client_secret }) => ["Bearer something", { client_id, client_secret }],
};

/** Assertions of a client with a key. */
const ASSERTIONS = {
  "assertion": (site, client) => assertion(site, client, keys.ES256),
  "assertion with RS256": (site, client) => assertion(site, client, keys.RS256),
  "assertion for the token endpoint": (site, client) => assertion(site, client, keys.ES256, { aud: `${site.issuer}${TOKEN}` }),
  "assertion for a list of one": (site, client) => assertion(site, client, keys.ES256, { aud: [site.issuer] }),
  "assertion for a list of two": (site, client) => assertion(site, client, keys.ES256, { aud: [site.issuer, "https://evil.example"] }),
  "assertion for another server": (site, client) => assertion(site, client, keys.ES256, { aud: "https://evil.example" }),
  "assertion without an audience": (site, client) => assertion(site, client, keys.ES256, { aud: GONE }),
  "assertion that has expired": (site, client) => assertion(site, client, keys.ES256, { iat: now() - 900, exp: now() - 600 }),
  "assertion without exp": (site, client) => assertion(site, client, keys.ES256, { exp: GONE }),
  "assertion that lasts a year": (site, client) => assertion(site, client, keys.ES256, { exp: now() + 31_536_000 }),
  "assertion from the future": (site, client) => assertion(site, client, keys.ES256, { iat: now() + 600, exp: now() + 660 }),
  "assertion not valid yet": (site, client) => assertion(site, client, keys.ES256, { nbf: now() + 600 }),
  "assertion without jti": (site, client) => assertion(site, client, keys.ES256, { jti: GONE }),
  "assertion of another issuer": (site, client) => assertion(site, client, keys.ES256, { iss: "another" }),
  "assertion of another subject": (site, client) => assertion(site, client, keys.ES256, { sub: "another" }),
  "assertion by another key": (site, client) => assertion(site, client, keys.other),
  "assertion without a signature": (_, client) => unsigned({ iss: client.client_id, sub: client.client_id }),
  "assertion with crit": (site, client) => assertion(site, client, keys.ES256, {}, { crit: ["b64"], b64: true }),
  "assertion is nonsense": () => "nonsense",
  "assertion empty": () => "",
  "assertion missing": () => GONE,
};

async function exchange(site, name, changed, { headers = {}, asked = {} } = {}) {
  const good = site.exchange(await site.code(name, asked), name);
  return seen(await site.form(TOKEN, { ...good, ...(typeof changed === "function" ? changed(good) : changed) }, headers));
}

async function byBasic(site, way) {
  const client = site.clients.basic;
  const [authorization, body = {}] = way(client, site);
  const { client_id, client_secret, ...rest } = site.exchange(await site.code("basic"), "basic");
  return seen(await site.form(TOKEN, { ...rest, ...body }, authorization ? { authorization } : {}));
}

async function byAssertion(site, make, changed = {}) {
  return exchange(site, "jwt", { client_assertion: make(site, site.clients.jwt), ...changed });
}

async function used(site, then) {
  const good = site.exchange(await site.code());
  const first = await site.form(TOKEN, good);
  const second = await site.form(TOKEN, good);
  return then(first.json, second);
}

// --- how it is sent ----------------------------------------------------------------------------------------

const SENT = {
  "sent as JSON": (site, good) => site.post(TOKEN, good),
  "sent as text": (site, good) => site.send(TOKEN, { method: "POST", headers: { "content-type": "text/plain" }, body: String(form(good)) }),
  "sent without a type": (site, good) => site.send(TOKEN, { method: "POST", body: Buffer.from(String(form(good))) }),
  "sent with a charset": (site, good) => site.form(TOKEN, good, { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" }),
  "sent as multipart/form-data": (site, good) => site.send(TOKEN, { method: "POST", headers: { "content-type": "multipart/form-data; boundary=x" }, body: `--x\r\ncontent-disposition: form-data; name="grant_type"\r\n\r\n${good.grant_type}\r\n--x--\r\n` }),
  "sent in the query": (site, good) => site.send(`${TOKEN}?${form(good)}`, { method: "POST", headers: FORM }),
  "sent by GET": (site, good) => site.send(`${TOKEN}?${form(good)}`),
  "sent by PUT": (site, good) => site.send(TOKEN, { method: "PUT", headers: FORM, body: String(form(good)) }),
  "sent with an empty body": (site) => site.form(TOKEN, {}),
  "sent with an invalid percent-escape": (site, good) => site.send(TOKEN, { method: "POST", headers: FORM, body: `${form(good)}&x=%zz` }),
  "sent with a hundred kilobytes": (site, good) => site.form(TOKEN, { ...good, ballast: "a".repeat(100_000) }),
};

// --- refreshing --------------------------------------------------------------------------------------------

/** The tokens have the scopes openid and profile. */
const REFRESH = {
  "refresh": {},
  "refresh, the same scope": { scope: "openid profile" },
  "refresh, less scope": { scope: "openid" },
  "refresh, more scope": { scope: "openid profile email" },
  "refresh, unknown scope": { scope: "wizardry" },
  "refresh, empty scope": { scope: "" },
  "refresh, scope twice": { scope: ["openid", "profile"] },
  "refresh, token missing": { refresh_token: GONE },
  "refresh, token empty": { refresh_token: "" },
  "refresh, token wrong": { refresh_token: "wrong" },
  "refresh, token twice": ({ refresh_token }) => ({ refresh_token: [refresh_token, refresh_token] }),
  "refresh, secret wrong": { client_secret: "wrong" },
  "refresh, secret missing": { client_secret: GONE },
  "refresh, by another client": (_, site) => site.identify("other"),
  "refresh, by a public client": (_, site) => ({ client_secret: GONE, ...site.identify("public") }),
  "refresh, resource not granted": { resource: "https://api.example" },
};

async function refresh(site, name, changed = {}) {
  const { refresh_token } = await site.tokens(name);
  const good = { grant_type: "refresh_token", refresh_token, ...site.identify(name) };
  return seen(await site.form(TOKEN, { ...good, ...(typeof changed === "function" ? changed(good, site) : changed) }));
}

async function rotated(site, then) {
  const first = await site.tokens();
  const again = () => site.form(TOKEN, { grant_type: "refresh_token", refresh_token: first.refresh_token, ...site.identify("post") });
  return then((await again()).json, await again());
}

// --- the other grant types, and DPoP -----------------------------------------------------------------------

const service = (site, changed = {}, name = "service") => site.form(TOKEN, { grant_type: "client_credentials", ...site.identify(name), ...changed }).then(seen);

/** Requests a device code and presents it, changed. */
async function device(site, changed = {}) {
  const { json } = await site.form("/oauth/device_authorization", { scope: "openid", ...site.identify("device") });
  return seen(await site.form(TOKEN, { grant_type: DEVICE, device_code: json.device_code, ...site.identify("device"), ...changed }));
}

/** Exchanges a code with a proof that contains the server's nonce. */
async function bound(site, claims = {}, header = {}, sender = keys.ES256) {
  const url = `${site.issuer}${TOKEN}`;
  const good = site.exchange(await site.code());
  const asked = await site.form(TOKEN, good, { dpop: proof(sender, "POST", url) });
  const nonce = asked.headers.get("dpop-nonce");
  return { nonce, response: await site.form(TOKEN, good, { dpop: proof(sender, "POST", url, { nonce, ...claims }, header) }) };
}

async function userinfo(site, scheme, { key = keys.ES256, ath } = {}) {
  const { nonce, response } = await bound(site);
  const token = response.json.access_token;
  const dpop = proof(key, "GET", `${site.issuer}/oauth/userinfo`, { nonce, ath: ath ?? hashOf(token) });
  return answer(await site.send("/oauth/userinfo", { headers: { authorization: `${scheme} ${token}`, ...(scheme === "DPoP" && { dpop }) } }));
}

export const requests = [
  ...Object.entries(FIELDS).map(([name, changed]) => [name, (site) => exchange(site, "post", changed)]),
  ...Object.entries(PKCE).map(([name, [client, asked, changed]]) => [name, (site) => exchange(site, client, changed, { asked })]),
  ...Object.entries(BASIC).map(([name, way]) => [name, (site) => byBasic(site, way)]),
  ...Object.entries(ASSERTIONS).map(([name, make]) => [name, (site) => byAssertion(site, make)]),
  ["assertion of an unknown type", (site) => byAssertion(site, ASSERTIONS.assertion, { client_assertion_type: "urn:example:magic" })],
  ["assertion without a type", (site) => byAssertion(site, ASSERTIONS.assertion, { client_assertion_type: GONE })],
  ["assertion without client_id", (site) => byAssertion(site, ASSERTIONS.assertion, { client_id: GONE })],
  ["assertion with another client_id", (site) => byAssertion(site, ASSERTIONS.assertion, { client_id: site.clients.post.client_id })],
  ["assertion and a secret", (site) => byAssertion(site, ASSERTIONS.assertion, { client_secret: "guess" })],
  ["assertion used before", async (site) => {
    const client_assertion = assertion(site, site.clients.jwt, keys.ES256);
    await exchange(site, "jwt", { client_assertion });
    return exchange(site, "jwt", { client_assertion });
  }],
  ["assertion by a client that has a secret", (site) => exchange(site, "post", { client_secret: GONE, client_assertion_type: ASSERTION, client_assertion: assertion(site, site.clients.post, new Key()) })],
  ["code of another client", async (site) => seen(await site.form(TOKEN, { ...site.exchange(await site.code("other"), "other"), ...site.identify("post") }))],
  ["code used before", (site) => used(site, (_, second) => seen(second))],
  ["code used before: the access token afterwards", (site) => used(site, async (first) => answer(await site.send("/oauth/userinfo", { headers: { authorization: `Bearer ${first.access_token}` } })))],
  ["code used before: the refresh token afterwards", (site) => used(site, async (first) => seen(await site.form(TOKEN, { grant_type: "refresh_token", refresh_token: first.refresh_token, ...site.identify("post") })))],
  ["code after a wrong secret", async (site) => {
    const good = site.exchange(await site.code());
    await site.form(TOKEN, { ...good, client_secret: "wrong" });
    return seen(await site.form(TOKEN, good));
  }],
  ["code after a wrong verifier", async (site) => {
    const good = site.exchange(await site.code("public"), "public");
    await site.form(TOKEN, { ...good, code_verifier: VERIFIER.replace("d", "e") });
    return seen(await site.form(TOKEN, good));
  }],
  ...Object.entries(SENT).map(([name, send]) => [name, async (site) => answer(await send(site, site.exchange(await site.code())))]),
  ...Object.entries(REFRESH).map(([name, changed]) => [name, (site) => refresh(site, "post", changed)]),
  ["refresh of a public client", (site) => refresh(site, "public")],
  ["refresh, token used before", (site) => rotated(site, (_, second) => seen(second))],
  ["refresh, token used before: the new refresh token afterwards", (site) => rotated(site, async (first) => seen(await site.form(TOKEN, { grant_type: "refresh_token", refresh_token: first.refresh_token, ...site.identify("post") })))],
  ["refresh, token used before: the new access token afterwards", (site) => rotated(site, async (first) => answer(await site.send("/oauth/userinfo", { headers: { authorization: `Bearer ${first.access_token}` } })))],
  ["refresh with an access token", async (site) => seen(await site.form(TOKEN, { grant_type: "refresh_token", refresh_token: (await site.tokens()).access_token, ...site.identify("post") }))],
  ["client credentials", (site) => service(site)],
  ["client credentials, a scope", (site) => service(site, { scope: "profile" })],
  ["client credentials, openid", (site) => service(site, { scope: "openid" })],
  ["client credentials, an unknown scope", (site) => service(site, { scope: "wizardry" })],
  ["client credentials, secret wrong", (site) => service(site, { client_secret: "wrong" })],
  ["client credentials, a resource", (site) => service(site, { resource: "https://api.example" })],
  ["client credentials by a client without that grant type", (site) => service(site, {}, "post")],
  ["device code, not answered yet", (site) => device(site)],
  ["device code wrong", (site) => device(site, { device_code: "wrong" })],
  ["device code missing", (site) => device(site, { device_code: GONE })],
  ["device code of another client", (site) => device(site, site.identify("public"))],
  ["DPoP without a nonce", (site) => site.code().then((code) => site.form(TOKEN, site.exchange(code), { dpop: proof(keys.ES256, "POST", `${site.issuer}${TOKEN}`) })).then(seen)],
  ["DPoP with the server's nonce", async (site) => seen((await bound(site)).response)],
  ["DPoP for another method", async (site) => seen((await bound(site, { htm: "GET" })).response)],
  ["DPoP for another URL", async (site) => seen((await bound(site, { htu: "https://evil.example/" })).response)],
  ["DPoP from long ago", async (site) => seen((await bound(site, { iat: now() - 3600 })).response)],
  ["DPoP without jti", async (site) => seen((await bound(site, { jti: GONE })).response)],
  ["DPoP of another type", async (site) => seen((await bound(site, {}, { typ: "jwt" })).response)],
  ["DPoP with the private key in it", async (site) => seen((await bound(site, {}, { jwk: keys.ES256.secret })).response)],
  ["DPoP signed by a different key", async (site) => seen((await bound(site, {}, { jwk: keys.other.bare })).response)],
  ["DPoP is nonsense", async (site) => seen(await site.form(TOKEN, site.exchange(await site.code()), { dpop: "nonsense" }))],
  ["userinfo with DPoP", (site) => userinfo(site, "DPoP")],
  ["userinfo with DPoP by another key", (site) => userinfo(site, "DPoP", { key: keys.other })],
  ["userinfo with DPoP for another token", (site) => userinfo(site, "DPoP", { ath: hashOf("another") })],
  ["userinfo with a bound token as Bearer", (site) => userinfo(site, "Bearer")],
];
