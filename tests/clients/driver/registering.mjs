// How the client of a row is registered: as metadata for the test, and as the command that stands above its
// example in docs/clients.

import { nameOf } from "../registrations.mjs";

/** Where the small applications run while somebody tries them, and where whole ones are. */
const HERE = "http://localhost:3000";
const THERE = "https://app.example";
const WIDTH = 100;

/** The client metadata that a row describes. */
export function metadata(row, appUrl) {
  return {
    client_name: row.library,
    redirect_uris: [`${appUrl}${row.callback ?? "/callback"}`],
    scopes: row.scopes,
    token_endpoint_auth_method: row.method,
    ...(row.algorithm ? { id_token_signed_response_alg: row.algorithm } : {}),
    ...(row.steps.includes("logout") ? { post_logout_redirect_uris: [`${appUrl}/`] } : {}),
    ...row.metadata,
  };
}

/** The command that registers the client of a row; undefined if the library registers by itself. */
export function command(row) {
  if (row.registers) return undefined;
  const name = nameOf(row.title ?? row.library);
  const options = name ? [`--for ${name}`, `--url ${row.snippet ? THERE : HERE}`] : flags(metadata(row, HERE));
  return wrapped(["countersign client create --name \"My app\"", ...options]);
}

/** The flags that say what the metadata says, but for what is the default. */
function flags({ client_name, redirect_uris, scopes, token_endpoint_auth_method, id_token_signed_response_alg, post_logout_redirect_uris, jwks, ...rest }) {
  if (Object.keys(rest).length > 0) throw new Error(`no flags are known for ${Object.keys(rest)} of ${client_name}`);
  return [
    ...redirect_uris.map((uri) => `--redirect-uri ${uri}`),
    ...(post_logout_redirect_uris ?? []).map((uri) => `--post-logout-redirect-uri ${uri}`),
    `--scope "${scopes.join(" ")}"`,
    ...(token_endpoint_auth_method === "none" ? ["--public"] : [`--auth-method ${token_endpoint_auth_method}`]),
    ...(jwks ? ["--jwks-file keys.json"] : []),
    ...(id_token_signed_response_alg && id_token_signed_response_alg !== "RS256" ? [`--id-token-signed-response-alg ${id_token_signed_response_alg}`] : []),
  ];
}

/** A command in lines that fit on a page. */
function wrapped([first, ...options]) {
  const lines = [first];
  for (const option of options) {
    const longer = `${lines.at(-1)} ${option}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`  ${option}`);
  }
  return lines.join(" \\\n");
}
