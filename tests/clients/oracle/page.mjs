// Writes the page with the differences.

const HEAD = `# Compared with oidc-provider

The npm package \`oidc-provider\` is a certified OpenID provider. The tests send the same requests to it and to Countersign, for clients with the same registration. They
compare the status, the error code, where the response redirects, the scheme of \`WWW-Authenticate\`, the caching rule, and the names in the response. The test writes this page
(\`tests/clients/oracle\`), and fails if a difference is missing here or no longer exists.
`;

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** The page for the differences that were found. */
export function page({ requests, alike }, groups) {
  const sections = groups.map(({ reason, requests: rows }) => {
    const lines = Object.entries(rows).map(([title, [ours, theirs]]) => `| ${cell(title)} | ${cell(ours)} | ${cell(theirs)} |`);
    return `## ${reason}\n\n| request | Countersign | oidc-provider |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${HEAD}\nOf ${requests} requests, ${alike} get the same response from both. The other ${requests - alike}, each with its reason:\n\n${sections.join("\n")}`;
}
