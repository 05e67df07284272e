// Calls a tool of an MCP server with the TypeScript SDK, which discovers where to sign in and registers there.
import { createInterface } from "node:readline";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { RESOURCE_URL, APP_URL } = process.env;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const line = async () => (await lines.next()).value?.trim();

/** Where the client, its tokens and its verifier are stored. Yours should outlive the program. */
const memory = {};
const provider = {
  redirectUrl: `${APP_URL}/callback`,
  clientMetadata: { client_name: "who am I", redirect_uris: [`${APP_URL}/callback`], token_endpoint_auth_method: "none" },
  clientInformation: () => memory.client,
  saveClientInformation: (client) => (memory.client = client),
  tokens: () => memory.tokens,
  saveTokens: (tokens) => (memory.tokens = tokens),
  codeVerifier: () => memory.verifier,
  saveCodeVerifier: (verifier) => (memory.verifier = verifier),
  state: () => (memory.state = crypto.randomUUID()),
  redirectToAuthorization: (target) => console.log(`Open this URL, sign in, and paste the URL that you are redirected to:\n${target}`),
};

const open = () => new StreamableHTTPClientTransport(new URL(`${RESOURCE_URL}/mcp`), { authProvider: provider });

/** Connects; if the server refuses the token, signs in and connects again. */
async function connected() {
  const [client, transport] = [new Client({ name: "who am I", version: "1.0.0" }), open()];
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const answer = new URL(await line()).searchParams;
    if (answer.get("state") !== memory.state) throw new Error("this response belongs to another sign-in");
    await transport.finishAuth(answer.get("code"));
    return connected();
  }
}

async function whoami() {
  const client = await connected();
  const { content } = await client.callTool({ name: "whoami", arguments: {} });
  await client.close();
  console.log(JSON.stringify({ sub: content[0].text, tokens: memory.tokens }));
}

await whoami();
for (let step = await line(); step; step = await line()) {
  if (step === "refresh") memory.tokens.access_token = "one that the server refuses"; // The SDK then refreshes.
  await whoami();
}
process.exit();
