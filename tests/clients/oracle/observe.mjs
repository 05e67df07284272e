// The parts of a response that are compared, as one line.

import { CALLBACK } from "./site.mjs";

const unescaped = (text) => text.replace(/&#x2F;/gi, "/").replace(/&amp;/g, "&").replace(/&quot;/g, '"').replace(/&#x27;|&#39;/gi, "'");

const error = (json) => (typeof json?.error === "string" ? json.error : undefined);

/** Status, error code, authentication schemes, and whether the response may be cached. */
export function answer({ status, headers, json }, { fields = false } = {}) {
  const scheme = [...(headers.get("www-authenticate") ?? "").matchAll(/(?:^|, )(Basic|Bearer|DPoP)\b/g)].map(([, each]) => each);
  return [
    status,
    error(json),
    scheme.length > 0 && `(${scheme.join(", ")})`,
    status < 400 && fields && json && `{${Object.keys(json).sort().join(" ")}}`,
    /no-store/.test(headers.get("cache-control") ?? "") ? "no-store" : "no cache rule",
  ].filter(Boolean).join(" ");
}

/** Where an authorization request leads: to the user, back to the client, or to an error page. */
export function way(site, { status, headers, location, json, text }) {
  const posted = unescaped(/<form[^>]+action="([^"]+)"/i.exec(text)?.[1] ?? "");
  if (posted && !site.has(posted)) {
    const fields = [...text.matchAll(/<input[^>]+name="([^"]+)"[^>]*?value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    return `a form to ${target(new URL(posted))} with ${told(fields)}`;
  }
  if (!location) return answer({ status, headers, json });
  if (site.has(location)) return "the user is asked";
  const url = new URL(location);
  const parameters = new URLSearchParams(url.hash ? url.hash.slice(1) : url.search);
  return `${target(url)} with ${told([...parameters])}${url.hash ? " in the fragment" : ""}`;
}

/**
 * The names of the parameters that the client gets, and the error code. The description is not compared,
 * because no standard defines it.
 */
function told(fields) {
  return fields.filter(([name]) => name !== "error_description").map(([name, value]) => (name === "error" ? `error=${value}` : name)).sort().join(" ");
}

/** The client's redirect URI, or "the client" if it is the usual one. */
function target(url) {
  const place = url.protocol === "https:" ? `${url.origin}${url.pathname}` : `${url.protocol}//${url.host}${url.pathname}`;
  return place === CALLBACK ? "the client" : place;
}
