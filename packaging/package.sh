#!/usr/bin/env bash
# Makes all packages from a finished program: package.sh BINARY OUT.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1")
version=$("$binary" --version | cut -d ' ' -f 2)
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

rm -rf "$2"
mkdir -p "$2"
out=$(realpath "$2")
# What the check needs to build them a second time.
printf '%s' "$binary" > "$out/.binary"
python3 "$here/sbom.py" "$version" "$out"
"$here/deb.sh" "$binary" "$out"
"$here/image.sh" "$binary" "$out"
"$here/chart.sh" "$version" "$out"
cp "$here/compose.yaml" "$out/compose.yaml"
(cd "$out" && sha256sum -- * > SHA256SUMS)
