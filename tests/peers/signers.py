"""Signatures made by Python's wallet libraries, checked with `countersign challenge verify`: eth-account, btclib and PyNaCl.

    .venv/bin/python signers.py ../../target/debug/countersign

All of them must be valid, and none after the smallest change, for another address or for an address of another family.
"""

import base64
import hashlib
import json
import subprocess
import sys

from btclib.b32 import p2wpkh
from btclib.b58 import p2pkh, p2wpkh_p2sh
from btclib.ecc import bms
from btclib.key import PrvKeyData, PubKeyData
from ecc.curves import bytes_from_prv_key_int, secp256k1
from eth_account import Account
from eth_account.messages import encode_defunct
from nacl.signing import SigningKey

KEYS = 3
SIGNERS = {}
TEXTS = {
    "sign-in": """auth.example.com wants you to sign in with your {kind} account:
{address}

Sign in to https://client.example, which asks for: profile, email. If you did not start this, reject it.

URI: https://auth.example.com/oauth/login
Version: 1
Chain ID: {chain_id}
Nonce: d79bce1ccdcec64ea199be7b
Issued At: 2026-01-01T00:00:00Z
Expiration Time: 2026-01-01T00:05:00Z
Request ID: 0b4c9c3e-9f8e-4d2a-8a53-5f0a4f6d3c21
Resources:
- https://client.example
- urn:countersign:client:6f1e2b1c-7a1d-4f5e-9f59-2a4d9c0f7e11
- urn:countersign:scope:profile
- urn:countersign:scope:email""",
    "Unicode": "Grüße, Ελλάδα, 日本語 🦀 — e\u0301 <\"&\\> \u200d",
    "short": "Hello",
}


def signer(name, kind, chain_id):
    """Registers a function from a 32-byte key to an address, a signing function, and the encoding of the signature."""

    def keep(make):
        SIGNERS[name] = (kind, chain_id, make)
        return make

    return keep


def seed(name, number):
    """32 bytes that are the same in every run and different for each name and number."""
    return hashlib.sha256(f"countersign signers.py {name} {number}".encode()).digest()


def base64_of(data):
    return base64.b64encode(data).decode()


def base58_of(data):
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = alphabet[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


@signer("eth-account sign_message", "Ethereum", "1")
def _(key):
    account = Account.from_key(key)
    return account.address, lambda text: bytes(account.sign_message(encode_defunct(text=text)).signature), lambda data: "0x" + data.hex()


def bitcoin(name, address_of, compressed=True):
    """A signer with btclib for one type of address."""

    @signer(f"btclib {name}", "Bitcoin", "000000000019d6689c085ae165831e93")
    def _(key):
        secret = PrvKeyData(int.from_bytes(key, "big") % (secp256k1.n - 1) + 1, "mainnet", compressed)
        address = address_of(PubKeyData(bytes_from_prv_key_int(secret.q, secp256k1, compressed), "mainnet"))
        return address, lambda text: bms.sign(text.encode(), secret, address).serialize(), base64_of


bitcoin("P2PKH, compressed key", p2pkh)
bitcoin("P2PKH, uncompressed key", p2pkh, compressed=False)
bitcoin("P2WPKH", p2wpkh)
bitcoin("P2SH-P2WPKH", p2wpkh_p2sh)


def solana(name, bytes_of, spell=base58_of):
    """A signer with PyNaCl for one of the byte strings that wallets make from a text."""

    @signer(f"PyNaCl {name}", "Solana", "mainnet")
    def _(key):
        secret = SigningKey(key)
        account = bytes(secret.verify_key)
        return base58_of(account), lambda text: secret.sign(bytes_of(text.encode(), account)).signature, spell


DOMAIN = b"\xffsolana offchain"
solana("raw text, base58", lambda text, _: text)
solana("raw text, base64", lambda text, _: text, base64_of)
solana("version 1, by hand", lambda text, account: DOMAIN + b"\x01\x01" + account + text)


@lambda make: solana("version 0 as a Ledger makes it, by hand", make)
def _(text, account):
    is_plain = all(byte == 0x0A or 0x20 <= byte <= 0x7E for byte in text)
    return DOMAIN + b"\0" + bytes(32) + bytes([0 if is_plain else 1, 1]) + account + len(text).to_bytes(2, "little") + text


class Judge:
    """Runs the program, and counts passes and failures."""

    def __init__(self, binary):
        self.binary, self.passed, self.failed, self.judged = binary, 0, 0, 0

    def ask(self, claims):
        lines = "".join(json.dumps({name: claim[name] for name in ("address", "text", "signature")}) + "\n" for claim in claims)
        command = [self.binary, "challenge", "verify", "--batch"]
        ended = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=False)
        answers = [json.loads(line) for line in ended.stdout.decode().splitlines()]
        assert len(answers) == len(claims), "every line has one result"
        assert ended.returncode == (0 if all(answer["valid"] for answer in answers) else 1), ended.returncode
        return answers

    def expect(self, what, valid, claims):
        """Prints one line, whatever the number. The family must be right even if the signature is not."""
        assert claims, what
        faults = [
            f"{claim['address']}: {answer}"
            for claim, answer in zip(claims, self.ask(claims))
            if answer["valid"] is not valid or answer["family"] != claim["family"]
        ]
        self.judged += len(claims)
        self.passed, self.failed = self.passed + (not faults), self.failed + bool(faults)
        print(f"{'FAILED ' if faults else 'ok     '} {what} ({len(claims)})")
        for fault in faults[:3]:
            print(f"        {fault}")


def samples_of(name):
    kind, chain_id, make = SIGNERS[name]
    for number in range(KEYS):
        address, sign, spell = make(seed(name, number))
        for template in TEXTS.values():
            text = template.format(kind=kind, chain_id=chain_id, address=address)
            data = sign(text)
            yield {"address": address, "text": text, "signature": spell(data), "family": kind.lower(), "data": data, "spell": spell}


def altered(text):
    middle = len(text) // 2
    return text[:middle] + ("y" if text[middle] == "x" else "x") + text[middle + 1 :]


def with_flipped_bit(claim, bit):
    data = bytearray(claim["data"])
    data[bit // 8] ^= 1 << bit % 8
    return {**claim, "signature": claim["spell"](bytes(data))}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python signers.py ../../target/debug/countersign")
    judge = Judge(sys.argv[1])
    samples = {name: list(samples_of(name)) for name in SIGNERS}
    for name, own in samples.items():
        other = {claim["address"]: next(each["address"] for each in own if each["address"] != claim["address"]) for claim in own}
        judge.expect(f"{name}: valid", True, own)
        judge.expect(f"{name}: not valid with one character altered", False, [{**claim, "text": altered(claim["text"])} for claim in own])
        judge.expect(f"{name}: not valid with an extra line feed", False, [{**claim, "text": claim["text"] + "\n"} for claim in own])
        judge.expect(f"{name}: not valid for another address", False, [{**claim, "address": other[claim["address"]]} for claim in own])
        bits = [with_flipped_bit(own[0], bit) for bit in range(8 * len(own[0]["data"]))]
        bits += [with_flipped_bit(claim, index * 97 % 512) for index, claim in enumerate(own[1:])]
        judge.expect(f"{name}: not valid with one bit flipped", False, bits)
    pairs = [
        {**own[0], "address": others[0]["address"], "family": others[0]["family"]}
        for name, own in samples.items()
        for another, others in samples.items()
        if name != another
    ]
    judge.expect("no signature of one signer is valid for an address of another", False, pairs)
    print(f"{judge.passed} passed, {judge.failed} failed; {judge.judged} signatures judged")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
