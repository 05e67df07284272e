// Signs users in with Auth.js, in an Express application. Users open /auth/signin.
import { ExpressAuth, getSession } from "@auth/express";
import express from "express";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, AUTH_SECRET, APP_URL } = process.env;
const countersign = {
  id: "countersign",
  name: "Countersign",
  type: "oidc",
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  checks: ["pkce", "state", "nonce"],
  authorization: { params: { scope: "openid profile email offline_access" } },
};
const options = {
  providers: [countersign],
  secret: AUTH_SECRET,
  trustHost: true,
  callbacks: {
    // What the application needs later goes into the session's own cookie. Your application should keep
    // tokens from the page.
    jwt: ({ token, account, profile }) => (account ? { ...token, tokens: account, claims: profile } : token),
    session: ({ session, token }) => ({ ...session, tokens: token.tokens, claims: token.claims }),
  },
};

const app = express();
app.use("/auth", ExpressAuth(options));
app.get("/", async (request, response) => {
  const session = await getSession(request, options);
  response.status(session ? 200 : 401).json(session ?? {});
});
app.listen(new URL(APP_URL).port, "127.0.0.1");
