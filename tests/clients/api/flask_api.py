"""An API in Flask. PyJWT checks the token; the proof of its key is checked below, because PyJWT knows no DPoP."""

import base64
import functools
import hashlib
import hmac
import json
import os
import time

import flask
import jwt
import requests

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]
API_CLIENT = (os.environ.get("API_CLIENT_ID"), os.environ.get("API_CLIENT_SECRET"))
server = requests.get(f"{ISSUER}/.well-known/openid-configuration", timeout=10).json()
keys = jwt.PyJWKClient(server["jwks_uri"])
app = flask.Flask(__name__)

MEMBERS = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def thumbprint(jwk):
    """RFC 7638."""
    members = {name: jwk[name] for name in MEMBERS[jwk["kty"]]}
    return digest(json.dumps(members, sort_keys=True, separators=(",", ":")).encode())


def check_proof(token, jkt):
    """RFC 9449 section 4.3: this request was made by the holder of the key."""
    proof = flask.request.headers["DPoP"]
    header = jwt.get_unverified_header(proof)
    if header.get("typ") != "dpop+jwt" or "d" in header["jwk"]:
        raise jwt.InvalidTokenError("not a proof")
    claims = jwt.decode(proof, jwt.PyJWK(header["jwk"]).key, algorithms=["ES256", "EdDSA", "RS256"], options={"verify_iat": False})
    good = (
        hmac.compare_digest(thumbprint(header["jwk"]), jkt)
        and claims["htm"] == flask.request.method
        and claims["htu"] == RESOURCE.rstrip("/") + flask.request.path
        and claims["ath"] == digest(token.encode())
        and abs(time.time() - claims["iat"]) < 60
    )
    if not good:
        raise jwt.InvalidTokenError("the proof is for another key, token or request")


def still_counts(token):
    """Asks the server. Without it, a revoked token works until it expires."""
    answer = requests.post(server["introspection_endpoint"], data={"token": token}, auth=API_CLIENT, timeout=10)
    return answer.json()["active"]


def check(authorization):
    scheme, _, token = authorization.partition(" ")
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    key = keys.get_signing_key_from_jwt(token).key
    claims = jwt.decode(
        token, key, algorithms=["ES256", "EdDSA", "RS256"], audience=RESOURCE, issuer=ISSUER,
        options={"require": ["exp", "iat", "sub", "aud", "iss"]},
    )
    jkt = claims.get("cnf", {}).get("jkt")
    if scheme.lower() != ("dpop" if jkt else "bearer"):
        raise jwt.InvalidTokenError("a token that is bound to a key needs its proof")
    if jkt:
        check_proof(token, jkt)
    if API_CLIENT[0] and not still_counts(token):
        raise jwt.InvalidTokenError("revoked")
    return claims


def needs(scope):
    """Lets a request pass whose token has the scope."""

    def around(view):
        @functools.wraps(view)
        def judged():
            authorization = flask.request.headers.get("Authorization")
            if not authorization:
                return "", 401, {"WWW-Authenticate": "Bearer"}
            try:
                claims = check(authorization)
            except (jwt.PyJWTError, KeyError, TypeError, AttributeError, ValueError) as error:
                app.logger.info("%s", error)
                return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            if scope not in claims.get("scope", "").split(" "):
                return "", 403, {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}
            return view(claims["sub"])

        return judged

    return around


@app.get("/photos")
@needs("photos.read")
def photos(caller):
    return {"photos": [], "of": caller}


@app.delete("/photos")
@needs("photos.admin")
def delete(caller):
    return {"deleted": 0, "by": caller}


if __name__ == "__main__":
    app.run(port=int(os.environ["PORT"]))
