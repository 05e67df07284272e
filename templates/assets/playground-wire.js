// What the playground sends and receives, written as it goes over the wire and as a curl command.

/** Fields whose values are only shown if the user wants to see them. */
const SECRET_FIELDS = new Set([
  "client_secret",
  "code",
  "code_verifier",
  "access_token",
  "refresh_token",
  "registration_access_token",
  "token",
]);
const HEADERS_THAT_MATTER = ["content-type", "cache-control", "www-authenticate", "retry-after", "x-request-id"];
const LONGEST_BODY = 20_000;
const ANSWER_WITHIN_MS = 30_000;

/**
 * Sends one request, without cookies, as a client's server would. The body is `form` or `json`. Resolves to
 * the whole exchange; `status` is 0 if there was no response.
 */
export async function send({ method, url, form, json, bearer }) {
  const headers = { accept: "application/json" };
  if (form) headers["content-type"] = "application/x-www-form-urlencoded";
  if (json) headers["content-type"] = "application/json";
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  const body = form ? new URLSearchParams(form).toString() : json ? JSON.stringify(json) : null;
  const exchange = { method, url, headers, body, status: 0, answerHeaders: [], answer: "", ms: 0 };
  const started = performance.now();
  try {
    const options = { method, headers, credentials: "omit", cache: "no-store", redirect: "manual" };
    const response = await fetch(url, { ...options, ...(body === null ? {} : { body }), signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    exchange.answer = (await response.text()).slice(0, LONGEST_BODY);
    exchange.status = response.status;
    exchange.answerHeaders = HEADERS_THAT_MATTER.filter((name) => response.headers.has(name)).map((name) => [name, response.headers.get(name)]);
  } catch {
    // No response: status stays 0.
  }
  exchange.ms = Math.round(performance.now() - started);
  exchange.secrets = secretsOf([form, json, jsonOf(exchange.answer)], bearer);
  return exchange;
}

/** A visit: the browser opens the URL, and scripts cannot see the server's response. */
export function visit(url) {
  return { method: "GET", url, headers: {}, body: null, visited: true, secrets: [] };
}

/** The JSON object in a text, or undefined. */
export function jsonOf(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function secretsOf(objects, bearer) {
  const found = bearer ? [bearer] : [];
  for (const object of objects) {
    for (const [name, value] of Object.entries(object ?? {})) {
      if (SECRET_FIELDS.has(name) && typeof value === "string" && value) found.push(value);
    }
  }
  // The longest first, because one may be a part of another.
  return [...new Set(found)].sort((one, other) => other.length - one.length);
}

const titled = (name) => name.replace(/^www|(^|-)[a-z]/g, (start) => start.toUpperCase());

/** The request as lines. A form has one line per field; every line except the first begins with its &. */
export function requestText({ method, url, headers, body }) {
  const { pathname, search, host } = new URL(url);
  const json = body === null ? null : jsonOf(body);
  const shown = json ? JSON.stringify(json, null, 2) : (body ?? "").replaceAll("&", "\n&");
  const lines = [`${method} ${pathname}${search.replaceAll("&", "\n  &")}`, `Host: ${host}`];
  lines.push(...Object.entries(headers).map(([name, value]) => `${titled(name)}: ${value}`));
  return lines.join("\n") + (shown ? `\n\n${shown}` : "");
}

/** The response as lines. */
export function answerText({ status, answerHeaders, answer }) {
  const json = jsonOf(answer);
  const head = [`HTTP ${status}`, ...answerHeaders.map(([name, value]) => `${titled(name)}: ${value}`)].join("\n");
  const body = json ? JSON.stringify(json, null, 2) : answer;
  return body ? `${head}\n\n${body}` : head;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request as a curl command. */
export function curlText({ method, url, headers, body }) {
  const parts = [`curl --include ${method === "GET" ? "" : `--request ${method} `}${quoted(url)}`];
  parts.push(...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${titled(name)}: ${value}`)}`));
  if (body !== null) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(" \\\n  ");
}

/**
 * The header and the payload of a JWT, or undefined. The signature is not verified, which needs the server's
 * keys.
 */
export function decoded(token) {
  const part = (text) => {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  };
  try {
    const [header, payload] = String(token).split(".");
    return { header: part(header), payload: part(payload) };
  } catch {
    return null;
  }
}

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** A random text for states and verifiers: 256 bits. */
export function randomText() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The code challenge of a verifier (RFC 7636, S256). */
export async function challengeOf(verifier) {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}
