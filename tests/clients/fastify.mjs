// Signs users in with @fastify/oauth2, in a Fastify application. It only needs the issuer's URL.
import { randomBytes } from "node:crypto";
import Fastify from "fastify";
import cookie from "@fastify/cookie";
import oauth from "@fastify/oauth2";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const signedIn = new Map(); // A real application would use a database.
const app = Fastify();
await app.register(cookie);
await app.register(oauth, {
  name: "countersign",
  scope: ["openid", "profile", "email", "offline_access"],
  credentials: { client: { id: CLIENT_ID, secret: CLIENT_SECRET } },
  discovery: { issuer: ISSUER },
  callbackUri: `${APP_URL}/callback`,
  startRedirectPath: "/login",
  pkce: "S256",
  cookie: { secure: APP_URL.startsWith("https:"), sameSite: "lax" },
});

app.get("/callback", async (request, reply) => {
  const { token } = await app.countersign.getAccessTokenFromAuthorizationCodeFlow(request, reply);
  const [visit, claims] = [randomBytes(32).toString("hex"), await app.countersign.userinfo(token.access_token)];
  signedIn.set(visit, { claims, tokens: token });
  return reply.setCookie("visit", visit, { httpOnly: true, sameSite: "lax", path: "/" }).redirect("/");
});

app.get("/userinfo", (request) => app.countersign.userinfo(signedIn.get(request.cookies.visit).tokens.access_token));

app.get("/refresh", async (request, reply) => {
  const visit = signedIn.get(request.cookies.visit);
  const { token } = await app.countersign.getNewAccessTokenUsingRefreshToken(visit.tokens, {});
  visit.tokens = { ...visit.tokens, ...token };
  return reply.redirect("/");
});

app.get("/revoke", async (request, reply) => {
  await app.countersign.revokeToken(signedIn.get(request.cookies.visit).tokens, "refresh_token", {});
  return reply.redirect("/");
});

// For the test only. Your application should not show tokens.
app.get("/", (request, reply) => reply.code(signedIn.has(request.cookies.visit) ? 200 : 401).send(signedIn.get(request.cookies.visit) ?? {}));

await app.listen({ port: new URL(APP_URL).port, host: "127.0.0.1" });
