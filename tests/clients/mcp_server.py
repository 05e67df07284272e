"""An MCP server that accepts access tokens issued for it. It verifies them with the issuer's published keys."""

import os
from urllib.parse import urlsplit

import anyio
import jwt
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

ISSUER, RESOURCE = os.environ["ISSUER"], f"{os.environ['RESOURCE_URL']}/mcp"
keys = jwt.PyJWKClient(f"{ISSUER}/oauth/jwks")


class ByPublishedKeys:
    def judge(self, token):
        key = keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, algorithms=["ES256"], issuer=ISSUER, audience=RESOURCE)

    async def verify_token(self, token):
        try:
            claims = await anyio.to_thread.run_sync(self.judge, token)
        except jwt.PyJWTError:
            return None
        scopes, expires_at = claims["scope"].split(), claims["exp"]
        return AccessToken(token=token, client_id=claims["client_id"], scopes=scopes, expires_at=expires_at, subject=claims["sub"])


settings = AuthSettings(
    issuer_url=ISSUER,
    resource_server_url=RESOURCE,
    required_scopes=["profile", "offline_access"],
    validate_token_resource=False,  # The audience is checked above.
)
server = MCPServer("who am I", token_verifier=ByPublishedKeys(), auth=settings)


@server.tool()
def whoami() -> str:
    """The user that the token belongs to."""
    return get_access_token().subject


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=urlsplit(RESOURCE).port)
