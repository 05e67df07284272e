// The other authorization server: npm oidc-provider, configured to be as similar to Countersign as its
// settings allow: the same paths, the same kinds of clients, the same features, and a user who is signed in
// just by arriving. `node peer.mjs [port]` runs only this server.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Provider, interactionPolicy } from "oidc-provider";

const ROUTES = {
  authorization: "/oauth/authorize",
  code_verification: "/device",
  device_authorization: "/oauth/device_authorization",
  end_session: "/oauth/logout",
  introspection: "/oauth/introspect",
  jwks: "/oauth/jwks",
  pushed_authorization_request: "/oauth/par",
  registration: "/oauth/clients",
  revocation: "/oauth/revoke",
  token: "/oauth/token",
  userinfo: "/oauth/userinfo",
};

const SCOPES = ["openid", "offline_access", "profile", "email"];

/** A client that asks the user to choose an account gets the sign-in page again. */
function policy() {
  const policy = interactionPolicy.base();
  policy.add(new interactionPolicy.Prompt({ name: "select_account", requestable: true }), 0);
  return policy;
}

/** A private key that signs with this algorithm, as a JSON Web Key. */
function key(algorithm, type, options) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: "jwk" }), alg: algorithm, use: "sig", kid: algorithm };
}

function settings() {
  const on = { enabled: true };
  return {
    routes: ROUTES,
    scopes: SCOPES,
    renderError: (context, told) => Object.assign(context, { type: "json", body: told }),
    claims: { openid: ["sub"], profile: ["preferred_username", "name"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false, // The claims of the scopes are in the ID token too, as applications expect.
    clientAuthMethods: ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"],
    clientDefaults: {
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "client_secret_post",
      scope: SCOPES.join(" "),
    },
    responseTypes: ["code"],
    subjectTypes: ["public", "pairwise"],
    pairwiseIdentifier: (_, accountId, client) => `${accountId} at ${client.sectorIdentifier}`,
    cookies: { keys: [randomUUID()], long: { sameSite: "none" } },
    enableHttpPostMethods: true,
    jwks: {
      keys: [key("RS256", "rsa", { modulusLength: 2048 }), key("ES256", "ec", { namedCurve: "P-256" }), key("EdDSA", "ed25519")],
    },
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "EdDSA"] },
    pkce: { required: (_, client) => client.clientAuthMethod === "none" },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, preferred_username: `User_${sub.slice(0, 8)}`, name: `User_${sub.slice(0, 8)}`, email: "a@example.com", email_verified: true }),
    }),
    interactions: { policy: policy(), url: (_, interaction) => `/interaction/${interaction.uid}` },
    ttl: { AuthorizationCode: 60, AccessToken: 3600, IdToken: 3600, RefreshToken: 2_592_000, Session: 2_592_000, Interaction: 1800, Grant: 2_592_000 },
    features: {
      backchannelLogout: on,
      claimsParameter: on,
      clientCredentials: on,
      deviceFlow: on,
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
      introspection: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      pushedAuthorizationRequests: on,
      registration: on,
      registrationManagement: on,
      resourceIndicators: {
        enabled: true,
        defaultResource: () => [],
        useGrantedResource: () => true,
        getResourceServerInfo: (_, identifier) => ({ scope: SCOPES.join(" "), audience: identifier, accessTokenFormat: "jwt", jwt: { sign: { alg: "ES256" } } }),
      },
      revocation: on,
      rpInitiatedLogout: on,
      userinfo: on,
    },
  };
}

/** Signs the user in and grants everything that is requested. */
async function agree(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const accountId = session?.accountId ?? randomUUID();
  const grant = (grantId && (await provider.Grant.find(grantId))) || new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? SCOPES.join(" "));
  grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, SCOPES.join(" "));
  const result = { consent: { grantId: await grant.save() }, select_account: {}, ...(prompt.name !== "consent" && { login: { accountId } }) };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

/** Starts the server on a port of this computer; the returned function closes it. */
export async function startPeer(port = 0) {
  const listener = createServer();
  await new Promise((done) => listener.listen(port, "127.0.0.1", done));
  const issuer = `http://localhost:${listener.address().port}`;
  const provider = new Provider(issuer, settings());
  const answer = provider.callback();
  listener.on("request", (request, response) => {
    if (!request.url.startsWith("/interaction/")) return answer(request, response);
    return agree(provider, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  return { issuer, close: () => new Promise((done) => listener.close(done).closeAllConnections()) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await startPeer(Number(process.argv[2] ?? 0))).issuer);
