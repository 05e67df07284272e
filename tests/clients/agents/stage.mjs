// Where an MCP client performs: a Countersign of its own, an MCP server that is declared there, and a person who
// signs whatever the client opens in a browser.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort, listens } from "../driver/app.mjs";
import { Browser, sentence } from "../driver/browser.mjs";

export const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Access tokens are this short, so that a client has to refresh them while it is watched. */
export const SECONDS = 12;
const PATIENCE = 30_000;

export const until = async (isSo, what, patience = PATIENCE) => {
  for (const started = Date.now(); ; await sleep(100)) {
    const found = await isSo();
    if (found) return found;
    assert.ok(Date.now() - started < patience, typeof what === "function" ? what() : what);
  }
};

export class Stage {
  #processes = [];
  #seen = new Set();
  /** What the client asked for, each time that it sent a person to sign in. */
  asked = [];
  troubles = [];
  /** What the client printed, and what the servers did. */
  said = "";
  log = "";

  static async open(binary, server) {
    const stage = new this();
    stage.binary = binary;
    stage.home = mkdtempSync(join(tmpdir(), "countersign-agent-"));
    const [port, resourcePort] = [await freePort(), await freePort()];
    stage.issuer = `http://localhost:${port}`;
    stage.resource = `http://127.0.0.1:${resourcePort}/mcp`;
    stage.person = new Browser(stage.issuer);
    stage.settings = {
      COUNTERSIGN_BIND: `127.0.0.1:${port}`, COUNTERSIGN_PUBLIC_URL: stage.issuer, COUNTERSIGN_RATE_LIMIT: "off",
      COUNTERSIGN_CLIENT_DOCUMENTS: "on", COUNTERSIGN_ACCESS_TOKEN_TTL: String(SECONDS), 
    };
    stage.#browser();
    mkdirSync(stage.file("server"));
    stage.#start(binary, ["serve"], { cwd: stage.file("server"), env: { ...process.env, ...stage.settings } });
    await until(() => fetch(`${stage.issuer}/health/ready`).then(({ ok }) => ok, () => false), () => `the server does not start: ${stage.log}`);
    stage.operate("resource", "create", stage.resource, "--scope", "notes.write=Write your notes");
    const given = { ISSUER: stage.issuer, RESOURCE_URL: new URL(stage.resource).origin };
    const [program, file] = server;
    stage.#start(program, [join(HERE, file)], { cwd: HERE, env: { ...process.env, ...given } });
    await until(() => listens(resourcePort), () => `the MCP server does not start: ${stage.log}`);
    stage.environment = {
      PATH: `${stage.home}/bin:${dirname(process.execPath)}:${process.env.PATH}`, HOME: stage.home, DISPLAY: ":0", BROWSER: `${stage.home}/bin/xdg-open`,
      XDG_CONFIG_HOME: stage.file(".config"), XDG_DATA_HOME: stage.file(".local/share"), XDG_STATE_HOME: stage.file(".local/state"), XDG_CACHE_HOME: stage.file(".cache"),
    };
    stage.#watch();
    return stage;
  }

  file = (name) => join(this.home, name);

  write(name, text) {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** A browser that only writes down what it is asked to open. */
  #browser() {
    for (const name of ["xdg-open", "gnome-open", "firefox", "google-chrome"]) {
      this.write(`bin/${name}`, `#!/bin/sh\nprintf '%s\\n' "$@" >> ${this.file("opened")}\n`);
      chmodSync(this.file(`bin/${name}`), 0o755);
    }
  }

  operate(...words) {
    return execFileSync(this.binary, words, { cwd: this.file("server"), env: { ...process.env, ...this.settings }, encoding: "utf8" });
  }

  #start(program, args, options, keep = (part) => (this.log += part)) {
    const child = spawn(program, args, { ...options, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    child.on("error", (error) => keep(String(error)));
    child.stdin.on("error", () => undefined);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", keep);
    this.#processes.push(child);
    return child;
  }

  /** Starts a program of the client, in its home. */
  spawn(program, args, more = {}) {
    return this.#start(program, args, { cwd: this.home, env: { ...this.environment, ...more } }, (part) => (this.said += part));
  }

  /** Runs a program of the client; returns what it printed. */
  async run(program, args, more) {
    const child = this.spawn(program, args, more);
    let output = "";
    child.stdout.on("data", (part) => (output += part));
    child.stdin.end();
    const code = await Promise.race([new Promise((done) => child.on("close", done)), sleep(PATIENCE, "it does not end", { ref: false })]);
    assert.equal(code, 0, `${args.join(" ")}: ${code}: ${this.said.slice(-1500)}`);
    return output;
  }

  /** Signs whatever the client opens or prints, each address once. */
  async #watch() {
    const pattern = new RegExp(`${this.issuer}/oauth/authorize\\?[^\\s"'<>]+`, "g");
    while (!this.closed) {
      const opened = existsSync(this.file("opened")) ? readFileSync(this.file("opened"), "utf8") : "";
      const whole = this.said.slice(0, this.said.lastIndexOf("\n") + 1);
      for (const [url] of `${opened}\n${whole}`.matchAll(pattern)) await this.approve(url).catch((error) => this.troubles.push(error.message));
      await sleep(150);
    }
  }

  /** Signs in at an address of the server, and lands where that leads. */
  async approve(url) {
    const target = new URL(url);
    const request = target.searchParams.get("state") ?? url;
    if (this.#seen.has(request)) return;
    this.#seen.add(request);
    this.asked.push(Object.fromEntries(target.searchParams));
    const back = await this.person.signIn(target);
    const error = new URL(back).searchParams.get("error_description");
    if (error) this.troubles.push(`the server refuses: ${error}`);
    // A client may open the browser a moment before it listens.
    const landed = await until(() => this.person.request(back).catch(() => undefined), `nothing listens at ${back}`);
    assert.ok(landed.status < 400, `${back} answered ${landed.status}: ${sentence(landed.text)}`);
  }

  /** How many tokens the server has issued by this grant. */
  async issued(grant) {
    const metrics = await (await fetch(`${this.issuer}/metrics`)).text();
    return Number(new RegExp(`_token_issued_total\\{grant="${grant}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
  }

  why() {
    return `${this.troubles.join("; ")} ${this.said.slice(-1200)}`;
  }

  async close() {
    this.closed = true;
    for (const { pid } of this.#processes) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    await sleep(500); // What was killed may still be writing.
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** A program that speaks JSON-RPC in lines: an MCP server on standard input, or Codex. */
export class Lines {
  #next = 1;
  #waiting = new Map();
  notices = [];

  constructor(child) {
    this.child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = line.startsWith("{") ? JSON.parse(line) : {};
      if (message.method) this.notices.push(message);
      else this.#waiting.get(message.id)?.(message);
    });
  }

  notify(method, params) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  async call(method, params = {}) {
    const id = this.#next++;
    const answered = new Promise((done) => this.#waiting.set(id, done));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result, error } = await Promise.race([answered, sleep(PATIENCE, { error: { message: `${method} is not answered` } }, { ref: false })]);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }
}
