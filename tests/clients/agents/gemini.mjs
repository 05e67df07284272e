// The part of Gemini CLI that signs in to MCP servers, `MCPOAuthProvider`, and its own MCP client beside it.
// Reads JSON-RPC from its input: `signIn` and `call`.

import { createInterface } from "node:readline";
import { MCPOAuthProvider, MCPOAuthTokenStorage, coreEvents, CoreEvent } from "@google/gemini-cli-core";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

process.stdin.isTTY = process.stdout.isTTY = true; // Otherwise it waits for a key.
const [, , resource] = process.argv;
const provider = new MCPOAuthProvider(new MCPOAuthTokenStorage());
coreEvents.on(CoreEvent.UserFeedback, ({ message }) => console.error(message));
coreEvents.on(CoreEvent.ConsentRequest, ({ onConfirm }) => onConfirm(true));

const METHODS = {
  async signIn({ scopes }) {
    await provider.authenticate("notes", { enabled: true, ...(scopes ? { scopes } : {}) }, resource);
    return "signed in";
  },
  async call({ tool }) {
    const token = await provider.getValidToken("notes", { enabled: true });
    const client = new Client({ name: "gemini", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
    const { content } = await client.callTool({ name: tool, arguments: {} });
    await client.close();
    return content[0].text;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = await METHODS[method](params).then((result) => ({ result }), (error) => ({ error: { message: error.message } }));
  console.log(JSON.stringify({ id, ...answer }));
}
