#!/usr/bin/env bash
# Judges the packages in a folder: check.sh OUT. It boots an empty Debian in a container of systemd, runs the commands of
# docs/install.md there as they stand, and tries what an operator and an attacker would try. It needs root.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(realpath "$here/../..")
out=$(realpath "$1")
python=${JUDGES:-$project/.tools/packaging}/bin/python
cache=$project/target/package-check
tried=0 failed=0

# A claim, and the command that shows it.
claim() {
  local words=$1 log
  shift
  log=$(mktemp)
  tried=$((tried + 1))
  if "$@" > "$log" 2>&1; then
    echo "  ok    $words"
  else
    failed=$((failed + 1))
    echo "  WRONG $words"
    sed 's/^/        /' "$log" | tail -40
  fi
  rm -f "$log"
}

work=$(mktemp -d)
machine=$work/machine
nspawn=
cleanup() {
  if [[ -n $nspawn ]]; then
    kill "$nspawn" 2>/dev/null || true
    wait "$nspawn" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT

# --- an empty Debian --------------------------------------------------------------------------------------------------
mkdir -p "$cache" "$machine"
if [[ ! -e $cache/debian.tar ]]; then
  echo "Installing an empty Debian (asks the package server; two minutes, once)"
  mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,libssl3,postgresql \
    bookworm "$cache/debian.tar.new" 2> /dev/null
  mv "$cache/debian.tar.new" "$cache/debian.tar"
fi
tar -C "$machine" -xf "$cache/debian.tar"
mkdir -p "$machine/root/packages" "$machine/image"
cp "$out"/countersign_*.deb "$machine/root/packages/"

boot() {
  systemd-nspawn --quiet --directory "$machine" --register=no --keep-unit --private-network --boot --console=passive \
    < /dev/null > "$work/console" 2>&1 &
  nspawn=$!
  for _ in {1..300}; do
    leader=$(pgrep -P "$nspawn" | head -1 || true)
    # The first process of the machine is systemd once it has read its units.
    if [[ -n $leader ]] && inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; then return 0; fi
    kill -0 "$nspawn" 2>/dev/null || break
    sleep 0.2
  done
  cat "$work/console"
  return 1
}
inside() {
  nsenter --target "$leader" --mount --uts --ipc --net --pid --root env -i --chdir=/root/packages \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
# With `!` in front, a command that must fail would not end the script when it does not.
script() { inside bash -euo pipefail -c 'not() { if "$@"; then echo "this must fail: $*"; return 1; fi; }'$'\n'"$1"; }

echo "Packages"
# The symbols are names of functions, which backtraces show; lines would need gigabytes to build.
for package in "$out"/countersign_*.deb "$out"/countersign-dbgsym_*.deb; do
  claim "lintian finds no error and no warning in $(basename "$package")" lintian --allow-root --fail-on error,warning \
    --suppress-tags debug-file-with-no-debug-symbols "$package"
done

echo "The commands of docs/install.md, in an empty Debian"
boot
claim "nothing of Countersign is there" script 'not id countersign; test ! -e /etc/countersign'
# The blocks that say that this test runs them.
"$python" "$here/blocks.py" "$project/docs/install.md" "$work/blocks"
for block in "$work"/blocks/*; do
  claim "$(head -1 "$block" | sed 's/^# //')" script "$(cat "$block")"
  if [[ $(head -1 "$block") == *"On Debian"* ]]; then
    claim "the server runs as its own user, and systemd heard that it is ready" script '
      test "$(stat -c %U "/proc/$(systemctl show -P MainPID countersign)")" = countersign
      test "$(systemctl show -P SubState countersign)" = running; test "$(systemctl show -P NRestarts countersign)" = 0'
    claim "the secret belongs to root, and the database to the server alone" script '
      test "$(stat -c "%U:%G %a" /etc/countersign/secret)" = "root:countersign 640"
      test "$(stat -c "%U %a" /var/lib/countersign)" = "countersign 700"
      test "$(stat -c "%U %a" /var/lib/countersign/countersign.db)" = "countersign 600"'
    claim "it listens for this machine only" script 'not grep -q " 00000000:1F90 " /proc/net/tcp; grep -q " 0100007F:1F90 " /proc/net/tcp'
    claim "systemd hears that it is alive" script 'test "$(systemctl show -P WatchdogUSec countersign)" = 1min
      test -n "$(systemctl show -P WatchdogTimestamp countersign)"'
    claim "the units are right" script 'systemd-analyze verify --man=no /usr/lib/systemd/system/countersign*.{service,socket,timer}'
    claim "what each unit exposes is at most 2.0" script '
      for unit in countersign countersign-backup; do
        systemd-analyze security --offline=yes --threshold=20 /usr/lib/systemd/system/$unit.service
      done'
    claim "the documentation is there, with its search" script 'test -e /usr/share/doc/countersign/html/index.html; test -n "$(ls /usr/share/doc/countersign/html/searchindex*)"'
    claim "the man pages are found" script 'test "$(find /usr/share/man/man1 -name "countersign*" | wc -l)" -gt 50; test -e /usr/share/man/man5/countersign.toml.5.gz'
  fi
done
claim "after all of it the server runs on PostgreSQL, as a role that may not make tables" script '
  systemctl is-active countersign
  not runuser -u postgres -- psql --quiet --set ON_ERROR_STOP=1 countersign -c "SET ROLE countersign; CREATE TABLE x (y int)"'

# Back on SQLite, where the first client is.
claim "one line leads back to SQLite" script 'cd /etc/countersign
  sed -i "s|^#database_url = \"sqlite:///var|database_url = \"sqlite:///var|; s|^database_url_file|#&|" countersign.toml
  systemctl reset-failed countersign.service; systemctl restart countersign.socket countersign; countersign healthcheck
  runuser -u countersign -- countersign client list | grep -q "Photo Album"'

echo "Backups"
claim "the timer makes a backup every day" script '
  systemctl is-enabled countersign-backup.timer; systemctl is-active countersign-backup.timer
  test "$(systemctl show -P NextElapseUSecRealtime countersign-backup.timer)" != ""
  cd /etc/countersign; runuser -u countersign -- countersign doctor > /root/doctor || true
  grep -q "^warn  backups .*there is no backup in /var/backups/countersign" /root/doctor'
claim "its service keeps the newest fourteen, for the server alone" script '
  for day in {01..20}; do install -o countersign -m 600 /dev/null /var/backups/countersign/countersign-2026-01-${day}T030000Z.backup; done
  systemctl start countersign-backup.service
  test "$(ls /var/backups/countersign/countersign-*.backup | wc -l)" = 14; test -e /var/backups/countersign/first.backup
  newest=$(ls /var/backups/countersign/countersign-*.backup | tail -1)
  test "$(stat -c "%U %a" "$newest")" = "countersign 600"; test "$(stat -c %s "$newest")" -gt 1000
  cd /etc/countersign; runuser -u countersign -- countersign doctor > /root/doctor || true
  grep -q "^ok    backups " /root/doctor'

echo "Restarts"
claim "no connection is refused while the server restarts, and each is answered" script '
  systemctl restart countersign & restarting=$!
  asked=0
  while kill -0 $restarting 2>/dev/null; do
    exec 3<>/dev/tcp/127.0.0.1/8080
    printf "GET /health/live HTTP/1.1\r\nHost: auth.example.com\r\nConnection: close\r\n\r\n" >&3
    line=; read -r -t 20 line <&3 || true
    [[ $line == *" 200 "* ]] || { echo "request $asked was answered by: $line"; exit 1; }
    exec 3>&-; asked=$((asked + 1))
  done
  wait $restarting; echo "$asked requests"; test $asked -gt 3'
claim "a server that hangs is killed by the watchdog and started again" script '
  mkdir -p /run/systemd/system/countersign.service.d
  printf "[Service]\nWatchdogSec=2\n" > /run/systemd/system/countersign.service.d/quick.conf
  systemctl daemon-reload; systemctl restart countersign
  old=$(systemctl show -P MainPID countersign); sleep 5
  test "$(systemctl show -P MainPID countersign)" = "$old"
  test "$old" -gt 1; kill -STOP "$old"
  for _ in {1..100}; do sleep 0.3; new=$(systemctl show -P MainPID countersign); [[ $new = 0 || $new = "$old" ]] || break; done
  test "$new" != "$old"; countersign healthcheck
  rm -r /run/systemd/system/countersign.service.d; systemctl daemon-reload'
claim "a server that is killed is started again" script '
  old=$(systemctl show -P MainPID countersign); test "$old" -gt 1; kill -KILL "$old"
  for _ in {1..100}; do sleep 0.3; new=$(systemctl show -P MainPID countersign); [[ $new = 0 || $new = "$old" ]] || break; done
  sleep 2; countersign healthcheck'
claim "wrong settings are not tried again and again" script '
  cd /etc/countersign; cp -p countersign.toml /root/kept; echo "wrokers = 2" >> countersign.toml
  not systemctl restart countersign; sleep 4
  test "$(systemctl show -P ExecMainStatus countersign)" = 2; test "$(systemctl show -P NRestarts countersign)" = 0
  cp -p /root/kept countersign.toml; systemctl reset-failed countersign.service countersign.socket; systemctl restart countersign.socket; systemctl restart countersign; countersign healthcheck'
claim "the server can write nowhere but to its folder" script '
  pid=$(systemctl show -P MainPID countersign)
  for place in /etc/countersign /usr/bin /tmp/.. /home /root; do
    not nsenter -t "$pid" -m -S "$(id -u countersign)" -G "$(id -g countersign)" sh -c "echo x > $place/made-by-the-server" 2>/dev/null
  done
  nsenter -t "$pid" -m -S "$(id -u countersign)" -G "$(id -g countersign)" sh -c "echo x > /var/lib/countersign/made && rm /var/lib/countersign/made"'

echo "Upgrade, remove, purge"
released=$(dpkg-deb --field "$(ls "$out"/countersign_*.deb | head -1)" Version)
newer=$work/newer
mkdir "$newer"
cp "$out/countersign.cdx.json" "$out/third-party-licenses" "$newer/"
"$here/../deb.sh" "$(cat "$out/.binary")" "$newer" "$released+1" > /dev/null
mkdir -p "$machine/root/newer"
cp "$newer"/countersign_*.deb "$machine/root/newer/"
claim "an upgrade keeps clients, secret and settings, and runs the new server" script '
  secret=$(cat /etc/countersign/secret); old=$(systemctl show -P MainPID countersign)
  apt-get install --yes /root/newer/countersign_*.deb
  test "$(cat /etc/countersign/secret)" = "$secret"; test "$(systemctl show -P MainPID countersign)" != "$old"
  grep -q "^public_url = \"https://auth.example.com\"" /etc/countersign/countersign.toml
  cd /etc/countersign; runuser -u countersign -- countersign client list | grep -q "Photo Album"; countersign healthcheck'
claim "a removed package leaves settings, secret and data" script '
  apt-get remove --yes countersign
  test ! -e /usr/bin/countersign; not systemctl is-active countersign
  test -e /etc/countersign/secret; test -e /etc/countersign/countersign.toml; test -e /var/lib/countersign/countersign.db'
claim "installed again it has the same clients" script '
  apt-get install --yes /root/newer/countersign_*.deb
  cd /etc/countersign; runuser -u countersign -- countersign client list | grep -q "Photo Album"; countersign healthcheck'
claim "a database whose secret is gone never gets a new one" script '
  mv /etc/countersign/secret /root/secret; systemctl stop countersign countersign.socket
  /var/lib/dpkg/info/countersign.postinst configure 0 > /root/said 2>&1
  grep -q "Put the old one there" /root/said; test ! -e /etc/countersign/secret
  not systemctl start countersign; mv /root/secret /etc/countersign/secret
  systemctl reset-failed countersign.service; systemctl start countersign; countersign healthcheck'
claim "a purged package leaves nothing but its user and the backups" script '
  apt-get purge --yes countersign
  for path in /etc/countersign/secret /etc/countersign/countersign.toml /var/lib/countersign /usr/share/doc/countersign; do test ! -e $path; done
  not systemctl cat countersign.service; not systemctl cat countersign-backup.timer; test -e /var/backups/countersign/first.backup; not ls /etc/systemd/system/*/countersign* 2>/dev/null; not dpkg -s countersign'

echo "Image and compose.yaml"
image=$(ls "$out"/countersign-*-image.tar)
mkdir -p "$machine/image" "$machine/compose/secrets"
"$python" "$here/image.py" "$image" "$machine/image" > "$work/config.json"
claim "the image is not root's, has a health check and no shell" "$python" - "$work/config.json" "$machine/image" <<'P'
import json, os, sys
config = json.load(open(sys.argv[1]))["config"]
assert config["User"] == "10001:10001", config
assert config["Healthcheck"]["Test"] == ["CMD", "/usr/bin/countersign", "healthcheck"], config
assert not any(os.path.exists(f"{sys.argv[2]}/{path}") for path in ("bin/sh", "usr/bin/sh", "usr/bin/env"))
P
again=$work/again
mkdir "$again"
cp "$out/countersign.cdx.json" "$out/third-party-licenses" "$again/"
"$here/../image.sh" "$(cat "$out/.binary")" "$again" > /dev/null
claim "two builds of the image have the same digest" cmp "$image.digest" "$again/$(basename "$image").digest"
"$here/../deb.sh" "$(cat "$out/.binary")" "$again" > /dev/null
claim "two builds of the package are equal" cmp "$(ls "$out"/countersign_*.deb | head -1)" "$(ls "$again"/countersign_*.deb | head -1)"
claim "compose.yaml is what it says, started by hand" bash -c '
  "$0" "$1/compose.py" "$1/../compose.yaml" "$2" > "$3/compose/run.sh"' "$python" "$here" "$work/config.json" "$machine"
claim "the services of compose.yaml start in their order, and a sign-in page answers" script 'bash -euo pipefail /compose/run.sh'

echo "Chart and bill of materials"
claim "the chart is linted, rendered and refuses what does not fit" "$python" "$here/chart.py" "$(ls "$out"/countersign-*.tgz | grep -v image)"
claim "the bill of materials follows CycloneDX's schema" "$python" - "$out/countersign.cdx.json" <<'P'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
assert wrong is None, wrong
P

echo
echo "$((tried - failed)) passed, $failed failed"
(( failed == 0 ))
