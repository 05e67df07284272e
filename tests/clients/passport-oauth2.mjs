// Signs users in with Passport and its strategy for OAuth 2.0. State and PKCE are kept in the session.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import passport from "passport";
import OAuth2Strategy from "passport-oauth2";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const countersign = new OAuth2Strategy(
  {
    authorizationURL: `${ISSUER}/oauth/authorize`,
    tokenURL: `${ISSUER}/oauth/token`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    callbackURL: `${APP_URL}/callback`,
    scope: "profile email offline_access",
    state: true,
    pkce: true,
  },
  (accessToken, refreshToken, tokens, person, done) =>
    done(null, { person, tokens: { ...tokens, refresh_token: refreshToken } }),
);
countersign.userProfile = (accessToken, done) => {
  countersign._oauth2.useAuthorizationHeaderforGET(true);
  countersign._oauth2.get(`${ISSUER}/oauth/userinfo`, accessToken, (error, body) => done(error, error ? undefined : JSON.parse(body)));
};
passport.use("countersign", countersign);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get("/login", passport.authenticate("countersign"));
app.get("/callback", passport.authenticate("countersign"), (request, response) => response.redirect("/"));
app.get("/userinfo", (request, response) => response.json(request.user.person));

// For the test only. Your application should not show tokens.
app.get("/", (request, response) => response.status(request.user ? 200 : 401).json(request.user ?? {}));

app.listen(new URL(APP_URL).port, "127.0.0.1");
