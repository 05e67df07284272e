// Signs users in with Better Auth. It wants an e-mail address of everyone, so users without one get a made-up one.
import { randomBytes } from "node:crypto";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import express from "express";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL } = process.env;
const database = { user: [], session: [], account: [], verification: [] }; // A real application would use a database.
const auth = betterAuth({
  baseURL: APP_URL,
  secret: randomBytes(32).toString("hex"),
  database: memoryAdapter(database),
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: "countersign",
          discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          scopes: ["openid", "profile", "email", "offline_access"],
          pkce: true,
          mapProfileToUser: ({ sub, preferred_username, email }) => ({ name: preferred_username, email: email ?? `${sub}@users.invalid` }),
        },
      ],
    }),
  ],
});

const app = express();
app.get("/login", async (request, response) => {
  const body = { provider: "countersign", callbackURL: "/" };
  const { headers, response: started } = await auth.api.signInSocial({ body, returnHeaders: true });
  for (const cookie of headers.getSetCookie()) response.append("set-cookie", cookie);
  response.redirect(started.url);
});
app.all("/api/auth/*path", toNodeHandler(auth));

// For the test only. Your application should not show tokens.
app.get("/", async (request, response) => {
  const session = await auth.api.getSession({ headers: new Headers({ cookie: request.headers.cookie ?? "" }) });
  const { accountId, accessToken, refreshToken, idToken } = database.account.find(({ userId }) => userId === session?.user.id) ?? {};
  const tokens = { access_token: accessToken, refresh_token: refreshToken, id_token: idToken };
  response.status(session ? 200 : 401).json(session ? { claims: { sub: accountId }, tokens } : {});
});

app.listen(new URL(APP_URL).port, "127.0.0.1");
