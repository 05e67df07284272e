#!/usr/bin/env bash
# Makes the Debian packages: deb.sh BINARY OUT [VERSION]. PACKING is how dpkg-deb compresses them, SITE
# the folder of the documentation that `make docs` built. The program is stripped; the names of its functions, which the backtrace of
# a panic shows, are in the package countersign-dbgsym.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1") out=$(realpath "$2")
released=$("$binary" --version | cut -d ' ' -f 2)
version=${3:-${released/-/\~}}
architecture=$(dpkg --print-architecture)
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
umask 022
root=$work/countersign symbols=$work/symbols
mkdir -p "$root/DEBIAN" "$symbols/DEBIAN"
"$here/tree.sh" "$binary" "$root"

id=$(readelf -n "$binary" | awk '/Build ID/ { print $3 }')
debug=$symbols/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
mkdir -p "$(dirname "$debug")" "$symbols/usr/share/doc"
objcopy --only-keep-debug "$binary" "$debug"
chmod 644 "$debug"
strip --strip-all --remove-section=.comment "$root/usr/bin/countersign"
ln -s countersign "$symbols/usr/share/doc/countersign-dbgsym"

doc=$root/usr/share/doc/countersign
gzip -9nc "$out/third-party-licenses" > "$doc/third-party-licenses.gz"
gzip -9nc "$out/countersign.cdx.json" > "$doc/countersign.cdx.json.gz"
{
  printf 'countersign (%s) stable; urgency=medium\n\n  * See /usr/share/doc/countersign/NEWS.md.gz for what changed.\n\n' "$version"
  printf ' -- The Countersign developers <countersign@users.noreply.example.org>  %s\n' "$(date -Ru -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9nc > "$doc/changelog.gz"
gzip -9nc "$here/../CHANGELOG.md" > "$doc/NEWS.md.gz"
if [[ -n ${SITE:-} ]]; then
  mkdir "$doc/html"
  (cd "$SITE" && find . -type f ! -name .nojekyll -exec install -D -m 644 {} "$doc/html/{}" \;)
fi

# Which libraries it needs is what the program itself says. The tool wants to see a source package.
mkdir -p "$work/source/debian"
printf 'Source: countersign\n\nPackage: countersign\nArchitecture: any\n' > "$work/source/debian/control"
depends=$(cd "$work/source" && dpkg-shlibdeps -O --ignore-missing-info "$root/usr/bin/countersign" 2>/dev/null |
  sed -n 's/^shlibs:Depends=//p')
[[ -n $depends ]] || { echo "The libraries that the program needs were not found"; exit 1; }

describe() { # TEMPLATE ROOT
  sed -e "s|@VERSION@|$version|; s|@ARCHITECTURE@|$architecture|; s|@DEPENDS@|$depends|; s|@ID@|$id|" \
    -e "s|@SIZE@|$(du -sk --apparent-size --exclude=DEBIAN "$2" | cut -f 1)|" "$1" > "$2/DEBIAN/control"
  (cd "$2" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs md5sum > DEBIAN/md5sums)
}
describe "$here/debian/control.in" "$root"
describe "$here/debian/control-dbgsym.in" "$symbols"
echo /etc/countersign/countersign.toml > "$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 755 "$here/debian/$script" "$root/DEBIAN/$script"; done

for part in "$root" "$symbols"; do
  find "$part" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group "${PACKING:--Zxz}" --build "$part" "$out" > /dev/null
done
ls -1 "$out"/countersign*_"${version}"_"$architecture".deb
