// Signs in with MCP clients as they are published:   node run.mjs ../../../target/debug/countersign [client]
// Each discovers the server, signs in, calls a tool, refreshes, and gets one more scope when a tool needs it
// (step-up). Without a client's name, the table of docs/mcp.md must match; UPDATE_DOCS=1 writes it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setDefaultResultOrder } from "node:dns";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENTS, FASTMCP, TYPESCRIPT } from "./agents.mjs";
import { conformance } from "./conformance.mjs";
import { HERE, SECONDS, Stage } from "./stage.mjs";

setDefaultResultOrder("ipv4first"); // The server listens only on 127.0.0.1 while its name is localhost.
const [, , program, only] = process.argv;
if (!program) {
  console.error("usage: node run.mjs ../../../target/debug/countersign [client]");
  process.exit(2);
}
const binary = resolve(program);
const PAGE = `${HERE}../../../docs/mcp.md`;
const [BEGIN, END] = ["<!-- agents -->\n", "<!-- /agents -->\n"];
const STEPS = ["signs in", "calls a tool", "refreshes", "steps up"];
let failed = 0;

const version = ({ npm, pip }) =>
  npm
    ? JSON.parse(readFileSync(`${HERE}node_modules/${npm}/package.json`, "utf8")).version
    : execFileSync(`${HERE}.venv/bin/python`, ["-c", `from importlib.metadata import version; print(version("${pip}"))`], { encoding: "utf8" }).trim();

/** What a client does, and what the server says about it: a step counts only if both agree. */
const CHECKS = {
  async "signs in"(stage, client) {
    await client.signIn?.();
    if (!client.signIn) await client.call("whoami");
    assert.equal(await stage.issued("authorization_code"), 1, "no sign-in, or more than one");
    assert.ok(stage.asked[0].code_challenge && stage.asked[0].resource === stage.resource, JSON.stringify(stage.asked[0]));
  },
  async "calls a tool"(stage, client) {
    stage.subject = await client.call("whoami");
    assert.match(stage.subject, /[0-9a-f]{8}-[0-9a-f-]{27}/, stage.subject);
  },
  async refreshes(stage, client) {
    const before = await stage.issued("refresh_token");
    await sleep((SECONDS + 1) * 1000);
    assert.equal(await client.call("whoami"), stage.subject);
    assert.ok((await stage.issued("refresh_token")) > before, "the server issued nothing for a refresh token");
    assert.equal(await stage.issued("authorization_code"), 1, "it signed in again instead");
  },
  async "steps up"(stage, client) {
    const first = await client.call("write_note").catch(({ message }) => message);
    const byItself = first.includes("written for");
    if (!byItself) await client.askFor?.("notes.write");
    const written = byItself ? first : await client.call("write_note");
    stage.steppedUp = stage.asked.length === 1 ? "asks for all at once" : byItself ? "yes" : "when asked";
    assert.match(written, /written for/, written);
    assert.ok(stage.asked.at(-1).scope.split(" ").includes("notes.write"), JSON.stringify(stage.asked.at(-1)));
  },
};

/** Lets a client do some steps at an MCP server. After one that fails, the others cannot be done. */
async function perform(agent, server, steps) {
  const [results, stage] = [{}, await Stage.open(binary, server)];
  try {
    const client = await agent.start(stage);
    for (const step of steps) {
      await CHECKS[step](stage, client);
      results[step] = step === "steps up" ? stage.steppedUp : "yes";
    }
  } catch (error) {
    const step = steps.find((each) => !results[each]);
    failed += 1;
    console.log(`FAILED  ${agent.name} at ${server[1]}: ${step}\n        ${String(error.message).slice(0, 1200)}\n        ${stage.why()}`);
  } finally {
    await stage.close();
  }
  return { results: steps.map((step) => results[step] ?? "**no**"), asked: stage.asked.map(({ scope }) => scope ?? "") };
}

async function judge(agent) {
  const named = await perform(agent, TYPESCRIPT, STEPS.filter((step) => !agent.not?.includes(step)));
  const unnamed = await perform(agent, FASTMCP, STEPS.slice(0, 2));
  console.log(`${agent.name} ${version(agent)}: ${STEPS.map((step, place) => `${step} ${named.results[place] ?? "–"}`).join(", ")}; without named scopes ${unnamed.results}; asked for ${JSON.stringify([named.asked, unnamed.asked])}`);
  const asks = ([first]) => (first ? `\`${first}\`` : "no scope");
  return [agent.name, version(agent), agent.how, asks(unnamed.asked), ...STEPS.map((_, place) => named.results[place] ?? "–"), agent.note ?? ""];
}

const rows = [];
for (const agent of AGENTS.filter(({ name }) => only === undefined || name === only)) rows.push(await judge(agent));
if (only === undefined || only === "conformance") {
  const { lines, wrong } = await conformance(await Stage.open(binary, TYPESCRIPT));
  for (const line of lines) console.log(line);
  failed += wrong;
}
if (only === undefined) {
  const head = ["client", "version", "how it identifies itself", "asks for, where no scopes are named", ...STEPS, "note"];
  const table = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest.split(END);
  const now = `${before}${BEGIN}\n${table}\n${END}${after}`;
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, now);
  else if (now !== page) {
    failed += 1;
    console.log(`FAILED  docs/mcp.md matches the results: UPDATE_DOCS=1 make agents writes it\n${table}`);
  }
}
console.log(`${rows.length} clients, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
