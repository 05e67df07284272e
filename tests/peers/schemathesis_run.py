"""Checks with schemathesis that the server does what its own description says, for valid and invalid requests.

    .venv/bin/python schemathesis_run.py http://localhost:8080

It signs in first, so that the bearer token that the description requires is a real one.
"""

import os
import subprocess
import sys
from pathlib import Path

from eth_account import Account
from sign_with_eth_account import BASE, Visit, request, sign

HERE = Path(__file__).parent


def access_token():
    """A token that is valid for an hour, from a new sign-in."""
    client = request(
        "POST",
        "/oauth/clients",
        {"client_name": "Peers: schemathesis", "redirect_uris": ["https://client.example/cb"], "scopes": ["profile"]},
    )
    assert client.status == 201, client.text
    account = Account.create()
    visit = Visit(client.json, account.address)
    return visit.tokens(visit.login(sign(account, visit.text).signature.hex()))["access_token"]


def main():
    finished = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            f"--config-file={HERE / 'schemathesis.toml'}",
            "run",
            f"{BASE}/openapi.json",
        ],
        env={**os.environ, "COUNTERSIGN_TOKEN": access_token()},
        cwd=HERE.parents[1] / "target",  # It writes files into its working directory.
        check=False,
    )
    print(f"{int(finished.returncode == 0)} passed, {int(finished.returncode != 0)} failed")
    sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
