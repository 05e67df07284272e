// Signs people in by Passport, with its strategy for OAuth 2.0. State and PKCE live in the session.
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import passport from "passport";
import OAuth2Strategy from "passport-oauth2";

const redirectUri = new URL("%REDIRECT_URI%");
const strategy = new OAuth2Strategy(
  {
    authorizationURL: "%ISSUER%/oauth/authorize",
    tokenURL: "%ISSUER%/oauth/token",
    clientID: "%CLIENT_ID%",
    clientSecret: "%CLIENT_SECRET%", // [confidential]
    clientSecret: "", // [public]
    callbackURL: redirectUri.href,
    scope: "%SCOPE%",
    state: true,
    pkce: true,
  },
  (accessToken, refreshToken, person, done) => done(null, person),
);
strategy.userProfile = async (accessToken, done) => {
  try {
    const userinfo = await fetch("%ISSUER%/oauth/userinfo", { headers: { authorization: `Bearer ${accessToken}` } });
    if (!userinfo.ok) throw new Error(`userinfo answered ${userinfo.status}`);
    done(null, await userinfo.json());
  } catch (error) {
    done(error);
  }
};
passport.use("countersign", strategy);
passport.serializeUser((person, done) => done(null, person));
passport.deserializeUser((person, done) => done(null, person));

const app = express();
app.use(session({ secret: randomBytes(32).toString("hex"), resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get("/", passport.authenticate("countersign"));
app.get(redirectUri.pathname, passport.authenticate("countersign"), (request, response) => response.json(request.user));
app.listen(redirectUri.port, redirectUri.hostname, () => console.log(`Open ${redirectUri.origin}/`));
