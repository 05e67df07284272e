"""Writes what the program is made of: sbom.py VERSION OUT.

`countersign.cdx.json` is a bill of materials (CycloneDX 1.5) of the crates that the program is linked from, as the lock file
names them; `third-party-licenses` holds the texts of their licenses. Both are the same on every machine.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import uuid

VERSION, OUT = sys.argv[1], pathlib.Path(sys.argv[2])
PROJECT = pathlib.Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments, "--locked"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout


def linked():
    """The crates of the program without what only tests and build scripts use, as (name, version)."""
    lines = cargo(
        "tree", "-p", "countersign-app", "-e", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--target", TARGET
    ).splitlines()
    return {(name, version.lstrip("v")) for name, version, *_ in (line.split() for line in lines if line.strip())}


def checksums():
    """The checksums of the lock file."""
    found, package = {}, {}
    for line in (PROJECT / "Cargo.lock").read_text().splitlines():
        if line == "[[package]]":
            package = {}
        key, _, value = line.partition(" = ")
        package[key] = value.strip('"')
        if key == "checksum":
            found[package["name"], package["version"]] = package["checksum"]
    return found


def component(package, sums):
    name, version = package["name"], package["version"]
    found = {
        "type": "library",
        "bom-ref": f"pkg:cargo/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:cargo/{name}@{version}",
    }
    if package["license"]:
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in sums:
        found["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    return found


def license_texts(packages):
    """The texts, each once, below the crates that it belongs to."""
    owners = {}
    for package in packages:
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")):
                text = file.read_text(errors="replace").strip()
                owners.setdefault(text, []).append(f"{package['name']} {package['version']}")
    return "\n\n".join(f"{'-' * 100}\n{', '.join(names)}\n{'-' * 100}\n\n{text}" for text, names in owners.items()) + "\n"


def main():
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", TARGET))
    known = {(package["name"], package["version"]): package for package in metadata["packages"]}
    names, sums = linked(), checksums()
    packages = [known[key] for key in sorted(names)]
    others = [package for package in packages if package["source"]]
    ours = {(package["name"], package["version"]) for package in packages if not package["source"]}
    refs = {package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" for package in packages}
    links = {
        refs[node["id"]]: sorted({refs[dependency] for dependency in node["dependencies"] if dependency in refs})
        for node in metadata["resolve"]["nodes"]
        if node["id"] in refs
    }
    root = f"pkg:generic/countersign@{VERSION}"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "countersign",
                "version": VERSION,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [component(package, sums) for package in packages],
        "dependencies": [{"ref": root, "dependsOn": [f"pkg:cargo/countersign-app@{known_version(ours)}"]}]
        + [{"ref": ref, "dependsOn": on} for ref, on in sorted(links.items())],
    }
    text = json.dumps(bill, indent=1, sort_keys=True)
    bill["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)}"
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "countersign.cdx.json").write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n")
    (OUT / "third-party-licenses").write_text(license_texts(others))
    print(f"{len(others)} crates of others and {len(ours)} of ours in the bill of materials")


def known_version(ours):
    return next(version for name, version in ours if name == "countersign-app")


if __name__ == "__main__":
    main()
