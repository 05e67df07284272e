// How applications with redirect URIs and settings of their own are registered and configured. `countersign
// client create --for` reads the same files, so its output is what logged in here.

import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const REGISTRATIONS = JSON.parse(read("registrations.json"));

/** The name of the registration with this title, if there is one. */
export const nameOf = (title) => Object.keys(REGISTRATIONS).find((name) => REGISTRATIONS[name].title === title);

/** The client metadata and settings of a row. */
export function registered(name) {
  const { title, configuration, client } = REGISTRATIONS[name];
  return {
    library: title,
    configuration,
    method: client.token_endpoint_auth_method,
    algorithm: client.id_token_signed_response_alg,
    scopes: client.scope.split(" "),
    callback: client.redirect_uris[0].replace("$APP", ""),
  };
}

/** The lines of a file of environment variables, with its `$NAMES` replaced. */
export function environment(file, values) {
  const lines = read(file).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=")).map(([name, value]) => [name, values[value.slice(1)]]));
}
