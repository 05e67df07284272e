// docs/clients.md: the table of what happened, and the code that it happened with.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { here } from "./app.mjs";
import { nameOf } from "../registrations.mjs";
import { FALSE, STEPS } from "./judge.mjs";

const METHODS = { none: "none (public client)" };
const WORDS = { yes: "yes", none: "–", fails: "**fails**" };
const FENCES = { mjs: "js", py: "python", rs: "rust", sh: "sh" };

const INSTALLED = {
  npm: (name) => JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, "utf8")).version,
  pip: (name) => execFileSync(`${here}.venv/bin/python`, ["-c", `from importlib.metadata import version; print(version("${name}"))`]).toString().trim(),
  crate: (name) => new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(readFileSync(`${here}Cargo.lock`, "utf8"))[1],
  deb: (name) => execFileSync("dpkg-query", ["-W", "-f", "${Version}", name]).toString(),
};

/** What version of its library a row runs. */
export const version = (row) => row.version ?? INSTALLED[row.from](row.package ?? row.library);

const title = (row) => row.title ?? row.library;
const anchor = (heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, "").toLowerCase().replaceAll(" ", "-");

const refusals = (refuses = []) => (refuses.length === FALSE.length ? "all" : FALSE.filter((each) => refuses.includes(each)).join(", ") || "–");

function line(row, { results, refuses }) {
  const cells = [
    `[${title(row)}](#${anchor(title(row))})`,
    version(row),
    row.from,
    METHODS[row.method ?? row.registers] ?? `\`${row.method ?? row.registers}\``,
    row.pkce ? "S256" : "–",
    row.algorithm ?? "–",
    ...STEPS.map((step) => WORDS[results[step]]),
    refusals(refuses),
  ];
  return `| ${cells.join(" | ")} |`;
}

function fenced(file) {
  const text = readFileSync(`${here}${file}`, "utf8").trim();
  return `[\`${file}\`](../tests/clients/${file})\n\n\`\`\`${FENCES[file.split(".").at(-1)]}\n${text}\n\`\`\``;
}

function section(row, { results }) {
  const known = Object.entries(row.known ?? {}).filter(([step]) => results[step] === "fails");
  const name = nameOf(title(row));
  const command = name && `Registered and configured by \`countersign client create --for ${name} --url https://app.example\`.`;
  const notes = [command, row.note, ...known.map(([step, reason]) => `Fails at ${step}: ${reason}`)].filter(Boolean);
  const code = row.snippet ? [`\`\`\`\n${row.snippet.trim()}\n\`\`\``] : [row.file, row.beside].filter(Boolean).map(fenced);
  return [`### ${title(row)}`, ...notes, ...code].join("\n\n");
}

const HEAD = ["library", "version", "from", "client authentication", "PKCE", "algorithm", ...STEPS, "refuses"];

/** The whole page. */
export function page(judged) {
  return `# Client libraries

Each of these was installed as it is published and logged in to a running Countersign, in the small application that stands below. All that
it was told is the issuer's address and the client that it was registered as. \`make test-clients\` does it again; it writes this page
(\`UPDATE_DOCS=1\`) or fails when the page is no longer true.

Where an application has addresses and settings of its own, \`countersign client create --for\` registers it as it was here and prints these settings, filled in.

Whatever you use, know people by \`sub\` and never by the wallet's address alone: they have several wallets and move them, so that one address may be another person next year.

- A step counts when the server says so too: the tokens are the person's who signed, a refreshed token is another one and works, a revoked
  one does not, and after the logout the server asks for a signature again.
- **yes**: works. **–**: the library, or its application below, does not do that. **fails**: see the note.
- **refuses**: what the application does not believe. \`state\`: an answer with another state. The rest comes from a liar between the two that
  signs id_tokens with its own published keys: another \`nonce\`, \`audience\`, \`issuer\`, a past \`expiry\`, a \`signature\` by a key that nobody
  published. Told the truth by the same liar, each application signs the person in.

| ${HEAD.join(" | ")} |
|${HEAD.map(() => "---").join("|")}|
${judged.map(([row, verdict]) => line(row, verdict)).join("\n")}

## The applications

${judged.map(([row, verdict]) => section(row, verdict)).join("\n\n")}
`;
}

/** Two pages are the same if they differ only in versions that the distribution chooses. */
export function sameBut(rows, one, other) {
  const own = rows.filter((row) => row.from === "deb" || row.from === "application").map((row) => `| [${title(row)}]`);
  const masked = (text) => text.split("\n").map((each) => (own.some((start) => each.startsWith(start)) ? each.split(" | ").toSpliced(1, 1).join(" | ") : each));
  return masked(one).join("\n") === masked(other).join("\n");
}
