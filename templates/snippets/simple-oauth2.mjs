// Signs people in by simple-oauth2. It has no PKCE of its own, but passes what PKCE needs.
import { createHash, randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import { AuthorizationCode } from "simple-oauth2";

const redirectUri = new URL("%REDIRECT_URI%");
const client = new AuthorizationCode({
  client: { id: "%CLIENT_ID%", secret: "%CLIENT_SECRET%" }, // [confidential]
  client: { id: "%CLIENT_ID%", secret: "" }, // [public]
  auth: { tokenHost: "%ISSUER%", tokenPath: "%ISSUER%/oauth/token", authorizePath: "%ISSUER%/oauth/authorize" },
  options: { authorizationMethod: "body" },
});

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));

app.get("/", (request, response) => {
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  request.session.started = { state, verifier };
  response.redirect(
    client.authorizeURL({
      redirect_uri: redirectUri.href,
      scope: "%SCOPE%",
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    }),
  );
});

app.get(redirectUri.pathname, async (request, response) => {
  const { state, verifier } = request.session.started ?? {};
  delete request.session.started;
  const { code, error, state: came, iss } = request.query;
  if (!state || came !== state || iss !== "%ISSUER%") return response.status(400).send("This answer is not for you.");
  if (error) return response.status(400).send(`Not signed in: ${error}`);
  const { token } = await client.getToken({ code, redirect_uri: redirectUri.href, code_verifier: verifier });
  const userinfo = await fetch("%ISSUER%/oauth/userinfo", { headers: { authorization: `Bearer ${token.access_token}` } });
  response.status(userinfo.status).json(await userinfo.json());
});

app.listen(redirectUri.port, redirectUri.hostname, () => console.log(`Open ${redirectUri.origin}/`));
