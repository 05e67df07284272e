# Owns one PostgreSQL cluster for the test process at the other end of the pipe. Every input line is a command, and every
# command gets one line as its answer: `ok`, or what went wrong. When the pipe closes, for any reason, the cluster is
# stopped and removed. A shared cluster is removed when no other process uses it either.
#
# $1: the folder of PostgreSQL's programs
# $2: `durable`, `copy`, or `shared`: then standard error is a file on which every user of the cluster holds a lock
# $3: the port of the cluster to copy and then follow
PATH=$PATH:/usr/sbin
bin=$1
kind=$2
primary=$3
[ "$kind" = shared ] && exec 9>&2 2>/dev/null
# A shared cluster needs no disk, and in memory it takes half the processor time to make and remove a database. A process that
# runs all tests of a crate has several hundred of them, of 8 MB each.
has_room() {
  [ -w /dev/shm ] || return
  memory=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  files=$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')
  [ "${memory:-0}" -gt 8388608 ] && [ "${files:-0}" -gt 8388608 ]
}
base=/tmp
[ "$kind" = shared ] && has_room && base=/dev/shm
dir=$(mktemp -d "${TMPDIR:-$base}/countersign-postgres.XXXXXX") || exit 1
cd "$dir" || exit 1

# The pids of the server and of its child processes.
server() {
  head -n 1 data/postmaster.pid 2>/dev/null
}
served() {
  pgrep -P "$1" | tr '\n' ' '
}

answer() {
  if "$@" >>commands.log 2>&1 </dev/null 9>&-; then echo ok; else echo "failed: $(tail -n 1 commands.log)"; fi
}

clean_up() {
  pid=$(server)
  if [ -n "$pid" ]; then
    kill -CONT "$pid" $(served "$pid") 2>/dev/null
    "$bin/pg_ctl" stop -D data -m immediate -w -t 20 >/dev/null 2>&1 </dev/null
  fi
  for pooler in pooler-*.pid; do
    [ -e "$pooler" ] && kill -KILL "$(cat "$pooler")" 2>/dev/null
  done
  cd / && rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' TERM HUP
trap '' PIPE

# Lets the role of this name in by TLS and with a password only.
secure() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
    -keyout data/server.key -out data/server.crt || return
  chmod 600 data/server.key
  echo 'ssl = on' >>data/postgresql.conf
  printf 'hostssl all %s all scram-sha-256\nhost all %s all reject\n' "$1" "$1" | cat - data/pg_hba.conf >hba.conf
  mv hba.conf data/pg_hba.conf
  "$bin/pg_ctl" reload -D data
}

make_files() {
  if [ "$kind" != copy ]; then
    "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync
  else
    "$bin/pg_basebackup" -D data -h 127.0.0.1 -p "$primary" -U postgres -R -X stream -c fast --no-sync
  fi
}
make_files >commands.log 2>&1 </dev/null || {
  echo "no files: $(tail -n 1 commands.log)"
  exit 1
}
cat >>data/postgresql.conf <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = '$dir'
timezone = 'UTC'
synchronous_commit = on
SETTINGS
# Nobody makes claims about crashes of a cluster that is shared: a commit need not wait for the disk.
if [ "$kind" = shared ]; then
  cat >>data/postgresql.conf <<SETTINGS
max_connections = 1000
shared_buffers = 128MB
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
SETTINGS
else
  cat >>data/postgresql.conf <<SETTINGS
max_connections = 300
shared_buffers = 32MB
fsync = on
full_page_writes = on
SETTINGS
fi
echo "$dir"

while read -r command argument; do
  case $command in
    port) echo "port = $argument" >>data/postgresql.conf; echo ok ;;
    start) answer "$bin/pg_ctl" start -D data -w -t 60 -l server.log ;;
    stop) answer "$bin/pg_ctl" stop -D data -m "$argument" -w -t 60 ;;
    secure) answer secure "$argument" ;;
    promote) answer "$bin/pg_ctl" promote -D data -w -t 60 ;;
    # A pooler in front of the server: its port and its pool mode.
    pool)
      cat >"pooler-${argument%% *}.ini" <<POOLER
[databases]
* = host=127.0.0.1 port=$(sed -n 4p data/postmaster.pid) user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${argument%% *}
unix_socket_dir =
auth_type = any
pool_mode = ${argument##* }
max_client_conn = 200
default_pool_size = 20
pidfile = $dir/pooler-${argument%% *}.pid
logfile = $dir/pooler-${argument%% *}.log
POOLER
      answer pgbouncer --daemon --quiet "pooler-${argument%% *}.ini"
      ;;
    # The server first: a frozen server starts no new child that we would miss. Some children can end before the
    # signal reaches them, which is not a failure.
    pause) pid=$(server); kill -STOP "$pid"; kill -STOP $(served "$pid") 2>/dev/null; answer kill -STOP "$pid" ;;
    resume) pid=$(server); kill -CONT $(served "$pid") 2>/dev/null; answer kill -CONT "$pid" ;;
    *) echo "no such command" ;;
  esac
done

# Until nobody uses it, and nobody came in the seconds after. The lock is kept to the end, so that whoever comes now waits
# until this cluster is gone, and starts another one.
if [ "$kind" = shared ]; then
  while flock 9 && flock -u 9 && sleep 5; do
    flock -n 9 && break
  done
fi
