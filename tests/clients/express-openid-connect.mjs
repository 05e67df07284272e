// Signs users in with express-openid-connect, which handles /login, /callback and /logout itself.
import { randomBytes } from "node:crypto";
import express from "express";
import { auth } from "express-openid-connect";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const app = express();
app.use(
  auth({
    issuerBaseURL: ISSUER,
    baseURL: APP_URL,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    clientAuthMethod: "client_secret_basic",
    idTokenSigningAlg: "ES256",
    secret: randomBytes(32).toString("hex"),
    authRequired: false,
    idpLogout: true,
    routes: { postLogoutRedirect: "/" },
    authorizationParams: { response_type: "code", scope: "openid profile email offline_access" },
  }),
);
app.get("/userinfo", async (request, response) => response.json(await request.oidc.fetchUserInfo()));
app.get("/refresh", async (request, response) => {
  await request.oidc.accessToken.refresh();
  response.redirect("/");
});

// For the test only. Your application should not show tokens.
app.get("/", (request, response) => {
  const { accessToken, refreshToken, idToken, idTokenClaims } = request.oidc;
  const tokens = { access_token: accessToken?.access_token, refresh_token: refreshToken, id_token: idToken };
  response.status(request.oidc.isAuthenticated() ? 200 : 401).json({ claims: idTokenClaims, tokens });
});

app.listen(new URL(APP_URL).port, "127.0.0.1");
