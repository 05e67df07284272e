// The ways to use an application: a web application through a browser without a screen, a program through its
// output and input. Each has `login` (undefined if the application did not sign the user in), `held` and
// `act`.

import assert from "node:assert/strict";
import { App, freePort } from "./app.mjs";
import { Browser, sentence } from "./browser.mjs";
import { environment } from "../registrations.mjs";
import { metadata } from "./registering.mjs";

/** Registers a client as in RFC 7591. */
export async function register(issuer, metadata) {
  const answer = await fetch(`${issuer}/oauth/clients`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata),
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, `registration returned ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** The URL of an authorization request that shows whether the server remembers a browser. */
export function question(issuer, client) {
  const url = new URL(`${issuer}/oauth/authorize`);
  const [redirect_uri, state] = [client.redirect_uris[0], "who-is-it"];
  const pkce = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };
  url.search = new URLSearchParams({ client_id: client.client_id, response_type: "code", scope: client.scope, redirect_uri, state, ...pkce });
  return url.href;
}

/** Whether a sign-in page offers to continue as a remembered user. */
export const knows = (page) => page.includes('id="another"');

/** A web application: `/login`, `/`, and a path for each step unless the row has other paths. */
export class Web {
  static async start(row, issuer, alias = issuer) {
    const web = new this();
    const port = await freePort();
    Object.assign(web, { row, issuer, alias, url: `http://127.0.0.1:${port}` });
    web.client = row.client ?? (await register(issuer, metadata(row, web.url)));
    const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = web.client;
    const given = row.configuration
      ? environment(row.configuration, { ISSUER: alias, CLIENT_ID, CLIENT_SECRET, APP: web.url, PASSPHRASE: "only the tests know this" })
      : { ISSUER: alias, CLIENT_ID, CLIENT_SECRET, APP_URL: web.url };
    web.app = new App(row.file, { ...given, ...row.environment });
    await web.app.listening(port);
    return web;
  }

  /** A new user arrives, and signs in unless told not to. */
  async login({ landing } = {}) {
    this.browser = new Browser(this.issuer, this.alias);
    this.address = this.browser.wallet.address;
    this.last = await (this.row.login ?? ((browser, url, options) => browser.visit(`${url}/login`, options)))(this.browser, this.url, { landing });
    return this.held();
  }

  /** What the application stores about the user. */
  async held() {
    const answer = await this.browser.request(`${this.url}/`);
    return answer.status === 200 && answer.text.startsWith("{") && answer.text !== "{}" ? JSON.parse(answer.text) : undefined;
  }

  async act(step) {
    const leave = this.row[step] ?? ((browser, url) => browser.visit(`${url}/${step}`));
    const answer = await leave(this.browser, this.url);
    if (answer.status === undefined) return answer; // A row that reads the response itself.
    this.last = answer;
    if (step !== "logout") assert.ok(answer.status < 400, `/${step} answered ${answer.status}: ${sentence(answer.text)} ${this.why()}`);
    return answer.text.startsWith("{") ? JSON.parse(answer.text) : answer;
  }

  /** Whether the server would let the browser continue without a signature. */
  async known() {
    const asked = await this.browser.request(question(this.issuer, this.client));
    return knows((await this.browser.request(asked.location)).text);
  }

  /** Details that may explain a failure. */
  why() {
    return `${this.last ? `${this.last.status} ${sentence(this.last.text)}` : ""} ${this.app.printed.slice(-1200)}`;
  }

  stop() {
    return this.app.stop();
  }
}

/**
 * A program: prints the URL to open, reads the URL that the browser was redirected to, and then one step per
 * line.
 */
export class Program {
  known = Web.prototype.known;

  static async start(row, issuer, alias = issuer) {
    const program = new this();
    // Nothing listens there: the user copies the URL from the browser.
    const [port, besidePort] = [await freePort(), await freePort()];
    Object.assign(program, { row, issuer, alias, url: `http://127.0.0.1:${port}` });
    program.environment = { ISSUER: alias, APP_URL: program.url, RESOURCE_URL: `http://127.0.0.1:${besidePort}`, ...row.environment };
    if (row.method) {
      program.client = row.client ?? (await register(issuer, metadata(row, program.url)));
      Object.assign(program.environment, { CLIENT_ID: program.client.client_id, CLIENT_SECRET: program.client.client_secret });
    }
    if (row.beside) {
      program.beside = new App(row.beside, program.environment);
      await program.beside.listening(besidePort);
    }
    return program;
  }

  async login({ landing = (back) => back } = {}) {
    await this.app?.stop();
    this.app = new App(this.row.file, this.environment);
    this.browser = new Browser(this.issuer, this.alias);
    this.address = this.browser.wallet.address;
    const target = await this.app.line(/^https?:\/\/\S+$/m);
    const back = landing(await this.browser.signIn(target.replace(`${this.alias}/`, `${this.issuer}/`)));
    if (this.row.listens) this.last = await this.browser.request(back);
    else this.app.tell(back);
    this.kept = await this.app.line(/^\{.*\}$/m).then(JSON.parse, () => undefined);
    return this.kept;
  }

  async held() {
    return this.kept;
  }

  async act(step) {
    this.app.tell(step);
    const said = JSON.parse(await this.app.line(/^\{.*\}$/m));
    if (step === "refresh") this.kept = { ...this.kept, ...said };
    if (step === "logout") {
      this.last = await this.browser.visit(said.open, { stop: this.url });
      this.kept = undefined;
    }
    return said;
  }

  why() {
    return `${this.app?.printed.slice(-1200) ?? ""} ${this.beside?.printed.slice(-600) ?? ""}`;
  }

  async stop() {
    await this.app?.stop();
    await this.beside?.stop();
  }
}
