// Whole applications: `apps/run.py` starts and judges each of them, and prints a row of the table at the end,
// which is read here.

import { spawn } from "node:child_process";
import { here } from "./app.mjs";
import { STEPS } from "./judge.mjs";

/** Their folders. */
export const APPLICATIONS = ["apache", "jupyterhub", "streamlit", "synapse"];

const WORDS = { ok: "yes", failed: "fails", none: "none" };

/** Runs one application; returns a row and its results, as for a library. */
export async function application(name, issuer) {
  const child = spawn(`${here}apps/.venv/bin/python`, ["run.py", name, issuer], { cwd: `${here}apps`, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += part));
  await new Promise((over) => child.on("close", over).on("error", (error) => over((said += error))));
  const lines = said.trim().split("\n");
  const told = lines.findLast((line) => line.startsWith('{"name"'));
  if (told === undefined) throw new Error(`${name} prints no row: ${said.slice(-1500)}`);
  const { name: library, version, auth, pkce, alg, note, snippet, steps, result } = JSON.parse(told);
  const results = Object.fromEntries(STEPS.map((step) => [step, WORDS[steps[step]]]));
  const failures = lines.filter((line) => /^(FAILED| {8})/.test(line)).join("\n        ");
  const row = { library, version, from: "application", method: auth, pkce: pkce === "S256", algorithm: alg, note, snippet };
  return [row, { results, refuses: undefined, reasons: {}, failures: result === "ok" ? undefined : failures }];
}
