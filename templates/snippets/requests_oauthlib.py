"""Signs people in by requests-oauthlib, in a Flask application."""

import os
import secrets
from urllib.parse import urlsplit

from flask import Flask, abort, jsonify, redirect, request, session
from requests_oauthlib import OAuth2Session

ISSUER = "%ISSUER%"
REDIRECT_URI = "%REDIRECT_URI%"
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # Plain http is for your own computer only. [http]

app = Flask(__name__)
app.secret_key = secrets.token_hex()
started = {}  # The library keeps the PKCE verifier in its own session: one for each sign-in, by its state.


@app.get("/")
def sign_in():
    client = OAuth2Session("%CLIENT_ID%", redirect_uri=REDIRECT_URI, scope="%SCOPE%", pkce="S256")
    target, session["state"] = client.authorization_url(f"{ISSUER}/oauth/authorize")
    started[session["state"]] = client
    return redirect(target)


@app.get(urlsplit(REDIRECT_URI).path)
def come_back():
    client = started.pop(session.pop("state", None), None)
    if client is None or request.args.get("iss") != ISSUER:
        abort(400, "This answer is not for you.")
    client.fetch_token(  # It checks the state.
        f"{ISSUER}/oauth/token",
        authorization_response=request.url,
        client_secret="%CLIENT_SECRET%",  # [confidential]
        include_client_id=True,
    )
    response = client.get(f"{ISSUER}/oauth/userinfo")
    response.raise_for_status()
    return jsonify(response.json())


if __name__ == "__main__":
    app.run(host=urlsplit(REDIRECT_URI).hostname, port=urlsplit(REDIRECT_URI).port)
