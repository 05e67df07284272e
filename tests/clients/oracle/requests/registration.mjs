// Registration (RFC 7591) and its management (RFC 7592).

import { answer } from "../observe.mjs";
import { CALLBACK, keys } from "../site.mjs";

const GONE = undefined;

/** A valid registration, changed. */
const METADATA = {
  "unchanged": {},
  "redirect_uris missing": { redirect_uris: GONE },
  "redirect_uris empty": { redirect_uris: [] },
  "redirect_uris a string": { redirect_uris: CALLBACK },
  "redirect_uris with numbers": { redirect_uris: [5] },
  "redirect URI with a fragment": { redirect_uris: [`${CALLBACK}#f`] },
  "redirect URI with user information": { redirect_uris: ["https://user@client.example/cb"] },
  "redirect URI with a wildcard": { redirect_uris: ["https://*.client.example/cb"] },
  "redirect URI with http": { redirect_uris: ["http://client.example/cb"] },
  "redirect URI with http on this computer": { redirect_uris: ["http://127.0.0.1/cb"] },
  "redirect URI with http on localhost": { redirect_uris: ["http://localhost:3000/cb"] },
  "redirect URI with a script": { redirect_uris: ["javascript:alert(1)"] },
  "redirect URI with data": { redirect_uris: ["data:text/html,hi"] },
  "redirect URI relative": { redirect_uris: ["/cb"] },
  "redirect URI with a private-use scheme, web": { redirect_uris: ["com.example.app:/cb"] },
  "redirect URI with a private-use scheme, native": { redirect_uris: ["com.example.app:/cb"], application_type: "native" },
  "redirect URI with a scheme without a dot, native": { redirect_uris: ["myapp:/cb"], application_type: "native" },
  "redirect URI twice": { redirect_uris: [CALLBACK, CALLBACK] },
  "one of two redirect URIs invalid": { redirect_uris: [CALLBACK, "nonsense"] },
  "client_name missing": { client_name: GONE },
  "client_name a number": { client_name: 5 },
  "client_name empty": { client_name: "" },
  "client_name with 5,000 characters": { client_name: "a".repeat(5000) },
  "client_name with a line break": { client_name: "Photo\nAlbum" },
  "client_name that reverses the writing direction": { client_name: "Photo\u202eAlbum" },
  "logo_uri with http": { logo_uri: "http://client.example/logo.png" },
  "logo_uri with a script": { logo_uri: "javascript:alert(1)" },
  "client_uri relative": { client_uri: "/about" },
  "contacts a string": { contacts: "a@example.com" },
  "application_type unknown": { application_type: "toaster" },
  "token_endpoint_auth_method none": { token_endpoint_auth_method: "none" },
  "token_endpoint_auth_method unknown": { token_endpoint_auth_method: "handshake" },
  "token_endpoint_auth_method client_secret_jwt": { token_endpoint_auth_method: "client_secret_jwt" },
  "private_key_jwt with keys": { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [keys.ES256.jwk] } },
  "private_key_jwt without keys": { token_endpoint_auth_method: "private_key_jwt" },
  "private_key_jwt with a private key": { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ ...keys.ES256.secret, alg: "ES256" }] } },
  "private_key_jwt with a symmetric key": { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } },
  "private_key_jwt with an empty key list": { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] } },
  "jwks and jwks_uri": { jwks: { keys: [keys.ES256.jwk] }, jwks_uri: "https://client.example/jwks" },
  "jwks_uri with http": { jwks_uri: "http://client.example/jwks" },
  "jwks a string": { jwks: "nonsense" },
  "grant_types unknown": { grant_types: ["magic"] },
  "grant_types implicit": { grant_types: ["implicit"], response_types: ["id_token"] },
  "grant_types empty": { grant_types: [] },
  "response_types token": { response_types: ["token"] },
  "response_types without the grant": { grant_types: ["refresh_token"], response_types: ["code"] },
  "scope unknown": { scope: "openid wizardry" },
  "scope empty": { scope: "" },
  "id_token_signed_response_alg ES256": { id_token_signed_response_alg: "ES256" },
  "id_token_signed_response_alg EdDSA": { id_token_signed_response_alg: "EdDSA" },
  "id_token_signed_response_alg none": { id_token_signed_response_alg: "none" },
  "id_token_signed_response_alg HS256": { id_token_signed_response_alg: "HS256" },
  "id_token_signed_response_alg unknown": { id_token_signed_response_alg: "XX99" },
  "post_logout_redirect_uris": { post_logout_redirect_uris: ["https://client.example/bye"] },
  "post_logout_redirect_uris relative": { post_logout_redirect_uris: ["/bye"] },
  "backchannel_logout_uri": { backchannel_logout_uri: "https://client.example/logout" },
  "backchannel_logout_uri with a fragment": { backchannel_logout_uri: "https://client.example/logout#f" },
  "subject_type pairwise": { subject_type: "pairwise" },
  "software_statement": { software_statement: "nonsense" },
  "client_id chosen": { client_id: "mine" },
  "an unknown member": { flavor: "mint" },
  "a member in another language": { "client_name#de": "Fotoalbum" },
};

