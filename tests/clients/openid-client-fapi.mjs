// Signs users in with openid-client as the security profile FAPI 2.0 requires: the client signs assertions
// instead of sending a secret, pushes its requests to the server (PAR), and binds its tokens to a key (DPoP).
import { randomBytes, webcrypto } from "node:crypto";
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const { ISSUER, CLIENT_ID, CLIENT_KEY, APP_URL } = process.env;
const redirect_uri = `${APP_URL}/callback`;
const local = ISSUER.startsWith("http:"); // Use plain http only on your own computer.
const { kid, ...jwk } = JSON.parse(CLIENT_KEY);
const key = await webcrypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
const config = await client.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  { id_token_signed_response_alg: "ES256" },
  client.PrivateKeyJwt({ key, kid }),
  { execute: local ? [client.allowInsecureRequests] : [] },
);
client.enableNonRepudiationChecks(config); // Without this, only TLS protects the id_token.
const options = { DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256")) };

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));

app.get("/login", async (request, response) => {
  const started = { verifier: client.randomPKCECodeVerifier(), state: client.randomState(), nonce: client.randomNonce() };
  request.session.started = started;
  const code_challenge = await client.calculatePKCECodeChallenge(started.verifier);
  const asked = { redirect_uri, scope: "openid profile email offline_access", code_challenge, code_challenge_method: "S256" };
  const whole = { ...asked, state: started.state, nonce: started.nonce };
  response.redirect((await client.buildAuthorizationUrlWithPAR(config, whole, options)).href);
});

app.get("/callback", async (request, response) => {
  const { verifier, state, nonce } = request.session.started ?? {};
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  const tokens = await client.authorizationCodeGrant(config, new URL(request.url, APP_URL), checks, undefined, options);
  request.session.tokens = tokens;
  request.session.claims = tokens.claims();
  response.redirect("/");
});

app.get("/userinfo", async (request, response) => {
  const { tokens, claims } = request.session;
  response.json(await client.fetchUserInfo(config, tokens.access_token, claims.sub, options));
});

app.get("/refresh", async (request, response) => {
  const tokens = await client.refreshTokenGrant(config, request.session.tokens.refresh_token, undefined, options);
  request.session.tokens = { ...request.session.tokens, ...tokens };
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
