"""matrix-synapse, with the judge's own chat client, which signs in through the homeserver."""

import secrets
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.metadata import version
from urllib.parse import parse_qs, quote, urlsplit

import httpx
from browser import Browser
from service import HERE, configure, folder, free_port, running

CHAT = "http://127.0.0.1:9/chat"

ROW = {
    "name": "Synapse (Matrix)",
    "version": version("matrix-synapse"),
    "auth": "client_secret_basic",
    "pkce": "S256",
    "alg": "EdDSA",
    "snippet": (HERE / "synapse/openid.yaml").read_text(),
    "note": "logout: the back channel; a homeserver keeps no refresh token",
}


def drive(row, issuer):
    app = f"http://127.0.0.1:{(port := free_port())}"
    client = issuer.register_for("synapse", app, client_name="Matrix")
    with serving(issuer, client, port):
        judge(row, issuer, app)


def drive_groups(row, issuer, client, wallets):
    app = f"http://127.0.0.1:{(port := free_port())}"
    with serving(issuer, client, port, (HERE / "synapse/groups.yaml").read_text()):
        for name in ("admin", "staff"):
            row.check(f"{name} comes in", lambda: sign_in(Browser(issuer.url, wallets[name]), app))  # noqa: B023

        def keeps_out():
            page = arrive(Browser(issuer.url, wallets["other"]), app)
            assert page.status_code == 400 and "You are not allowed to log in here" in page.text, f"{page.status_code} {page.url}: {page.text}"

        row.check("others do not come in", keeps_out)


@contextmanager
def serving(issuer, client, port, more=""):
    """A homeserver at this port, with more settings of its provider."""
    app = f"http://127.0.0.1:{port}"
    with folder() as here:
        configure(
            here, "synapse", ["homeserver.yaml", "openid.yaml"], FOLDER=here, APP=app, PORT=port, ISSUER=issuer.url, CHAT=CHAT,
            CLIENT_ID=client["client_id"], CLIENT_SECRET=client["client_secret"], PASSPHRASE=secrets.token_hex(16),
        )
        if more:
            settings = (here / "openid.yaml").read_text()
            (here / "openid.yaml").write_text(settings.replace('"profile"]', '"profile", "groups"]') + more)
        command = [sys.executable, "-m", "synapse.app.homeserver", "-c", "homeserver.yaml", "-c", "openid.yaml"]
        subprocess.run([*command, "--generate-keys"], cwd=here, check=True, capture_output=True)
        with running(command, here, f"{app}/_matrix/client/versions"):
            yield


def arrive(person, app):
    """Signs in through the homeserver. Returns where that leads: a page, or the chat client's address with a token."""
    ways = httpx.get(f"{app}/_matrix/client/v3/login").json()["flows"]
    way = next(flow for flow in ways if flow["type"] == "m.login.sso")["identity_providers"][0]["id"]
    return person.open(f"{app}/_matrix/client/v3/login/sso/redirect/{way}?redirectUrl={quote(CHAT, safe='')}", until=CHAT)


def sign_in(person, app):
    """Signs in through the homeserver, and redeems its token."""
    back = arrive(person, app)
    assert isinstance(back, str), f"{back.status_code} {back.url}: {back.text[:600]}"
    token = parse_qs(urlsplit(back).query)["loginToken"][0]
    answer = httpx.post(f"{app}/_matrix/client/v3/login", json={"type": "m.login.token", "token": token})
    assert answer.status_code == 200, answer.text
    return answer.json()


def judge(row, issuer, app):
    person = Browser(issuer.url)
    session = sign_in(person, app)

    def whoami():
        return httpx.get(f"{app}/_matrix/client/v3/account/whoami", headers={"authorization": f"Bearer {session['access_token']}"})

    def signed_in():
        answer = whoami()
        assert answer.status_code == 200 and answer.json()["user_id"] == session["user_id"], answer.text
        assert session["user_id"].startswith("@user_"), session["user_id"]

    def wallet():
        assert session["wallet"].lower() == person.wallet.address.lower(), session

    def request():
        assert person.asked[0].get("code_challenge_method") == "S256" and person.asked[0].get("nonce"), person.asked[0]

    def same_wallet():
        assert sign_in(Browser(issuer.url, person.wallet), app)["user_id"] == session["user_id"]
        assert sign_in(Browser(issuer.url), app)["user_id"] != session["user_id"]

    def back_channel():
        person.log_out_at_issuer()
        deadline = time.monotonic() + 10
        while whoami().status_code != 401:
            assert time.monotonic() < deadline, "the homeserver was not told"
            time.sleep(0.2)

    row.check("a wallet signs in, and the homeserver knows who it is", signed_in, "login")
    row.check("PKCE and a nonce are used", request)
    row.check("the ID token was accepted and contains the wallet", wallet, "id_token")
    row.check("the same wallet is the same user in another browser, and another wallet is not", same_wallet, "login")
    row.check("logging out at the issuer ends the session at the homeserver", back_channel, "logout")
