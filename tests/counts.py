#!/usr/bin/env python3
"""Counts how many places a change touches, and how the code is divided.

    python3 tests/counts.py                 # this checkout
    python3 tests/counts.py ../another      # another one, to compare
    python3 tests/counts.py --names         # with the names of the files that were counted

Only production Rust counts: no tests, and none of the crates that only serve tests and measurements.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

# Crates that no server contains.
NOT_PRODUCTION = {"conformance", "fuzz-checks", "test-postgres"}

# What knows the operations of the storage.
STORAGE = {"ports", "sql", "adapters-postgres", "adapters-sqlite"}

FIELD = "tos_uri"
ACT = r"(?i)\bdelete[_ -]?group\b|\bgroup[_ -]?deleted?\b"
OPERATION = "delete_group"
LONG = 100


def without_comments_and_tests(text):
    """The code of a file, and the names of its modules that contain only tests."""
    code, test_modules, is_test = [], [], False
    for line in text.splitlines():
        bare = line.split("//")[0].rstrip()
        if is_test and "mod " in bare:
            if bare.endswith("{"):
                break  # Tests are at the end of a file.
            test_modules.append(bare.split("mod ")[1].rstrip(";"))
        is_test = bare.strip() == "#[cfg(test)]"
        code.append(bare)
    return code, test_modules


def production(root):
    """The files of each crate: from path to lines, which are empty where only a comment was."""
    crates = {}
    for source in sorted(root.glob("crates/*/src")):
        if source.parent.name in NOT_PRODUCTION:
            continue
        files, tests = {}, set()
        for path in sorted(source.rglob("*.rs")):
            code, test_modules = without_comments_and_tests(path.read_text())
            files[path.relative_to(source)] = code
            folder = path.parent if path.name in ("lib.rs", "main.rs") else path.with_suffix("")
            tests |= {(folder / name).relative_to(source) for name in test_modules}
        is_test = lambda path: any(path.with_suffix("") == test or test in path.parents for test in tests)
        crates[source.parent.name] = {path: code for path, code in files.items() if not is_test(path)}
    return crates


def every_file(crates):
    for crate, files in crates.items():
        for path, code in files.items():
            yield f"{crate}/{path}", code


def matching(crates, pattern):
    found = re.compile(pattern)
    return [name for name, code in every_file(crates) if any(found.search(line) for line in code)]


def signatures(crates, operation):
    """Where the arguments and the answer of an operation are written: its line in the table, and the functions below it."""
    storage = {crate: files for crate, files in crates.items() if crate in STORAGE}
    pattern = re.compile(rf"(^\s*|\bfn ){operation}\((.*\w: .*)?\)\s*->|\bfn {operation}\($")
    return [name for name, code in every_file(storage) for line in code if pattern.search(line)]


def functions(code):
    """Each function with its length, from `fn` to the closing brace. The code is formatted by rustfmt."""
    for start, line in enumerate(code):
        named = re.match(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?fn (\w+)", line)
        if not named or line.endswith(("}", ";")):
            continue
        for end in range(start + 1, len(code)):
            if code[end] == named[1] + "}":
                yield named[2], end - start + 1
                break
            if code[end] and not code[end].startswith(named[1]):
                break  # A declaration in a trait or a macro.


def paths_in(tree):
    """Every path in the tree of a `use`."""
    tree = tree.strip()
    before, brace, inside = tree.partition("{")
    if not brace:
        names = [name.strip() for name in tree.split(" as ")[0].split("::")]
        return [[name for name in names if name and name != "self"]]
    prefix = sum(paths_in(before), [])
    parts, depth = [""], 0
    for character in inside.removesuffix("}"):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [prefix + path for part in parts if part.strip() for path in paths_in(part)]


def used(code):
    """The paths that a file names."""
    text = "\n".join(code)
    uses = r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]*);"
    for tree in re.findall(uses, text, re.M):
        yield from paths_in(" ".join(tree.split()))
    for word in re.findall(r"(?<![\w:])(?:crate|super)(?:::\w+)+", re.sub(uses, "", text, flags=re.M)):
        yield word.split("::")


def knots(files):
    """The sets of modules in one folder that depend on each other in a circle, as in tests/circles.rs."""
    modules = {}
    for path, code in files.items():
        parts = path.with_suffix("").parts
        modules[() if parts == ("lib",) else parts] = code
    exported = {}
    for tree in re.findall(r"^pub use ([^;]*);", "\n".join(modules.get((), [])), re.M):
        exported |= {path[-1]: tuple(path) for path in paths_in(" ".join(tree.split())) if path}

    def resolved(module, path):
        if path and path[0] == "crate":
            whole = tuple(path[1:])
        elif path and path[0] == "super":
            ups = next((at for at, name in enumerate(path) if name != "super"), len(path))
            whole = module[: len(module) - ups] + tuple(path[ups:])
        else:
            whole = module + tuple(path)
        if whole and whole[:1] not in modules and whole[0] in exported:
            whole = exported[whole[0]] + whole[1:]
        while whole and whole not in modules:
            whole = whole[:-1]
        return whole

    rooms = defaultdict(lambda: defaultdict(set))
    for module, code in modules.items():
        for path in used(code):
            target = resolved(module, path)
            shared = sum(1 for _ in iter_shared(module, target))
            if shared < min(len(module), len(target)):
                rooms[module[:shared]][module[shared]].add(target[shared])
    return [knot for _, room in sorted(rooms.items()) for knot in circles(room)]


def iter_shared(one, other):
    for mine, theirs in zip(one, other):
        if mine != theirs:
            return
        yield mine


def circles(room):
    """The strongly connected modules of a folder."""

    def reached(start):
        found, left = set(), [start]
        while left:
            for target in room.get(left.pop(), ()):
                if target not in found:
                    found.add(target)
                    left.append(target)
        return found

    reach = {module: reached(module) for module in sorted(room)}
    seen, found = set(), []
    for module in reach:
        knot = {other for other in reach[module] if module in reach.get(other, ())}
        if len(knot) > 1 and not knot & seen:
            seen |= knot
            found.append(sorted(knot))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--names", action="store_true", help="show what was counted")
    arguments = parser.parse_args()
    crates = production(arguments.checkout)
    at_root = {
        source.parent.name: len(list(source.glob("*.rs")))
        for source in sorted(arguments.checkout.glob("crates/*/src"))
    }
    all_functions = [
        (length, f"{name}: {function}")
        for name, code in every_file(crates)
        for function, length in functions(code)
    ]
    long = sorted((item for item in all_functions if item[0] > LONG), reverse=True)
    tied = [f"{crate}: {', '.join(knot)}" for crate, files in crates.items() for knot in knots(files)]

    def show(what, number, names):
        print(f"{number:>7,}  {what}")
        if arguments.names:
            for name in names:
                print(f"           {name}")

    fields, acts = matching(crates, rf"\b{FIELD}\b"), matching(crates, ACT)
    written = signatures(crates, OPERATION)
    show(f"files with a client's field ({FIELD})", len(fields), fields)
    show("files with an act (delete group)", len(acts), acts)
    show(f"signatures of a storage operation ({OPERATION})", len(written), written)
    show("knots of modules", len(tied), tied)
    most = max(at_root.values())
    show("files at the root of a crate, at most", most, [f"{count:>3} {crate}" for crate, count in at_root.items()])
    show(f"functions over {LONG} lines, of {len(all_functions):,}", len(long), [f"{length} {name}" for length, name in long])
    lines = {crate: sum(len(code) for code in files.values()) for crate, files in crates.items()}
    show("lines of production Rust", sum(lines.values()), [f"{count:>6,} {crate}" for crate, count in lines.items()])
    show("of them neither blank nor a comment", sum(bool(line) for _, code in every_file(crates) for line in code), [])


if __name__ == "__main__":
    main()
