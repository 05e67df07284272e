"""A proxy with TLS on every address of this machine, in front of a server on loopback. Standard library only.

    python3 front.py --behind PORT [--answer STATUS] [--unready]

Its first line on standard output is a JSON object with its port and the file with its self-signed certificate, which is for
`localhost`. It passes each GET on with X-Forwarded-For. With --answer it answers so by itself: 301 leads elsewhere, 200 is a
page and no JSON. With --unready only the readiness probe gets an answer of its own. It exits when its standard input is closed.
"""

import argparse
import http.client
import json
import ssl
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def handler(choice):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if choice.unready and self.path.endswith("/health/ready"):
                return self.answer(503, b'{"error_description": "the store cannot be written"}', {})
            if choice.answer:
                return self.answer(choice.answer, b"<!doctype html>", {"Location": "https://elsewhere.example/"})
            behind = http.client.HTTPConnection("127.0.0.1", choice.behind, timeout=5)
            headers = {"Host": self.headers["Host"], "X-Forwarded-For": self.client_address[0]}
            try:
                behind.request("GET", self.path, headers=headers)
                answer = behind.getresponse()
            except OSError:
                return self.answer(502, b"", {})
            self.answer(answer.status, answer.read(), {"Content-Type": answer.getheader("Content-Type") or "text/plain"})

        def answer(self, status, body, headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--behind", type=int, required=True)
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--answer", type=int)
    arguments.add_argument("--unready", action="store_true")
    choice = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", certificate]
        command += ["-addext", "basicConstraints=critical,CA:FALSE", "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run(command, check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        server = ThreadingHTTPServer(("127.0.0.1", choice.port), handler(choice))
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(json.dumps({"port": server.server_port, "ca_file": str(certificate)}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
