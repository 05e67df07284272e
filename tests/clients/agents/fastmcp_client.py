"""Calls tools with FastMCP's client, which signs in by itself. Reads JSON-RPC from its input: `signIn` and `call`."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.auth import OAuth
from key_value.aio.stores.memory import MemoryStore

RESOURCE = sys.argv[1]


class Agent:
    def __init__(self):
        self.auth = OAuth(token_storage=MemoryStore())

    async def signIn(self, scopes):
        self.auth = OAuth(scopes=scopes, token_storage=MemoryStore())
        async with Client(RESOURCE, auth=self.auth):
            return "signed in"

    async def call(self, tool):
        async with Client(RESOURCE, auth=self.auth) as client:
            return (await client.call_tool(tool, {})).content[0].text


async def main():
    agent = Agent()
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        try:
            answer = {"result": await getattr(agent, asked["method"])(**asked["params"])}
        except Exception as error:
            answer = {"error": {"message": repr(error)}}
        print(json.dumps({"id": asked["id"], **answer}), flush=True)


asyncio.run(main())
