// The ways in which the playground can make a step go wrong, and what the server then returns. Their
// descriptions are in the texts. This file has what is sent instead of the right value, and the expected
// response.

const edited = (text) => (text.endsWith("A") ? `${text.slice(0, -1)}B` : `${text.slice(0, -1)}A`);
const without = (fields, name) => Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));

/** A JWT that expired in the past. Its signature no longer matches, as in every changed token. */
function expired(token) {
  const [header, payload, signature] = token.split(".");
  if (!signature) return edited(token);
  const claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  const changed = btoa(JSON.stringify({ ...claims, exp: claims.iat - 1 })).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${header}.${changed}.${signature}`;
}

const wrongSecret = { change: (fields) => ({ ...fields, client_secret: edited(fields.client_secret ?? "not-the-secret-A") }), status: 401, error: "invalid_client" };

/**
 * The breaks of each step, by name. `change` gets the fields that would be sent, and returns the fields to
 * send. `visits`: the browser opens the URL, and the error comes back in the redirect.
 */
export const BREAKS = {
  register: {
    missing_field: { change: (fields) => without(fields, "redirect_uris"), status: 400, error: "invalid_request" },
    bad_redirect_uri: { change: (fields) => ({ ...fields, redirect_uris: ["http://app.example/callback"] }), status: 400, error: "invalid_redirect_uri" },
  },
  authorize: {
    wrong_redirect_uri: { change: (fields) => ({ ...fields, redirect_uri: `${fields.redirect_uri}/elsewhere` }), status: 400, error: "invalid_request" },
    unknown_client: { change: (fields) => ({ ...fields, client_id: "00000000-0000-4000-8000-000000000000" }), status: 400, error: "invalid_client" },
    missing_state: {
      change: (fields) => without(without(without(fields, "state"), "code_challenge"), "code_challenge_method"),
      visits: true,
      error: "invalid_request",
    },
    unknown_scope: { change: (fields) => ({ ...fields, scope: "everything" }), visits: true, error: "invalid_scope" },
    missing_field: { change: (fields) => without(fields, "response_type"), visits: true, error: "invalid_request" },
    deny: { change: (fields) => fields, visits: true, error: "access_denied" },
  },
  token: {
    wrong_verifier: { change: (fields) => ({ ...fields, code_verifier: edited(fields.code_verifier ?? "0".repeat(42)) }), status: 400, error: "invalid_grant", spends: true },
    wrong_secret: wrongSecret,
    wrong_redirect_uri: { change: (fields) => ({ ...fields, redirect_uri: `${fields.redirect_uri}/elsewhere` }), status: 400, error: "invalid_grant" },
    code_twice: { twice: true, status: 400, error: "invalid_grant" },
    json_body: { json: true, status: 422, error: "invalid_request" },
    missing_field: { change: (fields) => without(fields, "code"), status: 422, error: "invalid_request" },
  },
  userinfo: {
    edited_token: { change: edited, status: 401, error: "invalid_token" },
    expired_token: { change: expired, status: 401, error: "invalid_token" },
    no_token: { change: () => null, status: 401 },
  },
  refresh: {
    wrong_secret: wrongSecret,
    wider_scope: { change: (fields) => ({ ...fields, scope: "profile everything" }), status: 400, error: "invalid_scope" },
    missing_field: { change: (fields) => without(fields, "refresh_token"), status: 422, error: "invalid_request" },
    reuse: { twice: true, status: 400, error: "invalid_grant" },
  },
  revoke: {
    wrong_secret: wrongSecret,
    missing_field: { change: (fields) => without(fields, "token"), status: 400, error: "invalid_request" },
  },
  userinfo_again: {},
};
