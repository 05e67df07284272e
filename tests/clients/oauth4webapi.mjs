// Signs users in with oauth4webapi: a public client without a secret. It only needs the issuer's URL.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import * as oauth from "oauth4webapi";

const { ISSUER, CLIENT_ID, APP_URL } = process.env;
const redirectUri = `${APP_URL}/callback`;
const client = { client_id: CLIENT_ID, id_token_signed_response_alg: "EdDSA" };
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith("http:") }; // Use plain http only on your own computer.
const server = await oauth.processDiscoveryResponse(new URL(ISSUER), await oauth.discoveryRequest(new URL(ISSUER), options));

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));

app.get("/login", async (request, response) => {
  const [verifier, state, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState(), oauth.generateRandomNonce()];
  request.session.started = { verifier, state, nonce };
  const target = new URL(server.authorization_endpoint);
  target.search = new URLSearchParams({
    ...{ client_id: CLIENT_ID, redirect_uri: redirectUri, response_type: "code", state, nonce },
    scope: "openid profile email offline_access",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  response.redirect(target.href);
});

app.get("/callback", async (request, response) => {
  const { verifier, state, nonce } = request.session.started ?? {};
  const answer = oauth.validateAuthResponse(server, client, new URL(request.url, APP_URL), state);
  const came = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answer, redirectUri, verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, came, { expectedNonce: nonce, requireIdToken: true });
  await oauth.validateApplicationLevelSignature(server, came, options); // Without this, only TLS protects the id_token.
  Object.assign(request.session, { tokens, claims: oauth.getValidatedIdTokenClaims(tokens) });
  response.redirect("/");
});

app.get("/userinfo", async (request, response) => {
  const { tokens, claims } = request.session;
  const came = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  response.json(await oauth.processUserInfoResponse(server, client, claims.sub, came));
});

app.get("/refresh", async (request, response) => {
  const { tokens } = request.session;
  const came = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token, options);
  request.session.tokens = { ...tokens, ...(await oauth.processRefreshTokenResponse(server, client, came)) };
  response.redirect("/");
});

app.get("/revoke", async (request, response) => {
  const { refresh_token } = request.session.tokens;
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, oauth.None(), refresh_token, options));
  response.redirect("/");
});

app.get("/logout", (request, response) => {
  const target = new URL(server.end_session_endpoint);
  target.searchParams.set("id_token_hint", request.session.tokens.id_token);
  target.searchParams.set("post_logout_redirect_uri", `${APP_URL}/`);
  request.session.destroy(() => response.redirect(target.href));
});

// For the test only. Your application should not show tokens.
app.get("/", (request, response) => response.status(request.session.tokens ? 200 : 401).json(request.session));

app.listen(new URL(APP_URL).port, "127.0.0.1");
