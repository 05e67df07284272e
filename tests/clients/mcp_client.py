"""Calls a tool of an MCP server with the Python SDK, which discovers where to sign in and registers there."""

import json
import os
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

RESOURCE, CALLBACK = f"{os.environ['RESOURCE_URL']}/mcp", f"{os.environ['APP_URL']}/callback"


class Memory:
    """Where tokens are stored. Yours should outlive the program."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def line():
    return (await anyio.to_thread.run_sync(input)).strip()


async def open_browser(target):
    print(f"Open this URL, sign in, and paste the URL that you are redirected to:\n{target}", flush=True)


async def landed():
    answer = {name: values[0] for name, values in parse_qs(urlsplit(await line()).query).items()}
    return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))


async def main():
    memory = Memory()
    metadata = OAuthClientMetadata(client_name="who am I", redirect_uris=[CALLBACK], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(RESOURCE, metadata, memory, redirect_handler=open_browser, callback_handler=landed)
    async with httpx2.AsyncClient(auth=auth) as http:

        async def whoami():
            async with Client(streamable_http_client(RESOURCE, http_client=http)) as server:
                result = await server.call_tool("whoami", {})
                return {"sub": result.content[0].text, "tokens": memory.tokens.model_dump()}

        print(json.dumps(await whoami()), flush=True)
        while step := await line():
            if step == "refresh":
                auth.context.token_expiry_time = 1  # Makes the token look expired, so that the SDK refreshes it.
            print(json.dumps(await whoami()), flush=True)


anyio.run(main)
