"""Says what a program is made of: bloat.py PROGRAM. The program needs the names of its functions:

    CARGO_PROFILE_RELEASE_STRIP=none cargo build --release -p countersign-app --target-dir target/bloat
    python3 packaging/bloat.py target/bloat/release/countersign

Prints the sections that a stripped program has, and the bytes of functions and constants by crate. A generic function counts for the
crate that it is written in.
"""

import collections
import re
import subprocess
import sys

PROGRAM = sys.argv[1]
CRATE = re.compile(r"^[<&*\[(]*(?:const |mut |dyn )*([a-z_][a-z0-9_]*)(?:\[[0-9a-f]+\])?::")
# Functions of C have no paths.
IN_C = [
    ("SQLite", re.compile(r"^sqlite3|^(yy|fts5|json|vdbe|btree|pager|wal|unix)[A-Z]")),
    ("libpq", re.compile(r"^(pq|PQ|pg_|lo_)")),
    ("zstd", re.compile(r"^(ZSTD|HUF|FSE|XXH|ZDICT|COVER)")),
    ("libsecp256k1", re.compile(r"^rustsecp256k1")),
    ("ring", re.compile(r"^ring_core|^(ecp|aes|bn|gcm|sha|chacha|x25519|p256|p384)_")),
]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def owner(name):
    found = CRATE.match(name)
    if found:
        return found.group(1)
    return next((library for library, pattern in IN_C if pattern.match(name)), "others in C, and constants")


def main():
    print("sections:")
    for line in output("readelf", "--sections", "--wide", PROGRAM).splitlines():
        parts = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\S+\s+(\S*A\S*)", line)
        if parts and int(parts.group(2), 16) > 50_000:
            print(f"{int(parts.group(2), 16) / 1e6:8.2f} MB  {parts.group(1)}")
    sizes = collections.Counter()
    for line in output("nm", "--print-size", "--size-sort", "--defined-only", "--demangle", PROGRAM).splitlines():
        _, size, kind, name = line.split(" ", 3)
        if kind not in "bB":
            sizes[owner(name)] += int(size, 16)
    print("functions and constants:")
    for crate, size in sizes.most_common(40):
        print(f"{size / 1e6:8.2f} MB  {crate}")


if __name__ == "__main__":
    main()
