"""Checks the settings that `countersign client create --for` prints, with the parsers that they are written for.

    .venv/bin/python configurations.py ../../target/debug/countersign
"""

import ast
import configparser
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import yaml

ISSUER = "https://auth.example.com"
KNOWN = Path(__file__).parents[1] / "clients" / "registrations.json"


def apache(text):
    """Checks directives with their arguments, and that each section has an end."""
    sections, said = [], []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("</"):
            assert sections.pop() == line.strip("</>"), line
        elif line.startswith("<"):
            assert line.endswith(">"), line
            sections.append(line.strip("<>").split()[0])
        else:
            directive, argument = line.split(None, 1)
            assert directive.isalnum() and argument.count('"') % 2 == 0, line
            said.append(argument)
    assert not sections, sections
    return said


def python(text):
    return [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]


def variables(text):
    pairs = [line.split("=", 1) for line in text.splitlines()]
    assert all(name.isupper() and value for name, value in pairs), pairs
    return [value for _, value in pairs]


def shell(text):
    """The words of one command."""
    words = shlex.split(text.replace("\\\n", " "))
    assert all(word.strip() for word in words), words
    return words


def sections(text):
    read = configparser.ConfigParser(interpolation=None)
    read.read_string(text)
    return {name: dict(read[name]) for name in read.sections()}


def javascript(text):
    """The strings of a script that Node.js can parse."""
    subprocess.run(["node", "--check", "-"], input=text, check=True, capture_output=True, text=True)
    return [string for _, string in re.findall(r"""(["'])(.*?)\1""", text)]


READERS = {
    ".conf": apache,
    ".env": variables,
    ".ini": sections,
    ".js": javascript,
    ".py": python,
    ".sh": shell,
    ".toml": tomllib.loads,
    ".yaml": yaml.safe_load,
}


def main():
    names = json.loads(KNOWN.read_text())
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.argv[1], "client", "create", "--name", name, "--for", name, "--url", "https://app.example", "--output", "json"]
            environment = {"PATH": os.environ["PATH"], "COUNTERSIGN_PUBLIC_URL": ISSUER}
            # Only `migrate` and `serve` create a database.
            subprocess.run([sys.argv[1], "migrate"], cwd=folder, env=environment, check=True, capture_output=True)
            done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
        created = json.loads(done.stdout)
        configuration = created["configuration"]
        said = json.dumps(READERS[Path(configuration["file"]).suffix](configuration["text"]))
        for value in (ISSUER, created["client_id"], created["client_secret"]):
            assert value in said, f"{name}: {value} in {said}"
        print(f"ok      {name}: {configuration['file']}")
    print(f"{len(names)} passed, 0 failed")


if __name__ == "__main__":
    main()
