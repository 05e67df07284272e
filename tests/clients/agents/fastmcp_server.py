"""An MCP server with FastMCP that accepts access tokens issued for it. It verifies them with the issuer's published keys."""

import os
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

ISSUER, RESOURCE_URL = os.environ["ISSUER"], os.environ["RESOURCE_URL"]

# Access tokens are ES256. JWTVerifier expects RS256 unless you say so, and then refuses all of them.
verifier = JWTVerifier(jwks_uri=f"{ISSUER}/oauth/jwks", issuer=ISSUER, audience=f"{RESOURCE_URL}/mcp", algorithm="ES256")
server = FastMCP("notes", auth=RemoteAuthProvider(verifier, authorization_servers=[ISSUER], base_url=RESOURCE_URL))


@server.tool
def whoami() -> str:
    """The user that the token belongs to."""
    return get_access_token().claims["sub"]


@server.tool(auth=require_scopes("notes.write"))
def write_note() -> str:
    """Writes a note."""
    return f"written for {get_access_token().claims['sub']}"


server.run(transport="http", host="127.0.0.1", port=urlsplit(RESOURCE_URL).port)
