// Requests to this server: JSON in, JSON out, and every possible failure as a Problem that people can read.

import { say } from "./texts.js";

const ANSWER_WITHIN_MS = 30_000;
const WAIT_AT_MOST_S = 3600;

/**
 * What went wrong: a state of the page, the key and values of its text, and the response's status if there
 * was one.
 */
export class Problem extends Error {
  constructor(id, key, { values = {}, status, seconds = 0 } = {}) {
    super(say(key, values));
    Object.assign(this, { id, key, values, status, seconds });
  }
}

/**
 * Posts fields to a path of this server. Times are relative to the server's clock, because this computer's
 * may be wrong.
 */
export async function post(path, fields) {
  let response;
  let text;
  try {
    response = await fetch(document.querySelector("main").dataset.base + path, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify(fields),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    text = await response.text();
  } catch {
    throw new Problem("offline", "offline");
  }
  const answer = jsonObject(text);
  if (!response.ok || answer === null) throw problemOf(response, answer ?? {});
  return { answer, serverTime: Date.parse(response.headers.get("Date") ?? "") || Date.now() };
}

function jsonObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function problemOf(response, answer) {
  const { status, headers } = response;
  const reason = typeof answer.error_description === "string" ? answer.error_description : "";
  if (status === 429) {
    const seconds = secondsToWait(headers.get("Retry-After"));
    return new Problem("rate-limited", "too_many", { status, seconds, values: { seconds } });
  }
  if (status >= 500 || response.ok) return broken(headers.get("X-Request-Id"), status);
  if (status === 401 && reason.startsWith("Challenge")) return new Problem("expired", "expired", { status });
  if (status === 401) {
    const reference = headers.get("X-Request-Id");
    return new Problem("bad-signature", reference ? "bad_signature_reference" : "bad_signature", { status, values: { reference } });
  }
  if (status === 403 && /^the(re is no such)? invitation/.test(reason)) return new Problem("invitation-ended", "refused", { status, values: { reason } });
  if (status === 403 && answer.error === "access_denied") {
    return new Problem("not-admitted", "not_admitted", { status, values: { reference: headers.get("X-Request-Id") } });
  }
  if (/session/i.test(reason)) return new Problem("session-gone", "session_gone", { status });
  return new Problem("refused", "refused", { status, values: { reason: reason || String(status) } });
}

/** The server sent an invalid response. */
export function broken(reference, status) {
  const values = { reference };
  return new Problem("server-error", reference ? "server_error_reference" : "server_error", { values, status });
}

function secondsToWait(header) {
  const seconds = Number(header ?? "");
  if (Number.isFinite(seconds) && seconds > 0) return Math.min(Math.ceil(seconds), WAIT_AT_MOST_S);
  const at = Date.parse(header ?? "");
  return Number.isNaN(at) ? 30 : Math.min(Math.max(Math.ceil((at - Date.now()) / 1000), 1), WAIT_AT_MOST_S);
}

/** The text to sign, from a response or from the page. */
export function challengeOf({ challenge, wallet_address: address, chain, expires_at: expiresAt }, serverTime) {
  const expires = Date.parse(expiresAt);
  if (typeof challenge !== "string" || typeof address !== "string" || Number.isNaN(expires)) throw broken();
  return { text: challenge, address, chain, came: Date.now(), ends: Date.now() + (expires - serverTime) };
}

/** Web URLs, and private-use schemes, which contain a dot; never javascript:, data: or blob:. */
export function isTarget(text) {
  return isWebAddress(text) || /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:/i.test(text);
}

export function isWebAddress(text) {
  return /^https?:\/\//i.test(text);
}
