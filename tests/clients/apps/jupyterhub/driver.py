"""JupyterHub with GenericOAuthenticator. Its proxy is started here, so that both stop together."""

import re
import secrets
import sys
import time
from contextlib import contextmanager
from importlib.metadata import version
from urllib.parse import quote

import httpx
from browser import Browser
from service import HERE, configure, folder, free_port, running

PROXY = HERE / "node_modules/configurable-http-proxy/bin/configurable-http-proxy"

ROW = {
    "name": "JupyterHub, GenericOAuthenticator",
    "version": f"{version('jupyterhub')}, {version('oauthenticator')}",
    "auth": "client_secret_post",
    "pkce": "S256",
    "alg": "",
    "snippet": (HERE / "jupyterhub/openid.py").read_text(),
    "note": "asks userinfo instead of reading the ID token",
}


def drive(row, issuer):
    app = f"http://127.0.0.1:{(port := free_port())}"
    client = issuer.register_for("jupyterhub", app, client_name="JupyterHub")
    with serving(issuer, client, port) as token:
        judge(row, issuer, client, app, token)


def drive_groups(row, issuer, client, wallets):
    app = f"http://127.0.0.1:{(port := free_port())}"
    with serving(issuer, client, port, "groups.py") as token:
        pages = {name: Browser(issuer.url, wallet).open(f"{app}/hub/oauth_login?next=%2Fhub%2Fhome") for name, wallet in wallets.items()}
        answer = httpx.get(f"{app}/hub/api/users", headers={"authorization": f"token {token}"})
        roles = sorted((user["admin"], sorted(user["groups"])) for user in answer.json())

        def compare():
            statuses = {name: page.status_code for name, page in pages.items()}
            assert statuses == {"admin": 200, "staff": 200, "other": 403}, statuses
            assert roles == [(False, ["staff"]), (True, ["admins", "staff"])], roles

        row.check("staff and administrators come in with their roles and groups, others do not", compare)


@contextmanager
def serving(issuer, client, port, *more):
    """The hub and its proxy, with more files of settings. The value is a token for the hub's own interface."""
    hub_port, proxy_port = free_port(), free_port()
    app = f"http://127.0.0.1:{port}"
    api_token, proxy_token = secrets.token_hex(16), secrets.token_hex(16)
    with folder() as here, folder() as beside:
        configure(
            here, "jupyterhub", ["jupyterhub_config.py", "openid.py", *more], FOLDER=here, APP=app, ISSUER=issuer.url, HUB_PORT=hub_port,
            PROXY_PORT=proxy_port, PROXY_TOKEN=proxy_token, CLIENT_ID=client["client_id"], CLIENT_SECRET=client["client_secret"],
            PASSPHRASE=secrets.token_hex(32), API_TOKEN=api_token, MORE=" ".join(more),
        )
        listens = ["--ip", "127.0.0.1", "--port", str(port), "--api-ip", "127.0.0.1", "--api-port", str(proxy_port)]
        proxy = ["node", str(PROXY), *listens, "--error-target", f"http://127.0.0.1:{hub_port}/hub/error"]
        hub = [sys.executable, "-m", "jupyterhub", "-f", str(here / "jupyterhub_config.py")]
        with running(proxy, beside, None, {"CONFIGPROXY_AUTH_TOKEN": proxy_token}), running(hub, here, f"{app}/hub/health"):
            yield api_token


def judge(row, issuer, client, app, token):
    person = Browser(issuer.url)
    page = person.open(f"{app}/hub/oauth_login?next=%2Fhub%2Fhome")

    def name_on(page):
        assert page.status_code == 200 and str(page.url) == f"{app}/hub/home", f"{page.status_code} {page.url}: {page.text[:400]}"
        return re.search(r"<span[^>]*>\s*(user_[0-9a-f]{8})\s*<", page.text)[1]

    def known():
        answer = httpx.get(f"{app}/hub/api/users/{quote(name)}", headers={"authorization": f"token {token}"})
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        return answer.json()["auth_state"]

    def userinfo():
        told = known()["oauth_user"]
        assert told["wallet_address"].lower() == person.wallet.address.lower(), told
        assert told["preferred_username"].lower() == name

    def refresh():
        before = known()["access_token"]
        issuer.revoke(client, before)
        time.sleep(1.1)
        assert name_on(person.open(f"{app}/hub/home")) == name
        after = known()["access_token"]
        assert after != before and issuer.userinfo(after) == 200, "the hub got a new access token"
        assert len(person.asked) == 1, "the user was not asked to sign in again"

    def logout():
        asks = person.open(f"{app}/hub/logout")
        last = person.press(asks, issuer.metadata["end_session_endpoint"])
        assert str(last.url).startswith(f"{app}/hub/"), f"{last.url}: {last.text[:400]}"
        assert person.http.get(f"{app}/hub/home").is_redirect, "the hub asks to sign in again"

    def same_wallet():
        assert name_on(Browser(issuer.url, person.wallet).open(f"{app}/hub/oauth_login?next=%2Fhub%2Fhome")) == name
        assert name_on(Browser(issuer.url).open(f"{app}/hub/oauth_login?next=%2Fhub%2Fhome")) != name

    def pkce():
        assert person.asked[0].get("code_challenge_method") == "S256", person.asked[0]

    name = row.check("a wallet opens the hub", lambda: name_on(page), "login")
    row.check("PKCE is used", pkce)
    row.check("the hub knows the wallet from userinfo", userinfo, "userinfo")
    row.check("a revoked access token is replaced by a refresh, without a new sign-in", refresh, "refresh")
    row.check("logging out ends the session at the issuer too and comes back", logout, "logout")
    row.check("the same wallet is the same user in another browser, and another wallet is not", same_wallet, "login")
