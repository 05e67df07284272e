// Signs users in with @hono/oidc-auth, in a Hono application. It only needs the issuer's URL.
import { randomBytes } from "node:crypto";
import { serve } from "@hono/node-server";
import { getAuth, initOidcAuthMiddleware, oidcAuthMiddleware, processOAuthCallback, revokeSession } from "@hono/oidc-auth";
import { Hono } from "hono";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const app = new Hono();
app.use(
  initOidcAuthMiddleware({
    OIDC_ISSUER: ISSUER,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_REDIRECT_URI: `${APP_URL}/callback`,
    OIDC_AUTH_SECRET: randomBytes(32).toString("hex"), // Keep it, or everyone signs in again after a restart.
  }),
);

// What the session knows about the user. The tokens are for the test only.
app.use(async (context, next) => {
  context.set("oidcClaimsHook", async (before, claims, { access_token, refresh_token, id_token }) => ({
    ...{ sub: claims?.sub ?? before?.sub, name: claims?.preferred_username ?? before?.name },
    tokens: { access_token, refresh_token, id_token: id_token ?? before?.tokens?.id_token },
  }));
  await next();
});

app.get("/callback", processOAuthCallback);
app.get("/revoke", async (context) => (await revokeSession(context), context.text("signed out")));
app.get("/login", oidcAuthMiddleware(), (context) => context.redirect("/"));

// For the test only. Your application should not show tokens.
app.get("/", async (context) => {
  const user = await getAuth(context);
  return user ? context.json({ claims: { sub: user.sub }, tokens: user.tokens }) : context.json({}, 401);
});

serve({ fetch: app.fetch, port: Number(new URL(APP_URL).port), hostname: "127.0.0.1" });
