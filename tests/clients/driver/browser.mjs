// A user's browser without a screen: cookies for each origin, redirects, and a wallet that signs when the
// server asks for it.

import assert from "node:assert/strict";
import { Wallet } from "ethers";

/** No request here may take longer. */
const PATIENCE = 30_000;
const HOPS = 12;

export class Browser {
  #cookies = new Map();

  /** Every browser is a new user. The redirect back looks as if `alias` had sent it. */
  constructor(issuer, alias = issuer) {
    this.issuer = issuer;
    this.alias = alias;
    this.wallet = Wallet.createRandom();
  }

  /** Sends one request with the cookies of its origin, and follows no redirect. `form` makes it a POST. */
  async request(url, { form, json, headers = {} } = {}) {
    const { origin } = new URL(url);
    const jar = this.#cookies.get(origin) ?? new Map();
    this.#cookies.set(origin, jar);
    const response = await fetch(url, {
      method: form || json ? "POST" : "GET",
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
      headers: {
        accept: "text/html,application/json;q=0.9",
        ...(jar.size ? { cookie: [...jar].map((pair) => pair.join("=")).join("; ") } : {}),
        ...(json ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      body: form ? new URLSearchParams(form) : json ? JSON.stringify(json) : undefined,
    });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    const text = await response.text();
    const location = response.headers.get("location");
    return { url: String(url), status: response.status, text, location: location && new URL(location, url).href };
  }

  /**
   * Opens a URL and follows redirects; on the sign-in page it signs. `landing` can change the URL of the
   * redirect back. A URL that begins with `stop` is not opened, because nothing listens there.
   */
  async visit(url, { landing = (back) => back, stop, ...first } = {}) {
    let answer = await this.request(url, first);
    for (let hop = 0; answer.location && answer.status >= 300 && answer.status < 400; hop += 1) {
      assert.ok(hop < HOPS, `too many redirects: ${answer.location}`);
      const target = new URL(answer.location);
      if (target.origin === stop) return answer;
      if (target.origin !== this.issuer || target.pathname !== "/oauth/authorize") answer = await this.request(target);
      else answer = await this.request(landing(await this.signIn(target)));
    }
    return answer;
  }

  /** Opens an authorization request, signs the server's text, and returns where the server redirects to. */
  async signIn(target) {
    const arrived = await this.request(target);
    assert.equal(arrived.status, 302, `${target} answered ${arrived.status}: ${sentence(arrived.text)}`);
    const page = new URL(arrived.location);
    if (page.pathname !== "/auth") return arrived.location; // An error for the client.
    const of = fieldsOf((await this.request(page)).text);
    const address = this.wallet.address;
    const given = await this.post("/oauth/challenge", { wallet_address: address, ...of });
    const signature = await this.wallet.signMessage(given.challenge);
    const signed = { wallet_address: address, challenge: given.challenge, signature, remember: true, ...of };
    const done = await this.post("/oauth/login", signed);
    return done.redirect_to.replace(encodeURIComponent(this.issuer), encodeURIComponent(this.alias));
  }

  /** Sends what the sign-in page's script sends. */
  async post(path, json) {
    const answer = await this.request(new URL(path, this.issuer), { json, headers: { accept: "application/json" } });
    assert.equal(answer.status, 200, `${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text);
  }
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", "#x2F": "/" };

/** Which request a sign-in page is about: the first hidden fields with these names. */
export function fieldsOf(page) {
  const hidden = (name) => new RegExp(`<input type="hidden" name="${name}" value="([^"]*)">`).exec(page)?.[1];
  const text = (value) => value.replace(/&([^;]+);/g, (all, name) => ENTITIES[name] ?? all);
  const found = ["client_id", "redirect_uri", "state"].map((name) => [name, hidden(name)]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined).map(([name, value]) => [name, text(value)]));
}

function keep(jar, line) {
  const [pair, ...attributes] = line.split(";").map((part) => part.trim());
  const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
  const ends = attributes.some((each) => /^max-age=0$/i.test(each) || (/^expires=/i.test(each) && Date.parse(each.slice(8)) < Date.now()));
  if (value === "" || ends) jar.delete(name);
  else jar.set(name, value);
}

/** The text of a page, for messages. */
export const sentence = (text) => text.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/g, " ").replace(/\s+/g, " ").trim().slice(0, 300);
