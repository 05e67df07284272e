// Signs users in with NextAuth 4. Next.js needs only `export default NextAuth(options)` in
// pages/api/auth/[...nextauth].js; the rest replaces what Next.js does.
import express from "express";
import NextAuthModule from "next-auth";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, NEXTAUTH_SECRET, APP_URL } = process.env;
export const options = {
  providers: [
    {
      id: "countersign",
      name: "Countersign",
      type: "oauth",
      wellKnown: `${ISSUER}/.well-known/openid-configuration`,
      authorization: { params: { scope: "openid profile email offline_access" } },
      idToken: true,
      checks: ["pkce", "state", "nonce"],
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      profile: (claims) => ({ id: claims.sub, name: claims.name, email: claims.email, image: claims.picture }),
    },
  ],
  secret: NEXTAUTH_SECRET,
  callbacks: {
    // What the application needs later goes into the session's own cookie. Your application should keep
    // tokens from the page.
    jwt: ({ token, account, profile }) => (account ? { ...token, tokens: account, claims: profile } : token),
    session: ({ session, token }) => ({ ...session, tokens: token.tokens, claims: token.claims }),
  },
};
const NextAuth = NextAuthModule.default(options);

const app = express();
app.use(express.urlencoded({ extended: false }));
const api = (request, response, nextauth) => {
  const cookies = (request.headers.cookie ?? "").split("; ").filter(Boolean).map((pair) => pair.split(/=(.*)/s).slice(0, 2));
  Object.defineProperty(request, "query", { value: { ...request.query, nextauth } });
  request.cookies = Object.fromEntries(cookies.map(([name, value]) => [name, decodeURIComponent(value)]));
  return NextAuth(request, response);
};
app.all("/api/auth/{*rest}", (request, response) => api(request, response, request.params.rest));
app.get("/", (request, response) => api(request, response, ["session"]));
app.listen(new URL(APP_URL).port, "127.0.0.1");
