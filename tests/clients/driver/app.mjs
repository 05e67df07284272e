// An application as a separate process: started with its client's credentials, reached at its own URL, and
// stopped.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The folder of the applications. */
export const here = fileURLToPath(new URL("..", import.meta.url));
const PATIENCE = 30_000;

/** A port that is free now at every address. The kernel gives ports of this range to no outgoing connection before a program listens. */
export async function freePort() {
  for (;;) {
    const port = 30_000 + Math.floor(Math.random() * 2_700);
    const server = createServer();
    const free = await new Promise((tell) => server.once("error", () => tell(false)).listen(port, "0.0.0.0", () => tell(true)));
    if (!free) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

/** Does something listen at this port? */
export const listens = (port) =>
  new Promise((tell) => {
    const socket = connect(port, "127.0.0.1", () => tell(true) || socket.destroy());
    socket.on("error", () => tell(false));
  });

/** How a file is run: by its extension. A Rust file runs as the program that was built from it. */
export function command(file) {
  if (file.endsWith(".mjs")) return ["node", [`${here}${file}`]];
  if (file.endsWith(".py")) return [`${here}.venv/bin/python`, [`${here}${file}`]];
  if (file.endsWith(".sh")) return ["bash", [`${here}${file}`]];
  return [`${here}../../target/clients/debug/${file.replace(/^.*\/|\.rs$/g, "")}`, []];
}

export class App {
  #printed = "";
  #read = 0;

  constructor(file, environment) {
    const [program, args] = command(file);
    const { PATH, HOME, TMPDIR } = process.env;
    const given = Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR, ...environment }).filter(([, value]) => value !== undefined));
    this.child = spawn(program, args, { cwd: here, env: given, stdio: ["pipe", "pipe", "pipe"] });
    this.ended = once(this.child, "close").catch(() => undefined);
    this.child.on("error", (error) => (this.#printed += error));
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (part) => (this.#printed += part));
  }

  get printed() {
    return this.#printed;
  }

  async #until(isSo) {
    for (const started = Date.now(); Date.now() - started < PATIENCE; await new Promise((done) => setTimeout(done, 50))) {
      const found = await isSo();
      if (found) return found;
      if (this.child.exitCode !== null) break;
    }
    const last = await isSo();
    if (!last) await this.stop();
    assert.ok(last, `it printed nothing more, exited with ${this.child.exitCode}: ${this.#printed.slice(-1500)}`);
    return last;
  }

  /** Waits until a web application responds at its port. */
  listening(port) {
    return this.#until(() => listens(port));
  }

  /** Waits until a program prints a line like this, after those that were read. */
  line(pattern) {
    return this.#until(() => {
      const found = pattern.exec(this.#printed.slice(this.#read));
      if (!found || !this.#printed.slice(this.#read + found.index).includes("\n")) return undefined;
      this.#read += found.index + found[0].length;
      return found[0];
    });
  }

  /** Sends a line to a program. */
  tell(line) {
    this.child.stdin.write(`${line}\n`);
  }

  /** A shell stops what it started when its input ends; the others are stopped here. */
  async stop() {
    if (this.child.exitCode === null) {
      if (this.child.spawnfile === "bash") this.child.kill("SIGTERM");
      else this.child.kill("SIGKILL");
    }
    await this.ended;
  }
}
