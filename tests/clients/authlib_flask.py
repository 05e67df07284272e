"""Signs users in with Authlib, in a Flask application. It only needs the issuer's URL."""

import os
import secrets
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, jsonify, redirect, session

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]
app = Flask(__name__)
app.secret_key = secrets.token_hex()
signed_in = {}  # A real application would use a database.

oauth = OAuth(app)
countersign = oauth.register(
    "countersign",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)


@app.get("/login")
def login():
    return countersign.authorize_redirect(f"{APP_URL}/callback")


@app.get("/callback")
def callback():
    tokens = countersign.authorize_access_token()
    session["visit"] = secrets.token_urlsafe()
    signed_in[session["visit"]] = {"claims": tokens.pop("userinfo"), "tokens": tokens}
    return redirect("/")


@app.get("/userinfo")
def userinfo():
    return jsonify(countersign.userinfo(token=signed_in[session["visit"]]["tokens"]))


@app.get("/refresh")
def refresh():
    visit = signed_in[session["visit"]]
    fresh = countersign.fetch_access_token(grant_type="refresh_token", refresh_token=visit["tokens"]["refresh_token"])
    visit["tokens"] = {**visit["tokens"], **fresh}
    return redirect("/")


@app.get("/revoke")
def revoke():
    client = OAuth2Session(countersign.client_id, countersign.client_secret)
    endpoint = countersign.load_server_metadata()["revocation_endpoint"]
    client.revoke_token(endpoint, signed_in[session["visit"]]["tokens"]["refresh_token"]).raise_for_status()
    return redirect("/")


@app.get("/logout")
def logout():
    tokens = signed_in.pop(session.pop("visit"))["tokens"]
    return redirect(countersign.create_logout_url(f"{APP_URL}/", tokens["id_token"])["url"])


@app.get("/")  # For the test only. Your application should not show tokens.
def index():
    visit = signed_in.get(session.get("visit"))
    return jsonify(visit or {}), 200 if visit else 401


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=urlsplit(APP_URL).port)
