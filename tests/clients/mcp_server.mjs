// An MCP server with the TypeScript SDK that accepts access tokens issued for it. It verifies them with the
// issuer's published keys, and one of its tools needs a scope that clients ask for when they call it.
import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const { ISSUER, RESOURCE_URL } = process.env;
const resource = `${RESOURCE_URL}/mcp`;
const resourceMetadataUrl = `${RESOURCE_URL}/.well-known/oauth-protected-resource/mcp`;
const keys = createRemoteJWKSet(new URL(`${ISSUER}/oauth/jwks`));

async function verifyAccessToken(token) {
  const checks = { algorithms: ["ES256"], typ: "at+jwt", issuer: ISSUER, audience: resource };
  const { payload } = await jwtVerify(token, keys, checks).catch(({ message }) => Promise.reject(new InvalidTokenError(message)));
  return { token, clientId: payload.client_id, scopes: payload.scope.split(" "), expiresAt: payload.exp, extra: { sub: payload.sub } };
}
const requiring = (...requiredScopes) => requireBearerAuth({ verifier: { verifyAccessToken }, requiredScopes, resourceMetadataUrl });
const [anyone, writers] = [requiring(), requiring("notes.write")];

function server() {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool("whoami", { description: "The user that the token belongs to." }, ({ authInfo }) => text(authInfo.extra.sub));
  server.registerTool("write_note", { description: "Writes a note." }, ({ authInfo }) => text(`written for ${authInfo.extra.sub}`));
  return server;
}
const text = (text) => ({ content: [{ type: "text", text }] });

const app = express();
app.use(express.json());
// Clients ask for these scopes first, and for more when a tool needs it.
const metadata = { resource, authorization_servers: [ISSUER], scopes_supported: ["profile", "offline_access"] };
app.get("/.well-known/oauth-protected-resource/mcp", (request, response) => response.json(metadata));
const permits = ({ body }, ...rest) => (body?.params?.name === "write_note" ? writers : anyone)(...rest);
app.post("/mcp", (request, response, next) => permits(request, request, response, next), async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => transport.close());
  await server().connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.all("/mcp", anyone, (request, response) => response.status(405).set("Allow", "POST").end());
app.listen(new URL(RESOURCE_URL).port, "127.0.0.1");
