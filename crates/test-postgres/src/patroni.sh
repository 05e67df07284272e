# Owns a PostgreSQL of several nodes that heals itself: etcd, HAProxy, and a Patroni with its PostgreSQL for each node. Every
# input line is a command, and every command gets one line as its answer: `ok`, or what went wrong. When the pipe closes, for
# any reason, all of it is stopped and removed.
#
# $1: the folder of PostgreSQL's programs
# $2, $3: ports of etcd, for clients and for peers
# $4: HAProxy's port
# $5 and so on: PORT:PORT of each node, PostgreSQL's and Patroni's
# Standard error is not written to: it is the archive with the programs, which the user `postgres` may have no way to open.
PATH=$PATH:/usr/sbin
bin=$1
etcd=$2
peers=$3
proxy=$4
shift 4
dir=$(mktemp -d "${TMPDIR:-/tmp}/countersign-patroni.XXXXXX") || exit 1
cd "$dir" || exit 1
mkdir tools
tar -x -C tools <&2 2>tar.log || {
  echo "no programs: $(tail -n 1 tar.log)"
  exit 1
}
exec 2>>"$dir/commands.log"
export PYTHONPATH="$dir/tools/usr/lib/python3/dist-packages" LD_LIBRARY_PATH="$dir/tools/usr/lib/$(uname -m)-linux-gnu"

# The processes of a node's PostgreSQL: the server, then its children.
served() {
  server=$(head -n 1 "data$1/postmaster.pid") || return
  echo "$server"
  pgrep -P "$server"
}

# Patroni first, so that it does not see what happens to its PostgreSQL; and the server before its children, so that it starts
# no new ones. Some children can end before the signal reaches them.
signal() {
  kill "-$1" "$(cat "patroni$2.pid")"
  for pid in $(served "$2"); do kill "-$1" "$pid"; done
  return 0
}

answer() {
  if "$@" >>commands.log </dev/null; then echo ok; else echo "failed: $(tail -n 1 commands.log)"; fi
}

clean_up() {
  # Whoever is orphaned together with stopped processes is told to hang up, also a second time.
  trap '' TERM HUP
  for pid in patroni*.pid; do
    [ -e "$pid" ] && kill -KILL "$(cat "$pid")"
  done
  for data in data*; do
    [ -e "$data/postmaster.pid" ] || continue
    number=${data#data}
    kill -CONT $(served "$number")
    "$bin/pg_ctl" stop -D "$data" -m immediate -w -t 20 >/dev/null </dev/null
  done
  for pid in etcd.pid proxy.pid; do
    [ -e "$pid" ] && kill -KILL "$(cat "$pid")"
  done
  cd / && rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' TERM HUP
trap '' PIPE

# As docs/scaling.md shows it.
cat >haproxy.cfg <<PROXY
global
    maxconn 1000

defaults
    mode tcp
    timeout connect 2s
    timeout check 2s
    timeout client 30m
    timeout server 30m

listen primary
    bind 127.0.0.1:$proxy
    option httpchk GET /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
PROXY
number=0
for ports in "$@"; do
  number=$((number + 1))
  echo "    server node$number 127.0.0.1:${ports%:*} check port ${ports#*:}" >>haproxy.cfg
  cat >"node$number.yml" <<NODE
scope: countersign
name: node$number
restapi:
  listen: 127.0.0.1:${ports#*:}
  connect_address: 127.0.0.1:${ports#*:}
etcd3:
  host: 127.0.0.1:$etcd
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        synchronous_commit: 'on'
        wal_log_hints: 'on'
        max_connections: 100
        shared_buffers: 32MB
        timezone: UTC
  initdb:
    - encoding: UTF8
    - locale: C
  pg_hba:
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
postgresql:
  listen: 127.0.0.1:${ports%:*}
  connect_address: 127.0.0.1:${ports%:*}
  data_dir: $dir/data$number
  bin_dir: $bin
  pgpass: $dir/pgpass$number
  parameters:
    unix_socket_directories: $dir
  authentication:
    superuser:
      username: postgres
    replication:
      username: replicator
    rewind:
      username: postgres
NODE
done
echo "$dir"

while read -r command node; do
  case $command in
    etcd)
      ETCD_UNSUPPORTED_ARCH=$(uname -m | sed s/aarch64/arm64/) tools/usr/bin/etcd --data-dir "$dir/etcd" --logger zap \
        --listen-client-urls "http://127.0.0.1:$etcd" --advertise-client-urls "http://127.0.0.1:$etcd" \
        --listen-peer-urls "http://127.0.0.1:$peers" --initial-advertise-peer-urls "http://127.0.0.1:$peers" \
        --initial-cluster "default=http://127.0.0.1:$peers" >etcd.log 2>&1 </dev/null &
      echo $! >etcd.pid
      echo ok
      ;;
    proxy)
      tools/usr/sbin/haproxy -db -f haproxy.cfg >proxy.log 2>&1 </dev/null &
      echo $! >proxy.pid
      echo ok
      ;;
    patroni)
      /usr/bin/python3 tools/usr/bin/patroni "node$node.yml" >>"patroni$node.log" 2>&1 </dev/null &
      echo $! >"patroni$node.pid"
      echo ok
      ;;
    # The PostgreSQL of a node, without a word to its Patroni.
    crash) answer kill -KILL "$(head -n 1 "data$node/postmaster.pid")" ;;
    # The whole node.
    kill) answer signal KILL "$node" ;;
    freeze) answer signal STOP "$node" ;;
    thaw) answer signal CONT "$node" ;;
    *) echo "no such command" ;;
  esac
done
