"""Signs people in by Authlib, in a Flask application. It finds the endpoints by the server's metadata."""

import secrets
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify

REDIRECT_URI = "%REDIRECT_URI%"
METADATA = "%ISSUER%/.well-known/oauth-authorization-server"

app = Flask(__name__)
app.secret_key = secrets.token_hex()
countersign = OAuth(app).register(
    "countersign",
    client_id="%CLIENT_ID%",
    client_secret="%CLIENT_SECRET%",  # [confidential]
    server_metadata_url=METADATA,
    client_kwargs={
        "scope": "%SCOPE%",
        "code_challenge_method": "S256",
        "token_endpoint_auth_method": "client_secret_post",  # [confidential]
        "token_endpoint_auth_method": "none",  # [public]
    },
)


@app.get("/")
def sign_in():
    return countersign.authorize_redirect(REDIRECT_URI)


@app.get(urlsplit(REDIRECT_URI).path)
def come_back():
    token = countersign.authorize_access_token()
    endpoint = countersign.load_server_metadata()["userinfo_endpoint"]
    response = countersign.get(endpoint, token=token)
    response.raise_for_status()
    return jsonify(response.json())


if __name__ == "__main__":
    app.run(host=urlsplit(REDIRECT_URI).hostname, port=urlsplit(REDIRECT_URI).port)
