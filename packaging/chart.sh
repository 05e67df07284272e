#!/usr/bin/env bash
# Packs the chart: chart.sh VERSION OUT.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$1 out=$(realpath "$2")
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/chart" "$work/countersign"
chmod -R u=rwX,go=rX "$work/countersign"
sed -i -e '/^#/d' -e "s|^version: .*|version: $version|; s|^appVersion: .*|appVersion: \"$version\"|" "$work/countersign/Chart.yaml"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -c countersign |
  gzip -9n > "$out/countersign-$version.tgz"
echo "countersign-$version.tgz"
