"""Streamlit's own sign-in (`st.login`, with Authlib). Its pages come through a WebSocket, which the judge uses too."""

import json
import secrets
import sys
from importlib.metadata import version
from urllib.parse import urljoin

from browser import Browser
from service import HERE, configure, folder, free_port, running
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

ROW = {
    "name": "Streamlit, st.login",
    "version": f"{version('streamlit')}, Authlib {version('Authlib')}",
    "auth": "client_secret_basic",
    "pkce": "S256",
    "alg": "ES256",
    "snippet": (HERE / "streamlit/secrets.toml").read_text(),
    "note": "reads the ID token and keeps no refresh token",
}


def drive(row, issuer):
    app = f"http://127.0.0.1:{(port := free_port())}"
    client = issuer.register_for("streamlit", app, client_name="Streamlit")
    with folder() as here:
        configure(
            here / ".streamlit", "streamlit", ["secrets.toml"], APP=app, ISSUER=issuer.url, CLIENT_ID=client["client_id"],
            CLIENT_SECRET=client["client_secret"], PASSPHRASE=secrets.token_hex(32),
        )
        command = [
            sys.executable, "-m", "streamlit", "run", str(HERE / "streamlit/app.py"), "--server.address=127.0.0.1", f"--server.port={port}",
            "--server.headless=true", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none",
        ]
        with running(command, here, f"{app}/_stcore/health"):
            judge(row, issuer, app, Browser(issuer.url))


def show(person, app, query=""):
    """Opens the page as the browser's script does; returns the text on it, or where it redirects to."""
    person.http.get(f"{app}/_stcore/health")
    cookies = {cookie.name: cookie.value for cookie in person.http.cookies.jar if cookie.domain.startswith("127.0.0.1")}
    header = "; ".join(f"{name}={value}" for name, value in cookies.items())
    ask = BackMsg()
    ask.rerun_script.query_string = query
    url = f"{app.replace('http', 'ws', 1)}/_stcore/stream"
    with connect(url, subprotocols=["streamlit", cookies["_streamlit_xsrf"]], origin=app, additional_headers={"cookie": header}) as socket:
        socket.send(ask.SerializeToString())
        text = None
        while True:
            told = ForwardMsg.FromString(socket.recv(timeout=30))
            kind = told.WhichOneof("type")
            if kind == "auth_redirect":
                return urljoin(app, told.auth_redirect.url)
            if kind == "delta" and told.delta.new_element.WhichOneof("type") == "exception":
                raise AssertionError(told.delta.new_element.exception.message)
            if kind == "delta" and told.delta.new_element.WhichOneof("type") == "text":
                text = told.delta.new_element.text.body
            if kind == "script_finished":
                return text


def judge(row, issuer, app, person):
    person.open(show(person, app))

    def claims():
        shown = show(person, app)
        assert shown and shown.startswith("{"), f"the page shows the claims, not {shown}"
        return json.loads(shown)

    def signed_in():
        assert claims()["is_logged_in"] is True

    def id_token():
        told = claims()
        assert told["iss"] == issuer.url and told["nonce"] == person.asked[0]["nonce"], told
        assert told["wallet_address"].lower() == person.wallet.address.lower(), told
        assert told["preferred_username"] == f"User_{told['sub'][:8]}", told

    def request():
        assert person.asked[0].get("code_challenge_method") == "S256", person.asked[0]
        assert person.asked[0].get("prompt") == "select_account", "Streamlit sends this by default"

    def logout():
        last = person.open(show(person, app, "leave=1"))
        assert str(last.url).rstrip("/") == app, f"{last.url}: {last.text[:400]}"
        assert any(url.startswith(issuer.metadata["end_session_endpoint"]) for url in person.visited), "the logout goes through the issuer"
        assert show(person, app).startswith(f"{app}/auth/login"), "the page asks to sign in again"

    row.check("a wallet opens the page", signed_in, "login")
    row.check("PKCE is used, and prompt=select_account is accepted", request, "login")
    row.check("the ID token is accepted and contains the wallet", id_token, "id_token")
    row.check("logging out goes through the issuer and comes back", logout, "logout")
