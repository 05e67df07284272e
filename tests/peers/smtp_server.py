"""A real mail server on loopback, aiosmtpd, which prints what it receives.

    .venv/bin/python smtp_server.py [--tls | --starttls] [--user NAME --password PASSWORD]

Its first line on standard output is a JSON object with its port and, with TLS, the file with its self-signed certificate.
Every further line is one mail as Python's own parser reads it. It exits when its standard input is closed.

Recipients whose names begin with `nobody` are refused permanently, those with `later` temporarily. `echo` is refused with a
reply that repeats what it can.
"""

import argparse
import asyncio
import email
import email.policy
import json
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult


def say(value):
    print(json.dumps(value), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.strip('"').split("@")[0]
        if name.startswith("nobody"):
            return f"550 5.1.1 <{address}>: no such user"
        if name.startswith("later"):
            return "451 4.7.1 come again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text = mail.get_content()
        if envelope.rcpt_tos[0].startswith("echo"):
            return f"554 5.7.1 spam to {envelope.rcpt_tos[0]}: {' '.join(text.split())}"
        login = session.auth_data
        say(
            {
                "hello": session.host_name,
                "peer": session.peer[1],
                "tls": server.transport.get_extra_info("ssl_object") is not None,
                "user": login.login.decode() if login else None,
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "headers": [[name, str(value)] for name, value in mail.items()],
                "text": text,
                "defects": [str(defect) for defect in mail.defects],
            }
        )
        return "250 taken"


def certificate(folder):
    """A self-signed certificate for this machine."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", certificate]
    command += ["-addext", "basicConstraints=critical,CA:FALSE"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return certificate, context


async def serve(choice, folder):
    ca_file, context = certificate(folder) if choice.tls or choice.starttls else (None, None)

    def authenticate(server, session, envelope, mechanism, data):
        good = (data.login, data.password) == (choice.user.encode(), choice.password.encode())
        return AuthResult(success=good, handled=False, auth_data=data)

    def connection():
        return SMTP(
            Handler(),
            hostname="localhost",
            enable_SMTPUTF8=True,
            tls_context=context if choice.starttls else None,
            require_starttls=choice.starttls,
            authenticator=authenticate if choice.user else None,
            auth_required=bool(choice.user),
            auth_require_tls=False,
            loop=loop,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(connection, "127.0.0.1", 0, ssl=context if choice.tls else None)
    port = server.sockets[0].getsockname()[1]
    say({"port": port, "ca_file": str(ca_file) if ca_file else None})
    await loop.run_in_executor(None, sys.stdin.read)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tls", action="store_true")
    arguments.add_argument("--starttls", action="store_true")
    arguments.add_argument("--user")
    arguments.add_argument("--password")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(serve(arguments.parse_args(), Path(folder)))


if __name__ == "__main__":
    main()
