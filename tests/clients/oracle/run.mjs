// Sends the same requests to two authorization servers: Countersign, and npm oidc-provider as the oracle.
// node run.mjs http://localhost:8080
//
// Every difference is in differences.json with its reason. The run fails if one is missing there or no longer
// exists. UPDATE_DOCS=1 rewrites the list and docs/reports/compared-with-oidc-provider.md. New differences get an
// empty reason, which fails until someone writes one.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { page } from "./page.mjs";
import { startPeer } from "./peer.mjs";
import { requests as authorize } from "./requests/authorize.mjs";
import { requests as others } from "./requests/others.mjs";
import { requests as registration } from "./requests/registration.mjs";
import { requests as token } from "./requests/token.mjs";
import { Site } from "./site.mjs";

const [base] = process.argv.slice(2);
if (!/^https?:\/\//.test(base ?? "")) {
  console.error("usage: node run.mjs http://localhost:8080");
  process.exit(2);
}

const UPDATE = process.env.UPDATE_DOCS === "1";
const LIST = new URL("differences.json", import.meta.url);
const PAGE = new URL("../../../docs/reports/compared-with-oidc-provider.md", import.meta.url);
const TABLES = { authorization: authorize, token, others, registration };

/** What a server does with a request. If the request cannot be sent, that is a result too. */
async function observe(run, site) {
  try {
    return await run(site);
  } catch (error) {
    return `cannot be sent: ${String(error.message).split("\n")[0].replaceAll(site.issuer, "").slice(0, 160)}`;
  }
}

const peer = await startPeer();
let failed = 0;
try {
  const [ours, theirs] = [await new Site(base).prepare(), await new Site(peer.issuer).prepare()];
  const known = new Map(JSON.parse(readFileSync(LIST, "utf8")).flatMap(({ reason, requests }) => Object.entries(requests).map(([name, pair]) => [name, { reason, pair }])));
  const counts = { requests: 0, alike: 0 };
  const found = [];

  for (const [table, requests] of Object.entries(TABLES)) {
    for (const [name, run] of requests) {
      const title = `${table}: ${name}`;
      const pair = [await observe(run, ours), await observe(run, theirs)];
      counts.requests += 1;
      const { reason = "", pair: listed } = known.get(title) ?? {};
      known.delete(title);
      const differ = pair[0] !== pair[1];
      if (differ) found.push({ title, pair, reason });
      else counts.alike += 1;
      const asListed = differ ? listed?.[0] === pair[0] && listed[1] === pair[1] && reason : !listed;
      if (asListed) continue;
      failed += 1;
      console.log(`FAILED  ${title}\n        Countersign:   ${pair[0]}\n        oidc-provider: ${pair[1]}\n        listed:        ${listed?.join(" | ") ?? "the same"}`);
    }
  }
  for (const title of known.keys()) {
    failed += 1;
    console.log(`FAILED  ${title}\n        is in the list, but no request has this name`);
  }

  const groups = Object.entries(grouped(found)).sort(([a], [b]) => a.localeCompare(b));
  const list = groups.map(([reason, rows]) => ({ reason, requests: Object.fromEntries(rows.map(({ title, pair }) => [title, pair])) }));
  const text = page(counts, list);
  if (UPDATE) {
    writeFileSync(LIST, `${JSON.stringify(list, null, 2)}\n`);
    writeFileSync(PAGE, text);
  } else if (!existsSync(PAGE) || readFileSync(PAGE, "utf8") !== text) {
    failed += 1;
    console.log("FAILED  docs/reports/compared-with-oidc-provider.md differs from what this run found; UPDATE_DOCS=1 writes it");
  }
  console.log(`${counts.requests} requests, ${counts.alike} with the same response, ${found.length} different, ${failed} not as listed`);
} finally {
  await peer.close();
}
process.exitCode = failed === 0 ? 0 : 1;

function grouped(rows) {
  const groups = {};
  for (const row of rows) (groups[row.reason] ??= []).push(row);
  return groups;
}
