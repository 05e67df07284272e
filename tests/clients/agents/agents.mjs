// The MCP clients: how each is installed, configured and asked to do something. `call` returns the text that a
// tool of the MCP server answered. A client that signs in only when it is asked to has `signIn`, and one that
// gets more scopes only when it is asked to has `askFor`.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { HERE, Lines, until } from "./stage.mjs";

const bin = (name) => `${HERE}node_modules/.bin/${name}`;
/** The MCP servers. The metadata of the first names scopes, and the second's names none. */
export const TYPESCRIPT = ["node", "../mcp_server.mjs"];
export const FASTMCP = [`${HERE}.venv/bin/python`, "fastmcp_server.py"];
const text = (result) => {
  const said = result.content?.map(({ text }) => text).join("") ?? "";
  assert.ok(!result.isError, said);
  return said;
};
/** A client that registers the scopes of the metadata cannot ask for others later. */
const REGISTERED = "asks by itself, but registered only what the metadata named: name every scope there";
const INITIALIZE = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agents", version: "1" } };

export const AGENTS = [
  {
    name: "Codex",
    npm: "@openai/codex",
    how: "registers itself (a document, if the server can fetch it)",
    async start(stage) {
      stage.write(".codex/config.toml", `[mcp_servers.notes]\nurl = "${stage.resource}"\n`);
      const codex = new Lines(stage.spawn(bin("codex"), ["app-server"]));
      await codex.call("initialize", { clientInfo: { name: "agents", title: "agents", version: "1" } });
      codex.notify("initialized");
      const login = async (more) => {
        const done = codex.notices.length;
        const { authorizationUrl } = await codex.call("mcpServer/oauth/login", { name: "notes", clientRegistration: "dcr", ...more });
        await stage.approve(authorizationUrl);
        const notice = await until(() => codex.notices.slice(done).find(({ method }) => method === "mcpServer/oauthLogin/completed"), "the login does not end");
        assert.ok(notice.params.success, notice.params.error);
      };
      return {
        signIn: () => login({}),
        askFor: (scope) => login({ scopes: ["openid", "profile", "offline_access", scope] }),
        async call(tool) {
          const { thread } = await codex.call("thread/start", { cwd: stage.home });
          return text(await codex.call("mcpServer/tool/call", { server: "notes", threadId: thread.id, tool, arguments: {} }));
        },
      };
    },
  },
  {
    name: "Gemini CLI, MCPOAuthProvider",
    npm: "@google/gemini-cli-core",
    how: "registers itself",
    async start(stage) {
      const gemini = new Lines(stage.spawn("node", [`${HERE}gemini.mjs`, stage.resource], { GEMINI_CLI_HOME: stage.home, GEMINI_FORCE_FILE_STORAGE: "true" }));
      return { signIn: () => gemini.call("signIn"), call: (tool) => gemini.call("call", { tool }), askFor: (scope) => gemini.call("signIn", { scopes: ["profile", "offline_access", scope] }) };
    },
  },
  {
    name: "MCP Inspector",
    npm: "@modelcontextprotocol/inspector",
    how: "registers itself",
    async start(stage) {
      const inspector = (...args) => stage.run("node", [`${HERE}node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js`, "--format", "json", ...args], { MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" });
      const configure = (oauth) => stage.write("mcp.json", JSON.stringify({ mcpServers: { notes: { type: "streamable-http", url: stage.resource, oauth } } }));
      const from = ["--config", "mcp.json", "--server", "notes"];
      configure({});
      return {
        call: async (tool) => text(JSON.parse(await inspector(...from, "--method", "tools/call", "--tool-name", tool)).result),
        async askFor(scope) {
          configure({ scopes: `profile offline_access ${scope}` });
          await inspector(...from, "--relogin", "--method", "tools/list");
        },
      };
    },
  },
  {
    name: "mcp-remote",
    npm: "mcp-remote",
    not: ["steps up"],
    note: REGISTERED,
    how: "registers itself",
    async start(stage) {
      const remote = new Lines(stage.spawn("node", [bin("mcp-remote"), stage.resource]));
      return {
        async signIn() {
          await remote.call("initialize", INITIALIZE);
          remote.notify("notifications/initialized");
        },
        call: async (tool) => text(await remote.call("tools/call", { name: tool, arguments: {} })),
      };
    },
  },
  {
    name: "opencode",
    npm: "opencode-ai",
    not: ["steps up"],
    note: "refreshes where it should ask again: name every scope in the metadata",
    how: "registers itself",
    async start(stage) {
      const model = await scripted();
      const provider = { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${model.url}/v1`, apiKey: "none" }, models: { scripted: { name: "scripted", tool_call: true } } };
      const settings = (scope) => JSON.stringify({ provider: { scripted: provider }, model: "scripted/scripted", small_model: "scripted/scripted", permission: { "*": "allow" }, mcp: { notes: { type: "remote", url: stage.resource, oauth: scope ? { scope } : {} } } });
      stage.write("opencode.json", settings());
      const opencode = `${HERE}node_modules/opencode-linux-x64/bin/opencode`;
      const more = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
      const signIn = () => stage.run(opencode, ["mcp", "auth", "notes"], more);
      return {
        signIn,
        async askFor(scope) {
          stage.write("opencode.json", settings(`openid profile offline_access ${scope}`));
          await stage.run(opencode, ["mcp", "logout", "notes"], more);
          await signIn();
        },
        async call(tool) {
          model.calls = tool;
          await stage.run(opencode, ["run", "call it"], more);
          return model.answered;
        },
      };
    },
  },
  {
    name: "FastMCP client",
    pip: "fastmcp",
    not: ["steps up"],
    note: REGISTERED,
    how: "registers itself",
    start: fastmcp,
  },
];

async function fastmcp(stage) {
  const client = new Lines(stage.spawn(`${HERE}.venv/bin/python`, [`${HERE}fastmcp_client.py`, stage.resource]));
  return { call: (tool) => client.call("call", { tool }), askFor: (scope) => client.call("signIn", { scopes: ["profile", "offline_access", scope] }) };
}

/** A language model that does not think: it calls the tool whose name ends like this, and keeps what it answered. */
async function scripted() {
  const model = {};
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { messages = [], tools = [] } = body ? JSON.parse(body) : {};
    const last = messages.at(-1);
    if (last?.role === "tool") model.answered = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
    const named = tools.find(({ function: { name } }) => name.endsWith(model.calls))?.function.name;
    const calls = named && last?.role !== "tool";
    const delta = calls ? { role: "assistant", tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: "function", function: { name: named, arguments: "{}" } }] } : { role: "assistant", content: "Done." };
    const chunk = (choice) => `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [{ index: 0, ...choice }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ delta })}${chunk({ delta: {}, finish_reason: calls ? "tool_calls" : "stop" })}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return Object.assign(model, { url: `http://127.0.0.1:${server.address().port}` });
}
