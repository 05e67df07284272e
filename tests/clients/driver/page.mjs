// The generated pages: docs/reports/clients.md, the table of results, and in docs/clients for each stack the code that produced them.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { here } from "./app.mjs";
import { FALSE, STEPS } from "./judge.mjs";
import { registered } from "../registrations.mjs";
import { STACKS } from "../stacks.mjs";
import { command } from "./registering.mjs";

const METHODS = { none: "none (public client)" };
const WORDS = { yes: "yes", none: "–", fails: "**fails**" };
const FENCES = { mjs: "js", py: "python", rs: "rust", sh: "sh" };

const INSTALLED = {
  npm: (name) => JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, "utf8")).version,
  pip: (name) => execFileSync(`${here}.venv/bin/python`, ["-c", `from importlib.metadata import version; print(version("${name}"))`]).toString().trim(),
  crate: (name) => new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(readFileSync(`${here}Cargo.lock`, "utf8"))[1],
  deb: (name) => execFileSync("dpkg-query", ["-W", "-f", "${Version}", name]).toString(),
};

/** The version of the library that a row runs. */
export const version = (row) => row.version ?? INSTALLED[row.from](row.package ?? row.library);

const title = (row) => row.title ?? row.library;
const anchor = (heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, "").toLowerCase().replaceAll(" ", "-");

const refusals = (refuses = []) => (refuses.length === FALSE.length ? "all" : FALSE.filter((each) => refuses.includes(each)).join(", ") || "–");

function line(row, { results, refuses }) {
  const cells = [
    `[${title(row)}](../clients/${pageOf(row)}.md#${anchor(title(row))})`,
    version(row),
    row.from,
    METHODS[row.method ?? row.registers] ?? `\`${row.method ?? row.registers}\``,
    row.pkce ? "S256" : "–",
    row.algorithm ?? "–",
    ...STEPS.map((step) => WORDS[results[step]]),
    refusals(refuses),
    MAPS_GROUPS.includes(title(row)) ? "[yes](../access.md#roles-in-applications)" : "–",
  ];
  return `| ${cells.join(" | ")} |`;
}

function fenced(file) {
  const text = readFileSync(`${here}${file}`, "utf8").trim();
  return `[\`${file}\`](../../tests/clients/${file})\n\n\`\`\`${FENCES[file.split(".").at(-1)]}\n${text}\n\`\`\``;
}

function section(row, { results }) {
  const known = Object.entries(row.known ?? {}).filter(([step]) => results[step] === "fails");
  const commands = [row.prepare, command(row)].filter(Boolean).join("\n");
  const registering = commands && `\`\`\`sh\n${commands}\n\`\`\``;
  const notes = [row.note, ...known.map(([step, reason]) => `Fails at ${step}: ${reason}`), registering].filter(Boolean);
  const code = row.snippet ? [`\`\`\`\n${row.snippet.trim()}\n\`\`\``] : [row.file, row.beside].filter(Boolean).map(fenced);
  return [`### ${title(row)}`, ...notes, ...code].join("\n\n");
}

/** An application that does not run in the tests, with the settings that `--for` prints. */
const settings = ({ name, note }) => section({ ...registered(name), note, snippet: readFileSync(`${here}${registered(name).configuration}`, "utf8"), steps: [] }, { results: {} });

/** The applications that `tests/clients.rs` signs people in to by their groups. */
const MAPS_GROUPS = ["mod_auth_openidc (Apache)", "JupyterHub, GenericOAuthenticator", "Synapse (Matrix)"];
const HEAD = ["library", "version", "from", "client authentication", "PKCE", "algorithm", ...STEPS, "refuses", "roles by groups"];

/** The table of all results. */
function results(judged) {
  return `# What each client library does

Each of these libraries was installed in its published version and logged in to a running Countersign, in the small application that its page shows.
The application was given only the issuer's URL and the client that was registered for it. \`make test-clients\` runs all of this again. It writes
this page and [those of the stacks](../clients.md) (\`UPDATE_DOCS=1\`), or fails if one is out of date.

- A step counts only if the server agrees: the tokens belong to the user who signed, a refreshed token is a new one and works, a revoked token does
  not work, and after the logout the server asks for a signature again.
- **yes**: works. **–**: the library, or its application, does not do that. **fails**: see the note.
- **refuses**: what the application rejects. \`state\`: a response with another state. The rest comes from a dishonest server in between, which signs
  ID tokens with its own published keys: another \`nonce\`, \`audience\` or \`issuer\`, a past \`expiry\`, a \`signature\` by a key that was not published.
  If the same server returns correct ID tokens, each application signs the user in.
- **roles by groups**: the application maps the claim \`groups\` to roles of its own, as [who can sign in](../access.md#roles-in-applications) shows.
  Grafana and Gitea do so with replayed requests.

| ${HEAD.join(" | ")} |
|${HEAD.map(() => "---").join("|")}|
${judged.map(([row, verdict]) => line(row, verdict)).join("\n")}
`;
}

/** The page of a stack: what its rows run, and what else is known about it. */
function stack({ title, intro, settings: others = [] }, judged) {
  const sections = [...judged.map(([row, verdict]) => section(row, verdict)), ...others.map(settings)];
  return [`# ${title}`, intro, "Run by `make test`; [the results](../reports/clients.md). [Before you start](../clients.md#before-you-start).", ...sections].join("\n\n").concat("\n");
}

/** Every page, by its path in docs. */
export function pages(judged) {
  const of = (name) => judged.filter(([row]) => pageOf(row) === name);
  for (const [row] of judged) if (!STACKS[pageOf(row)]) throw new Error(`${title(row)} is on no page`);
  return { "reports/clients": results(judged), ...Object.fromEntries(Object.entries(STACKS).map(([name, its]) => [`clients/${name}`, stack(its, of(name))])) };
}

const pageOf = (row) => row.page ?? (row.from === "application" ? "applications" : undefined);

/** Two pages are the same if they only differ in versions that the distribution chooses. */
export function sameBut(rows, one, other) {
  const own = rows.filter((row) => row.from === "deb" || row.from === "application").map((row) => `| [${title(row)}]`);
  const masked = (text) => text.split("\n").map((each) => (own.some((start) => each.startsWith(start)) ? each.split(" | ").toSpliced(1, 1).join(" | ") : each));
  return masked(one).join("\n") === masked(other).join("\n");
}
