// Signs users in with Passport and its strategy for OpenID Connect.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import passport from "passport";
import OpenIDConnectStrategy from "passport-openidconnect";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const countersign = new OpenIDConnectStrategy(
  {
    issuer: ISSUER,
    authorizationURL: `${ISSUER}/oauth/authorize`,
    tokenURL: `${ISSUER}/oauth/token`,
    userInfoURL: `${ISSUER}/oauth/userinfo`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    callbackURL: `${APP_URL}/callback`,
    scope: "profile email offline_access",
    nonce: true,
  },
  (issuer, person, claims, context, idToken, accessToken, refreshToken, params, done) =>
    done(null, { claims: { sub: claims.id, ...context }, person: person._json, tokens: { ...params, refresh_token: refreshToken } }),
);
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