const BODIES = {
  "not JSON": (site) => site.send("/oauth/clients", { method: "POST", headers: { "content-type": "application/json" }, body: "{" }),
  "a list": (site) => site.post("/oauth/clients", []),
  "nothing": (site) => site.send("/oauth/clients", { method: "POST", headers: { "content-type": "application/json" } }),
  "a form": (site) => site.form("/oauth/clients", { redirect_uris: CALLBACK }),
  "an empty object": (site) => site.post("/oauth/clients", {}),
};

const register = (site, change) => site.post("/oauth/clients", { client_name: "Registered", redirect_uris: [CALLBACK], ...change });

/** What the holder of a registration access token does with the configuration. */
const CONFIGURATION = {
  "read": (ask) => ask("GET"),
  "read without a token": (ask) => ask("GET", { token: null }),
  "read with a wrong token": (ask) => ask("GET", { token: "wrong" }),
  "read with another client's token": (ask, { other }) => ask("GET", { token: other.registration_access_token }),
  "written": (ask, { body }) => ask("PUT", { body }),
  "written with another client_id": (ask, { body, other }) => ask("PUT", { body: { ...body, client_id: other.client_id } }),
  "written without client_id": (ask, { body }) => ask("PUT", { body: { ...body, client_id: GONE } }),
  "written with another secret": (ask, { body }) => ask("PUT", { body: { ...body, client_secret: "chosen" } }),
  "written with an invalid redirect URI": (ask, { body }) => ask("PUT", { body: { ...body, redirect_uris: ["nonsense"] } }),
  "written with a wrong token": (ask, { body }) => ask("PUT", { body, token: "wrong" }),
  "deleted": (ask) => ask("DELETE"),
  "deleted with a wrong token": (ask) => ask("DELETE", { token: "wrong" }),
  "deleted, then read": async (ask) => (await ask("DELETE"), ask("GET")),
  "by POST": (ask, { body }) => ask("POST", { body }),
};

async function configured(site, act) {
  const [mine, other] = [(await register(site)).json, (await register(site)).json];
  const body = { client_id: mine.client_id, client_secret: mine.client_secret, client_name: "Changed", redirect_uris: [CALLBACK] };
  const ask = (method, { token = mine.registration_access_token, body } = {}) => {
    const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(body && { "content-type": "application/json" }) };
    return site.send(mine.registration_client_uri, { method, headers, body: body && JSON.stringify(body) });
  };
  return answer(await act(ask, { body, other }));
}

export const requests = [
  ...Object.entries(METADATA).map(([name, change]) => [name, async (site) => answer(await register(site, change))]),
  ...Object.entries(BODIES).map(([name, send]) => [name, async (site) => answer(await send(site))]),
  ...Object.entries(CONFIGURATION).map(([name, act]) => [`configuration ${name}`, (site) => configured(site, act)]),
];
