// The pages in docs/clients that the tests write: a title, and what to know before reading the code. A row of
// rows.mjs names its page. `settings` are applications that do not run here; `countersign client create --for`
// knows them.

const ROLES = "Its roles come from the claim `groups`: [who can sign in](../access.md).";

export const STACKS = {
  nextjs: { title: "Next.js", intro: "NextAuth and Auth.js are the same project. In Next.js, the options of this example go into `app/api/auth/[...nextauth]/route.js`." },
  express: { title: "Express, and other servers in Node.js", intro: "For a new application take openid-client: it checks everything, and it is small. oauth4webapi is the same without conveniences." },
  fastify: { title: "Fastify", intro: "`@fastify/oauth2` gets tokens and does not read ID tokens, so the application asks userinfo who signed in." },
  hono: { title: "Hono", intro: "`@hono/oidc-auth` keeps the session in a signed cookie. Without `OIDC_SCOPES` it asks for every scope of the server." },
  "better-auth": { title: "Better Auth", intro: "Better Auth needs an e-mail address, and wallets have none: see [the application needs an e-mail address](any-application.md#the-application-needs-an-e-mail-address)." },
  browser: { title: "JavaScript in a page", intro: "A page cannot keep a secret, so its client is public. If there is a server behind the page, sign in there instead." },
  django: { title: "Django", intro: "django-allauth if the site has other ways to sign in, mozilla-django-oidc if it does not." },
  fastapi: { title: "FastAPI", intro: "Authlib works in FastAPI, Starlette and NiceGUI alike." },
  flask: { title: "Flask", intro: "Authlib checks the ID token. requests-oauthlib does not read it and asks userinfo." },
  mcp: { title: "MCP clients and servers", intro: "The SDKs of MCP find the server, register and sign in by themselves. [MCP servers](../mcp.md) says what an operator has to allow." },
  rust: { title: "Rust", intro: "openidconnect checks the ID token. oauth2 is what it is built on." },
  shell: { title: "Tokens for a shell", intro: "oidc-agent keeps tokens for scripts. A program without a person signs in [with its own wallet](../headless.md)." },
  applications: {
    title: "Applications",
    intro: "Give `--for` and the application's address, and the command prints its settings, filled in. For others, there is [any application](any-application.md).",
    settings: [
      { name: "directus", note: `Signed in by hand with Directus 12.4, not by the tests. ${ROLES} Map them with \`AUTH_COUNTERSIGN_ROLE_MAPPING\`.` },
      { name: "gitea", note: `The tests replay its requests. ${ROLES}` },
      { name: "grafana", note: `The tests replay its requests. ${ROLES}` },
      { name: "nextcloud", note: "The tests replay its requests. Run it in Nextcloud's folder, with the app `user_oidc` installed." },
      { name: "nodered", note: "Signed in by hand with Node-RED 4.1, not by the tests. Everyone who can sign in to the client can edit flows; `access set` decides who that is." },
      { name: "pgadmin", note: "Signed in by hand with pgAdmin 9.18, not by the tests. To admit a group only, add `\"OAUTH2_ADDITIONAL_CLAIMS\": {\"groups\": [\"staff\"]}`." },
      { name: "superset", note: `Signed in by hand with Flask-AppBuilder 5.3, not by the tests. It wants an e-mail address, so this makes one up. In Airflow the settings are \`webserver_config.py\`. ${ROLES}` },
    ],
  },
};
