#!/usr/bin/env bash
# Lays out the files of the Debian package below a folder: tree.sh BINARY FOLDER. What can be made from the program is
# made by the program itself, so that it fits; an older one that cannot needs TOOL, another program that does it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1") root=$2
tool=${TOOL:-$binary}
umask 022

install -D -m 755 "$binary" "$root/usr/bin/countersign"
for unit in countersign.service countersign.socket countersign-backup.service countersign-backup.timer; do
  install -D -m 644 "$here/systemd/$unit" "$root/usr/lib/systemd/system/$unit"
done
install -D -m 644 "$here/systemd/countersign.sysusers" "$root/usr/lib/sysusers.d/countersign.conf"
install -D -m 644 "$here/systemd/countersign.tmpfiles" "$root/usr/lib/tmpfiles.d/countersign.conf"

mkdir -p "$root/etc/countersign"
"$tool" generate settings |
  sed -e 's|^#database_url = .*|database_url = "sqlite:///var/lib/countersign/countersign.db"|' \
    -e 's|^#secret_file = .*|secret_file = "/etc/countersign/secret"|' \
    -e 's|^#backup_directory = .*|backup_directory = "/var/backups/countersign"|' > "$root/etc/countersign/countersign.toml"

mkdir -p "$root"/usr/share/man/man{1,5} "$root/usr/share/bash-completion/completions" \
  "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
"$tool" generate man "$pages" > /dev/null
install -m 644 "$pages"/*.1 "$root/usr/share/man/man1"
install -m 644 "$pages"/*.5 "$root/usr/share/man/man5"
gzip -9n "$root"/usr/share/man/man*/*
"$tool" generate completions bash > "$root/usr/share/bash-completion/completions/countersign"
"$tool" generate completions zsh > "$root/usr/share/zsh/vendor-completions/_countersign"
"$tool" generate completions fish > "$root/usr/share/fish/vendor_completions.d/countersign.fish"

doc=$root/usr/share/doc/countersign
mkdir -p "$doc/examples"
install -m 644 "$here/debian/copyright" "$doc/copyright"
install -m 644 "$here/compose.yaml" "$doc/examples/compose.yaml"
cp -r "$here/../contrib/fail2ban" "$here/../contrib/vector" "$doc/examples/"
find "$doc/examples" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
