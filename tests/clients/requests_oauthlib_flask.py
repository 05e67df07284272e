"""Signs users in with requests-oauthlib, in a Flask application. It only knows OAuth 2.0, so userinfo says who signed in."""

import os
import secrets
from urllib.parse import urlsplit

from flask import Flask, abort, jsonify, redirect, request, session
from requests_oauthlib import OAuth2Session

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]
CLIENT = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # Use plain http only on your own computer.

app = Flask(__name__)
app.secret_key = secrets.token_hex()
started, signed_in = {}, {}  # A real application would use a database. The library keeps the PKCE verifier in its session.


@app.get("/login")
def login():
    scope = ["profile", "email", "offline_access"]
    client = OAuth2Session(CLIENT["client_id"], redirect_uri=f"{APP_URL}/callback", scope=scope, pkce="S256")
    target, session["state"] = client.authorization_url(f"{ISSUER}/oauth/authorize")
    started[session["state"]] = client
    return redirect(target)


@app.get("/callback")
def callback():
    client = started.pop(session.pop("state", None), None)
    if client is None or request.args.get("iss") != ISSUER:
        abort(400, "This response belongs to another sign-in.")
    client.fetch_token(  # It checks the state.
        f"{ISSUER}/oauth/token",
        authorization_response=request.url,
        client_secret=CLIENT["client_secret"],
        include_client_id=True,
    )
    session["visit"] = secrets.token_urlsafe()
    signed_in[session["visit"]] = client
    return redirect("/")


@app.get("/userinfo")
def userinfo():
    response = signed_in[session["visit"]].get(f"{ISSUER}/oauth/userinfo")
    return jsonify(response.json()), response.status_code


@app.get("/refresh")
def refresh():
    signed_in[session["visit"]].refresh_token(f"{ISSUER}/oauth/token", **CLIENT)
    return redirect("/")


@app.get("/")  # For the test only. Your application should not show tokens.
def index():
    client = signed_in.get(session.get("visit"))
    return jsonify({"tokens": client.token} if client else {}), 200 if client else 401


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=urlsplit(APP_URL).port)
