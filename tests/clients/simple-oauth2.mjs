// Signs users in with simple-oauth2. It has no PKCE of its own, and a client with a secret needs none here.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import { AuthorizationCode } from "simple-oauth2";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const redirect_uri = `${APP_URL}/callback`;
const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: { tokenHost: ISSUER, tokenPath: "/oauth/token", authorizePath: "/oauth/authorize", revokePath: "/oauth/revoke" },
});

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));

app.get("/login", (request, response) => {
  const state = (request.session.state = randomBytes(32).toString("base64url"));
  response.redirect(client.authorizeURL({ redirect_uri, scope: "profile email offline_access", state }));
});

app.get("/callback", async (request, response) => {
  const { code, state, iss } = request.query;
  if (!state || state !== request.session.state || iss !== ISSUER) return response.status(400).send("This response belongs to another sign-in.");
  const { token } = await client.getToken({ code, redirect_uri });
  request.session.tokens = token;
  response.redirect("/");
});

app.get("/userinfo", async (request, response) => {
  const { access_token } = request.session.tokens;
  const userinfo = await fetch(`${ISSUER}/oauth/userinfo`, { headers: { authorization: `Bearer ${access_token}` } });
  response.status(userinfo.status).json(await userinfo.json());
});

app.get("/refresh", async (request, response) => {
  const { token } = await client.createToken(request.session.tokens).refresh();
  request.session.tokens = token;
  response.redirect("/");
});

app.get("/revoke", async (request, response) => {
  await client.createToken(request.session.tokens).revoke("refresh_token");
  response.redirect("/");
});

// For the test only. Your application should not show tokens.
app.get("/", (request, response) => response.status(request.session.tokens ? 200 : 401).json(request.session));

app.listen(new URL(APP_URL).port, "127.0.0.1");
