// The code for people's own apps. One snippet is shown at a time, filled in for the current client.

import { copy, make } from "./playground-view.js";
import { say } from "./texts.js";

const CONDITION = /\s*(?:(?:\/\/|#) )?\[(confidential|public|http|https)\]$/;

/** The code with its placeholders filled in, and only the lines for this client and this server. */
export function filled(source, { issuer, client, redirectUri, scope }) {
  const holds = new Set([client?.client_secret || !client ? "confidential" : "public", new URL(issuer).protocol.slice(0, -1)]);
  const values = {
    ISSUER: issuer,
    CLIENT_ID: client?.client_id ?? "CLIENT_ID",
    CLIENT_SECRET: client?.client_secret ?? "CLIENT_SECRET",
    REDIRECT_URI: redirectUri,
    SCOPE: scope,
  };
  return source
    .split("\n")
    .filter((line) => holds.has(CONDITION.exec(line)?.[1] ?? [...holds][0]))
    .map((line) => line.replace(CONDITION, "").replace(/%([A-Z_]+)%/g, (place, name) => values[name] ?? place))
    .join("\n");
}

/** Makes tabs from the sections. The returned function fills in the code again for another client. */
export function snippets(root) {
  const list = root.querySelector('[role="tablist"]');
  const entries = [...root.querySelectorAll(".snippet")].map((panel) => {
    const code = panel.querySelector("pre code");
    const heading = panel.querySelector("h3");
    const tab = make("button", { type: "button", role: "tab", id: `${panel.id}-tab`, "aria-controls": panel.id }, heading.textContent);
    const copying = make("button", { type: "button", class: "link" }, say("copy"));
    copying.addEventListener("click", () => copy(copying, code.textContent));
    code.parentElement.before(make("p", { class: "text-head" }, make("code", {}, code.parentElement.getAttribute("aria-label")), copying));
    heading.hidden = true;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    list.append(tab);
    return { tab, panel, code, source: code.textContent };
  });
  const choose = (chosen) => {
    for (const { tab, panel } of entries) {
      panel.hidden = panel !== chosen.panel;
      tab.setAttribute("aria-selected", String(panel === chosen.panel));
      tab.tabIndex = panel === chosen.panel ? 0 : -1;
    }
  };
  for (const [index, entry] of entries.entries()) {
    entry.tab.addEventListener("click", () => choose(entry));
    entry.tab.addEventListener("keydown", ({ key }) => {
      const towards = getComputedStyle(list).direction === "rtl" ? -1 : 1;
      const by = { ArrowRight: towards, ArrowLeft: -towards }[key];
      const next = key === "Home" ? entries[0] : key === "End" ? entries.at(-1) : by && entries.at((index + by) % entries.length);
      if (!next) return;
      choose(next);
      next.tab.focus();
    });
  }
  choose(entries[0]);
  list.hidden = false;
  return (facts) => {
    for (const { code, source } of entries) code.textContent = filled(source, facts);
  };
}
