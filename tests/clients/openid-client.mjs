// Signs users in with openid-client, in an Express application. It only needs the issuer's URL.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const redirect_uri = `${APP_URL}/callback`;
const local = ISSUER.startsWith("http:"); // Use plain http only on your own computer.
const config = await client.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  { id_token_signed_response_alg: "ES256" },
  client.ClientSecretPost(CLIENT_SECRET),
  { execute: local ? [client.allowInsecureRequests] : [] },
);
client.enableNonRepudiationChecks(config); // Without this, only TLS protects the id_token.

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));

app.get("/login", async (request, response) => {
  const started = { verifier: client.randomPKCECodeVerifier(), state: client.randomState(), nonce: client.randomNonce() };
  request.session.started = started;
  const code_challenge = await client.calculatePKCECodeChallenge(started.verifier);
  const asked = { redirect_uri, scope: "openid profile email offline_access", code_challenge, code_challenge_method: "S256" };
  response.redirect(client.buildAuthorizationUrl(config, { ...asked, state: started.state, nonce: started.nonce }).href);
});

app.get("/callback", async (request, response) => {
  const { verifier, state, nonce } = request.session.started ?? {};
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  const tokens = await client.authorizationCodeGrant(config, new URL(request.url, APP_URL), checks);
  request.session.tokens = tokens;
  request.session.claims = tokens.claims();
  response.redirect("/");
});

app.get("/userinfo", async (request, response) => {
  const { tokens, claims } = request.session;
  response.json(await client.fetchUserInfo(config, tokens.access_token, claims.sub));
});

app.get("/refresh", async (request, response) => {
  const tokens = await client.refreshTokenGrant(config, request.session.tokens.refresh_token);
  request.session.tokens = { ...request.session.tokens, ...tokens };
  response.redirect("/");
});

app.get("/revoke", async (request, response) => {
  await client.tokenRevocation(config, request.session.tokens.refresh_token);
  response.redirect("/");
});

app.get("/logout", (request, response) => {
  const { id_token } = request.session.tokens;
  const target = client.buildEndSessionUrl(config, { post_logout_redirect_uri: `${APP_URL}/`, id_token_hint: id_token });
  request.session.destroy(() => response.redirect(target.href));
});

// For the test only. Your application should not show tokens.
app.get("/", (request, response) => response.status(request.session.tokens ? 200 : 401).json(request.session));

app.listen(new URL(APP_URL).port, "127.0.0.1");
