// An API in Express. oauth4webapi checks the token: signature, issuer, audience, time, and the proof of its key.
import express from "express";
import * as oauth from "oauth4webapi";

const { ISSUER, RESOURCE, PORT, API_CLIENT_ID, API_CLIENT_SECRET } = process.env;
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith("http:") }; // Use plain http only on your own computer.
const server = await oauth.processDiscoveryResponse(new URL(ISSUER), await oauth.discoveryRequest(new URL(ISSUER), options));

/** Asks the server whether the token still counts. Without it, a revoked token works until it expires. */
async function stillCounts(token) {
  const client = { client_id: API_CLIENT_ID };
  const came = await oauth.introspectionRequest(server, client, oauth.ClientSecretBasic(API_CLIENT_SECRET), token, options);
  return (await oauth.processIntrospectionResponse(server, client, came)).active;
}

/** Lets a request pass whose token has the scope. */
const needs = (scope) => async (request, response, next) => {
  const refuse = (status, challenge) => response.status(status).set("WWW-Authenticate", challenge).end();
  const authorization = request.get("authorization");
  if (!authorization) return refuse(401, "Bearer");
  let claims;
  try {
    const asked = new Request(new URL(request.originalUrl, RESOURCE), { method: request.method, headers: request.headers });
    claims = await oauth.validateJwtAccessToken(server, asked, RESOURCE, options);
    if (API_CLIENT_ID && !(await stillCounts(authorization.split(" ")[1]))) throw new Error("revoked");
  } catch (error) {
    console.error(error.message);
    return refuse(401, 'Bearer error="invalid_token"');
  }
  if (!(claims.scope ?? "").split(" ").includes(scope)) return refuse(403, `Bearer error="insufficient_scope", scope="${scope}"`);
  request.caller = claims.sub;
  next();
};

const app = express();
app.get("/photos", needs("photos.read"), (request, response) => response.json({ photos: [], of: request.caller }));
app.delete("/photos", needs("photos.admin"), (request, response) => response.json({ deleted: 0, by: request.caller }));
app.listen(PORT, "127.0.0.1", () => console.log("ready"));
