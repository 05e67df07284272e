// Signs people in by oauth4webapi. It finds the endpoints by the server's metadata, and checks state, iss and PKCE.
import { createServer } from "node:http";
import * as oauth from "oauth4webapi";

const issuer = new URL("%ISSUER%");
const redirectUri = new URL("%REDIRECT_URI%");
const client = { client_id: "%CLIENT_ID%" };
const clientAuth = oauth.ClientSecretPost("%CLIENT_SECRET%"); // [confidential]
const clientAuth = oauth.None(); // [public]
const options = { [oauth.allowInsecureRequests]: true }; // Plain http is for your own computer only. [http]
const options = {}; // [https]

const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...options });
const server = await oauth.processDiscoveryResponse(issuer, found);
const started = new Map(); // State and code verifier of each browser, by a cookie.

async function signIn(response) {
  const [visitor, state, verifier] = [oauth.generateRandomState(), oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  started.set(visitor, { state, verifier });
  const target = new URL(server.authorization_endpoint);
  target.search = new URLSearchParams({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUri.href,
    scope: "%SCOPE%",
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  response.writeHead(302, { location: target.href, "set-cookie": `visitor=${visitor}; HttpOnly; SameSite=Lax; Path=/` }).end();
}

async function comeBack(url, request, response) {
  const visitor = /visitor=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  const { state, verifier } = started.get(visitor) ?? {};
  started.delete(visitor);
  const answer = oauth.validateAuthResponse(server, client, url, state);
  const exchanged = await oauth.authorizationCodeGrantRequest(server, client, clientAuth, answer, redirectUri.href, verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged);
  const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  const person = await oauth.processUserInfoResponse(server, client, oauth.skipSubjectCheck, userinfo);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(person));
}

createServer(async (request, response) => {
  try {
    const url = new URL(request.url, redirectUri);
    if (url.pathname === redirectUri.pathname) await comeBack(url, request, response);
    else if (url.pathname === "/") await signIn(response);
    else response.writeHead(404).end();
  } catch (error) {
    response.writeHead(400, { "content-type": "text/plain" }).end(String(error));
  }
}).listen(redirectUri.port, redirectUri.hostname, () => console.log(`Open ${redirectUri.origin}/`));
