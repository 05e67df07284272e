"""The issuer as a client developer sees it: its URL, from which the rest is discovered, and registration."""

import json
from pathlib import Path

import httpx

REGISTRATIONS = json.loads((Path(__file__).parents[1] / "registrations.json").read_text())


class Issuer:
    def __init__(self, url):
        self.url = url.rstrip("/")
        self.metadata = httpx.get(f"{self.url}/.well-known/openid-configuration").raise_for_status().json()
        assert self.metadata["issuer"] == self.url, "the issuer is exactly the given URL"

    def register(self, redirect_uri, **metadata):
        """Registers a client and returns the server's response."""
        body = {"redirect_uris": [redirect_uri], "scope": "openid profile email offline_access", **metadata}
        answer = httpx.post(self.metadata["registration_endpoint"], json=body)
        assert answer.status_code == 201, f"registration: {answer.status_code} {answer.text}"
        return answer.json()

    def register_for(self, name, app, **metadata):
        """Registers an application at its URL as `countersign client create --for` does, with the same metadata."""
        known = json.loads(json.dumps(REGISTRATIONS[name]["client"]).replace("$APP", app))
        (redirect_uri,) = known.pop("redirect_uris")
        return self.register(redirect_uri, **known, **metadata)

    def userinfo(self, access_token):
        """The status of userinfo for this token."""
        url = self.metadata["userinfo_endpoint"]
        return httpx.get(url, headers={"authorization": f"Bearer {access_token}"}).status_code

    def revoke(self, client, token):
        """Revokes a token as the client (RFC 7009)."""
        form = {"token": token, "client_id": client["client_id"], "client_secret": client["client_secret"]}
        answer = httpx.post(self.metadata["revocation_endpoint"], data=form)
        assert answer.status_code == 200, f"revocation: {answer.status_code} {answer.text}"
