#!/usr/bin/env bash
# Makes the image: image.sh BINARY OUT. MOST is how many bytes it may have. It has the program, the libraries of this system that it needs, one user, and nothing
# else: no shell and no package manager. Two builds of the same program on the same system have the same digest.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1") out=$(realpath "$2")
version=$("$binary" --version | cut -d ' ' -f 2)
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct)}" "${MOST:=40000000}"
user=10001

work=$(mktemp -d)
# The images of this machine are no business of ours, and a name that another build has cannot be in the way.
buildah() { command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# OCI's format has no health check.
export BUILDAH_FORMAT=docker
umask 022
root=$work/root
mkdir -p "$root"/{etc,tmp,run,usr/share/doc/countersign,var/lib/countersign}
chmod 1777 "$root/tmp"
chmod 700 "$root/var/lib/countersign"
install -D -m 755 "$binary" "$root/usr/bin/countersign"
strip --strip-all --remove-section=.comment "$root/usr/bin/countersign"
# The loader is looked for where the program says; the rest is beside it.
ldd "$binary" | awk '/=> \// { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do
  install -D -m 755 "$(realpath "$library")" "$root$library"
done
printf 'countersign:x:%d:%d:Countersign:/var/lib/countersign:/nonexistent\n' $user $user > "$root/etc/passwd"
printf 'countersign:x:%d:\n' $user > "$root/etc/group"
printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
install -m 644 "$here/debian/copyright" "$root/usr/share/doc/countersign/"
for file in countersign.cdx.json third-party-licenses; do gzip -9nc "$out/$file" > "$root/usr/share/doc/countersign/$file.gz"; done
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
chown -R 0:0 "$root"
chown $user:$user "$root/var/lib/countersign"

container=$(buildah from scratch)
buildah copy --quiet "$container" "$root" / > /dev/null
buildah config \
  --user $user:$user --workingdir /var/lib/countersign --volume /var/lib/countersign --port 8080/tcp --stop-signal SIGTERM \
  --entrypoint '["/usr/bin/countersign"]' --cmd serve \
  --env COUNTERSIGN_BIND=0.0.0.0:8080 --env COUNTERSIGN_DATABASE_URL=sqlite:///var/lib/countersign/countersign.db \
  --hostname countersign --healthcheck 'CMD /usr/bin/countersign healthcheck' --healthcheck-interval 10s --healthcheck-timeout 6s \
  --healthcheck-start-period 60s --healthcheck-retries 3 \
  --label org.opencontainers.image.title=countersign --label "org.opencontainers.image.version=$version" \
  --label org.opencontainers.image.licenses=MIT "$container"
buildah commit --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" --omit-timestamp=false "$container" countersign:"$version" > /dev/null
image=$out/countersign-$version-image.tar
rm -f "$image"
buildah push --quiet countersign:"$version" docker-archive:"$image":countersign:"$version" > /dev/null
SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH python3 "$here/settle.py" "$image" "countersign:$version" > "$image.digest"
unpacked=$(du -sb "$root" | cut -f 1)
echo "$(basename "$image"): $((unpacked / 1000000)) MB unpacked, $(gzip -c "$image" | wc -c | awk '{ print int($1 / 1000000) }') MB to pull, $(cat "$image.digest")"
(( unpacked <= MOST )) || {
  echo "The image has more than $((MOST / 1000000)) MB. What the program is made of: bloat.py (its comment says how)."
  exit 1
}
