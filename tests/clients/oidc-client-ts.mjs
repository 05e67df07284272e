// Signs users in with oidc-client-ts, in a page without a backend: a public client. The script is what
// matters; the rest only serves it.
import { fileURLToPath } from "node:url";
import express from "express";

const { ISSUER, CLIENT_ID, APP_URL } = process.env;
const library = fileURLToPath(new URL("node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js", import.meta.url));

const script = `
const manager = new oidc.UserManager({
  authority: "${ISSUER}",
  client_id: "${CLIENT_ID}",
  redirect_uri: "${APP_URL}/callback",
  post_logout_redirect_uri: "${APP_URL}/",
  scope: "openid profile email offline_access",
  loadUserInfo: true,
  revokeTokensOnSignout: false,
});
const steps = {
  login: () => manager.signinRedirect({ nonce: crypto.randomUUID() }),
  refresh: () => manager.signinSilent(),
  revoke: () => manager.revokeTokens(["refresh_token", "access_token"]),
  logout: () => manager.signoutRedirect(),
};
for (const [name, step] of Object.entries(steps)) {
  document.getElementById(name).onclick = () => step().then(show, (error) => (document.title = String(error)));
}
async function show() {
  const user = await manager.getUser(); // For the test only. Your page should not show tokens.
  document.getElementById("user").textContent = JSON.stringify(user);
  document.title = user ? "signed in" : "signed out";
}
if (location.pathname === "/callback") {
  manager.signinCallback().then(() => location.replace("/"), (error) => (document.title = String(error)));
} else {
  show();
}
`;

const page = `<!doctype html><title>...</title>
<button id="login">Sign in</button> <button id="refresh">Refresh</button>
<button id="revoke">Revoke</button> <button id="logout">Sign out</button>
<pre id="user"></pre>
<script src="/oidc-client-ts.js"></script><script src="/app.js"></script>`;

const app = express();
app.get(["/", "/callback"], (request, response) => response.type("html").send(page));
app.get("/oidc-client-ts.js", (request, response) => response.sendFile(library));
app.get("/app.js", (request, response) => response.type("js").send(script));
app.listen(new URL(APP_URL).port, "127.0.0.1");
