"""Turns the test vectors into seeds for the fuzz targets: fuzz/seeds.py FOLDER, from the root of the project.

The vectors of all families are read the same way: every field that is named as an address, a chain, a text or a signature becomes a
seed. Most seeds are nothing new to the fuzzer. `make fuzz-corpus` keeps those that are, and all seeds at a limit, because from
there the fuzzer needs only one small step to cross it.
"""

import base64
import hashlib
import json
import pathlib
import sys

VECTORS = pathlib.Path("tests/vectors")
# The prefix that picks the row of the family's table for a signature, or the family and row for a text: see `pick` in signature.rs.
ROWS = "0123456789"
FAMILIES = "01234567"
# Targets that also use the vectors of another folder.
ALSO = {"bitcoin": ["coins"], "ethereum": ["tron"]}
LENGTHS = "0123"


def objects(value):
    """Every object of a JSON document, at any depth."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from objects(inner)


def texts(row, *names):
    """The strings in the fields with these names, one by one."""
    for name in names:
        found = row.get(name)
        yield from (item for item in (found if isinstance(found, list) else [found]) if isinstance(item, str))


def rows(folder):
    """Every object of every file of a family, or of all families."""
    for file in sorted((VECTORS / folder).glob("*.json")):
        yield from objects(json.loads(file.read_text()))


def wallet_seeds():
    families = sorted(folder.name for folder in VECTORS.iterdir() if folder.is_dir())
    for family in families:
        for row in rows(family):
            chains = list(texts(row, "chain"))
            for address in texts(row, "address", "signer", "account"):
                yield "address", address
                for chain in chains:
                    yield "address", f"{address}\n{chain}"
                    yield "address", f"{chain}:{address}"
            signatures = list(texts(row, "signature", "sig", "bip322_signatures", "answer"))
            for signature in signatures:
                for target in [family, *ALSO.get(family, [])]:
                    yield from ((f"signature_{target}", choice + signature) for choice in ROWS)
                for choice in LENGTHS:
                    yield "signature_bytes", choice + signature
            if signatures:
                for text in texts(row, "text", "message"):
                    for choice in FAMILIES:
                        yield "signed_text", f"{choice}0{text}"
                        yield "signed_text", f"{choice}1{text}"


def oauth_seeds():
    for row in rows("oauth"):
        for uri in texts(row, "redirect_uri", "registered"):
            yield "redirect_uri", uri
            yield "public_url", uri
            yield "registration", f"redirect_uris={uri}"
            for requested in texts(row, "requested"):
                yield "redirect_uri", f"{uri}\n{requested}"
        for state in texts(row, "state"):
            yield "redirect_uri", f"https://client.example/cb?a=b\n{state}"
        if "field" in row and isinstance(row.get("value"), str):
            yield "registration", f"{row['field']}={row['value']}"
            yield "public_url", row["value"]
        for value in texts(row, "code_verifier", "code_challenge", "method", "requested", "client_id", "client_secret"):
            yield "values", value
    # One of each field, and of each value that the vectors do not contain.
    yield "registration", "\n".join([
        "scopes=openid", "scopes=email", "scope=openid email", "response_types=code", "grant_types=refresh_token",
        "grant_types=authorization_code", "token_endpoint_auth_method=client_secret_basic", "contacts=a@b.example",
        "jwks={}", "application_type=native", "id_token_signed_response_alg=ES256",
        "post_logout_redirect_uris=com.example.app:/out", "client_uri=https://a.example/", "logo_uri=http://127.0.0.1/",
    ])
    yield "registration", "no_redirect_uris\njwks_uri=https://a.example/jwks\njwks={}"
    yield "public_url", "https://auth.example.com:8443/a/b"
    yield "public_url", "http://[::1]:8080"
    for value in ["openid profile email offline_access", "authorization_code", "refresh_token", "operator", "none",
                  "018f3b6e-0000-7000-8000-00000000002a", "0123abcd" * 8, "eip155:1:0xabc", "a%20b%", "A" * 43 + "="]:
        yield "values", value
    # {"jti":"018f3b6e-0000-7000-8000-00000000002a"} and 64 bytes.
    yield "token", "eyJqdGkiOiIwMThmM2I2ZS0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMmEifQ." + "A" * 86
    for row in rows("jose"):
        for token in texts(row, "jws"):
            yield "token", token
            yield "token", token.partition(".")[2]


def limit_seeds():
    """The longest and the most values that are accepted, and similar values that must not be confused."""
    uri = "https://client.example/"
    yield "registration", "client_name=" + "ab " * 33 + "c"
    yield "registration", "client_name=\U0001f980" * 2 + "\U0001f980" * 99
    yield "registration", "contacts=" + "a" * 246 + "@b.c.de"
    yield "registration", "\n".join(["contacts=a@b.example"] * 10)
    yield "registration", "\n".join(f"redirect_uris={uri}{number}" for number in range(19))
    yield "registration", "\n".join(f"post_logout_redirect_uris={uri}{number}" for number in range(20))
    yield "registration", f"client_uri={uri}".ljust(2048 + len("client_uri="), "a")
    yield "redirect_uri", uri.ljust(2048, "a")
    for loopback in ["http://127.0.0.1", "http://[::1]", "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost"]:
        for port in [":80", ":65535", ""]:
            yield "redirect_uri", f"{loopback}/cb?a=b\n{port}"
    yield "redirect_uri", "com.example.app:/cb?a=b#\n&code=x"
    yield "redirect_uri", "com.example.app://@"
    yield "values", "openid " * 73
    yield "values", "-._~" * 32
    yield "values", "a" * 43
    yield "values", "A" * 64
    yield "values", "::"
    for length, size in zip(LENGTHS, [64, 65, 96, 33]):
        yield "signature_bytes", length + "fb" * size
        yield "signature_bytes", length + "0x" + "FB" * size
        yield "signature_bytes", length + base64.b64encode(b"\xfb" * size).decode()
        yield "signature_bytes", length + base64.urlsafe_b64encode(b"\xfb" * size).decode().rstrip("=")
    # Every form, valid and invalid, of the signatures in the family's table.
    for family, choice in [("ethereum", "1"), ("solana", "0")]:
        for row in rows(family):
            if str(row.get("name")).endswith("#0"):
                yield from ((f"signature_{family}", choice + signature) for signature in texts(row, "signature"))


def main(folder):
    for name, seeds in [("", [*wallet_seeds(), *oauth_seeds()]), ("limit-", limit_seeds())]:
        for target, seed in seeds:
            data = seed.encode("utf-8", "surrogatepass")
            place = folder / target
            place.mkdir(parents=True, exist_ok=True)
            (place / (name + hashlib.sha1(data).hexdigest())).write_bytes(data)


main(pathlib.Path(sys.argv[1]))
