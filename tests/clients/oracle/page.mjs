// The page that tells the differences to people.

const HEAD = `# Compared with oidc-provider

The npm package \`oidc-provider\` is a certified OpenID provider. The tests send the same requests to it and to Countersign, with clients registered alike, and compare
status, error code, where an answer leads, the scheme of \`WWW-Authenticate\`, the rule for caches, and the names in answers. This page is written by that test
(\`tests/clients/oracle\`): a difference that is not here, or one that is no more, fails it.
`;

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** The page for what was found. */
export function page({ requests, alike }, groups) {
  const sections = groups.map(({ reason, requests: rows }) => {
    const lines = Object.entries(rows).map(([title, [ours, theirs]]) => `| ${cell(title)} | ${cell(ours)} | ${cell(theirs)} |`);
    return `## ${reason}\n\n| request | Countersign | oidc-provider |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${HEAD}\nOf ${requests} requests ${alike} are answered alike. The other ${requests - alike}, with the reason for each:\n\n${sections.join("\n")}`;
}
