"""Checks with Python's wallet library and sign-in parser: eth-account signs, `siwe` (with its ABNF grammar) parses.

    .venv/bin/python sign_with_eth_account.py http://localhost:8080
"""

import base64
import http.client
import json
import secrets
import sys
import traceback
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from eth_account import Account
from eth_account.messages import encode_defunct
from siwe import SiweMessage

BASE = sys.argv[1].rstrip("/")
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
REDIRECT_URI = "https://client.example/cb"
BAD_SIGNATURE = (401, "access_denied", "Failed to verify signature")
BAD_CHALLENGE = (401, "access_denied", "Challenge is not valid or has expired")


class Answer:
    """A response: status, headers, text, and its JSON, if there is any."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        try:
            self.json = json.loads(self.text)
        except ValueError:
            self.json = None


def request(method, path, body=None, cookies=None, headers=None):
    """Sends one request and follows no redirect. A dict is JSON, a str is a form."""
    at = urlsplit(BASE)
    headers = dict(headers or {})
    if isinstance(body, dict):
        body, headers["Content-Type"] = json.dumps(body), "application/json"
    elif body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
    connection = kind(at.hostname, at.port, timeout=30)
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = Answer(connection.getresponse())
    finally:
        connection.close()
    if cookies is not None:
        for line in answer.headers.get_all("Set-Cookie") or []:
            for name, morsel in SimpleCookie(line).items():
                cookies[name] = morsel.value
    return answer


class Visit:
    """A browser that a client has sent to the server, with a text to sign."""

    def __init__(self, client, address):
        self.client, self.address, self.cookies = client, address, {}
        self.fields = {
            "client_id": client["client_id"],
            "redirect_uri": REDIRECT_URI,
            "state": secrets.token_urlsafe(12),
        }
        query = urlencode({**self.fields, "response_type": "code", "scope": "profile"})
        started = request("GET", f"/oauth/authorize?{query}", cookies=self.cookies)
        assert started.status == 302, started.text
        issued = request("POST", "/oauth/challenge", {"wallet_address": address, **self.fields}, self.cookies)
        assert issued.status == 200, issued.text
        self.text = issued.json["challenge"]

    def login(self, signature, text=None, address=None):
        body = {
            "wallet_address": address or self.address,
            "challenge": text or self.text,
            "signature": signature,
            **self.fields,
        }
        return request("POST", "/oauth/login", body, self.cookies, {"Accept": "application/json"})

    def tokens(self, answer):
        """Takes the code from the response to a login and exchanges it."""
        assert answer.status == 200, answer.text
        query = parse_qs(urlsplit(answer.json["redirect_to"]).query)
        assert query["state"] == [self.fields["state"]] and query["iss"] == [BASE], query
        form = {
            "grant_type": "authorization_code",
            "code": query["code"][0],
            "redirect_uri": REDIRECT_URI,
            "client_id": self.client["client_id"],
            "client_secret": self.client["client_secret"],
        }
        tokens = request("POST", "/oauth/token", urlencode(form))
        assert tokens.status == 200, tokens.text
        return tokens.json

    def user(self, answer):
        """Exchanges the code and returns who signed in."""
        bearer = {"Authorization": f"Bearer {self.tokens(answer)['access_token']}"}
        info = request("GET", "/oauth/userinfo", headers=bearer)
        assert info.status == 200, info.text
        return info.json


def refused(answer, status, error, description):
    """Expects a refusal: status, code and description, and no redirect to the client."""
    assert answer.status == status, (answer.status, answer.text)
    assert answer.json["error"] == error, answer.text
    assert answer.json["error_description"] == description, answer.text
    assert answer.headers["Location"] is None and "redirect_to" not in answer.json


def sign(account, text):
    """Signs a text as a wallet does with personal_sign."""
    return account.sign_message(encode_defunct(text=text))


def parts(signed):
    return signed.r.to_bytes(32, "big"), signed.s.to_bytes(32, "big"), bytes([signed.v])


def high_s(signed):
    """The other signature of the same text by the same key, with a high s. eth-account recovers the signer from it."""
    r, _, _ = parts(signed)
    return r + (ORDER - signed.s).to_bytes(32, "big") + bytes([55 - signed.v])


CHECKS = []


def check(claim):
    def keep(body):
        CHECKS.append((claim, body))
        return body

    return keep


account, other = Account.create(), Account.create()
subjects = set()


@check("the text parses with Python's siwe, and siwe serializes it to the same text")
def _(client):
    visit = Visit(client, account.address)
    read = SiweMessage.from_message(visit.text)
    assert read.prepare_message() == visit.text
    assert (read.domain, str(read.uri), read.chain_id) == (urlsplit(BASE).netloc, f"{BASE}/oauth/login", 1)
    assert read.address == account.address


@check("siwe's own verification agrees, and refuses another domain")
def _(client):
    visit = Visit(client, account.address)
    read = SiweMessage.from_message(visit.text)
    signature = sign(account, visit.text).signature.hex()
    read.verify(signature, domain=urlsplit(BASE).netloc, nonce=read.nonce)
    try:
        read.verify(signature, domain="evil.example")
    except Exception:
        return
    raise AssertionError("the domain was not checked")


def spelled(name, spell):
    @check(f"a signature by eth-account, {name}, logs in, and its code can be exchanged")
    def _(client):
        visit = Visit(client, account.address)
        user = visit.user(visit.login(spell(sign(account, visit.text).signature)))
        assert user["address"] == account.address, user
        subjects.add(user["sub"])


spelled("hex", lambda raw: raw.hex().removeprefix("0x"))
spelled("hex with 0x", lambda raw: "0x" + raw.hex().removeprefix("0x"))
spelled("base64", lambda raw: base64.b64encode(raw).decode())
spelled("base64url", lambda raw: base64.urlsafe_b64encode(raw).decode())


@check("all of these sign-ins were one user")
def _(_client):
    assert len(subjects) == 1, subjects


def forged(name, forge):
    @check(f"a signature {name} is refused")
    def _(client):
        visit = Visit(client, account.address)
        refused(visit.login("0x" + forge(sign(account, visit.text)).hex()), *BAD_SIGNATURE)


forged("with a high s, which eth-account itself accepts (B-022)", high_s)
forged("with the v of a transaction, 35 or 36 (B-021)", lambda s: b"".join(parts(s)[:2]) + bytes([s.v + 8]))
forged("with the other v", lambda s: b"".join(parts(s)[:2]) + bytes([55 - s.v]))
forged("one byte too short (B-024)", lambda s: b"".join(parts(s))[:-1])
forged("one byte too long (B-024)", lambda s: b"".join(parts(s)) + b"\x00")
forged("with r and s swapped", lambda s: parts(s)[1] + parts(s)[0] + parts(s)[2])


@check("eth-account recovers the account from the signature with the high s above")
def _(client):
    visit = Visit(client, account.address)
    raw = high_s(sign(account, visit.text))
    assert Account.recover_message(encode_defunct(text=visit.text), signature=raw) == account.address


@check("a signature of another text is refused")
def _(client):
    visit = Visit(client, account.address)
    refused(visit.login(sign(account, visit.text + "\n").signature.hex()), *BAD_SIGNATURE)


@check("a signature by another account is refused, for either address")
def _(client):
    visit = Visit(client, account.address)
    signature = sign(other, visit.text).signature.hex()
    refused(visit.login(signature), *BAD_SIGNATURE)
    refused(visit.login(signature, address=other.address), *BAD_CHALLENGE)


@check("a text that was never issued is refused, even with a valid signature")
def _(client):
    visit = Visit(client, account.address)
    text = visit.text.replace("client.example", "evil.example")
    refused(visit.login(sign(account, text).signature.hex(), text=text), *BAD_CHALLENGE)


@check("a used text is refused")
def _(client):
    visit = Visit(client, account.address)
    signature, before = sign(account, visit.text).signature.hex(), dict(visit.cookies)
    visit.user(visit.login(signature))
    visit.cookies = before
    refused(visit.login(signature), *BAD_CHALLENGE)


def main():
    registered = request(
        "POST",
        "/oauth/clients",
        {"client_name": "Peers: eth-account", "redirect_uris": [REDIRECT_URI], "scopes": ["profile"]},
    )
    assert registered.status == 201, registered.text
    failed = 0
    for claim, body in CHECKS:
        try:
            body(registered.json)
            print(f"ok      {claim}")
        except Exception:
            failed += 1
            print(f"FAILED  {claim}")
            print("        " + "\n        ".join(traceback.format_exc().splitlines()[-6:]))
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
