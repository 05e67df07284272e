// The official conformance suite's scenarios for authorization servers, for every version of the specification.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { freePort } from "../driver/app.mjs";
import { HERE } from "./stage.mjs";

const VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** Those that the suite lists for authorization servers. */
const SCENARIOS = ["authorization-server-metadata-endpoint", "authorization-code-grant"];

export async function conformance(stage) {
  const lines = [];
  let wrong = 0;
  try {
    const port = await freePort();
    const callback = `http://127.0.0.1:${port}/callback`;
    const client = JSON.parse(stage.operate("client", "create", "--name", "conformance", "--public", "--redirect-uri", callback, "--resource", stage.resource, "--output", "json"));
    for (const version of VERSIONS) {
      // The second scenario needs what the first one found, so both run at once.
      const child = spawn("node", [`${HERE}node_modules/.bin/conformance`, "authorization", "--url", stage.issuer, "--client-id", client.client_id, "--resource", stage.resource, "--port", String(port), "--spec-version", version], { env: { ...stage.environment, NO_COLOR: "1" }, cwd: stage.home });
      let said = "";
      for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", (line) => ((said += `${line}\n`), (stage.said += `${line}\n`)));
      const [code] = await once(child, "close");
      const passed = Number(/Total: (\d+) passed, 0 failed/.exec(said)?.[1] ?? 0);
      const all = SCENARIOS.every((name) => new RegExp(`${name}: [1-9]\\d* passed, 0 failed`).test(said));
      const good = code === 0 && all && passed > 0;
      if (!good) wrong += 1;
      lines.push(`${good ? "ok     " : "FAILED "} conformance ${version}: ${passed} checks in ${SCENARIOS.length} scenarios${good ? "" : `\n${said}`}`);
    }
  } finally {
    await stage.close();
  }
  return { lines, wrong };
}
