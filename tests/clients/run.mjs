// Logs in with every stock client library, and prints the results:   node run.mjs http://localhost:8080
// [library]
// Without a library's name, it also compares docs/reports/clients.md and the pages in docs/clients with the results; UPDATE_DOCS=1 writes them.

import { readFileSync, writeFileSync } from "node:fs";
import { setDefaultResultOrder } from "node:dns";
import { Chromium, closeChromium } from "./driver/chromium.mjs";
import { APPLICATIONS, application } from "./driver/applications.mjs";
import { FALSE, STEPS, judge } from "./driver/judge.mjs";
import { here } from "./driver/app.mjs";
import { pages, sameBut, version } from "./driver/page.mjs";
import { Program, Web } from "./driver/surfaces.mjs";
import { ROWS } from "./rows.mjs";

setDefaultResultOrder("ipv4first"); // The server may listen only on 127.0.0.1 while its name is localhost.
const [, , address, only] = process.argv;
const issuer = (address ?? "").replace(/\/$/, "");
if (!/^https?:\/\//.test(issuer)) {
  console.error("usage: node run.mjs http://localhost:8080");
  process.exit(2);
}

const SEATS = { web: Web, program: Program, chromium: Chromium };
const DOCUMENTS = `${here}../../docs`;
let failed = 0;

const say = (good, text, why) => {
  failed += good ? 0 : 1;
  console.log(`${good ? "ok     " : "FAILED "} ${text}${good ? "" : `\n        ${why}`}`);
};

/** Compares what a row promises with what happened. A known failure must still be one. */
function compare(row, { results, refuses, reasons }) {
  const wrong = STEPS.filter((step) => (results[step] === "fails") !== Boolean(row.known?.[step])).map((step) =>
    results[step] === "fails" ? `${step}: ${reasons[step]}` : `${step} is expected to fail, but does not`,
  );
  if (reasons.state) wrong.push(`another state: ${reasons.state}`);
  const promised = row.refuses ?? (row.steps.includes("id_token") ? FALSE : ["state"]);
  const openid = !row.known?.id_token || !row.steps.includes("id_token");
  if (reasons.refuses) wrong.push(`the liar: ${reasons.refuses}`);
  else if (openid && FALSE.some((each) => promised.includes(each) !== refuses.includes(each))) wrong.push(`refuses ${refuses}, not ${promised}`);
  say(wrong.length === 0, `${row.title ?? row.library} ${version(row)}: ${STEPS.filter((step) => results[step] === "yes").join(", ")}; refuses ${refuses}`, wrong.join("\n        "));
}

const judged = [];
for (const row of ROWS.filter((each) => only === undefined || (each.title ?? each.library) === only)) {
  const verdict = await judge(row, SEATS[row.seat ?? "web"], issuer);
  compare(row, verdict);
  judged.push([row, verdict]);
}
await closeChromium();

if (only === undefined) {
  for (const name of APPLICATIONS) {
    const ran = await application(name, issuer).catch((error) => say(false, name, error.message));
    if (ran === undefined) continue;
    const [row, verdict] = ran;
    say(verdict.failures === undefined, `${row.library} ${row.version}: ${STEPS.filter((step) => verdict.results[step] === "yes").join(", ")}`, verdict.failures);
    judged.push([row, verdict]);
  }
  for (const [name, now] of Object.entries(pages(judged))) {
    const document = `${DOCUMENTS}/${name}.md`;
    if (process.env.UPDATE_DOCS) writeFileSync(document, now);
    const written = readFileSync(document, { encoding: "utf8", flag: "a+" });
    say(sameBut(judged.map(([row]) => row), written, now), `docs/${name}.md matches the results`, "it is out of date: UPDATE_DOCS=1 make test-clients writes it");
  }
}
console.log(`${judged.length} clients, ${failed} failed`);
process.exit(failed === 0 && judged.length > 0 ? 0 : 1);
