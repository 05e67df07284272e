"""Prints a script that does by hand what compose.yaml says: compose.py COMPOSE CONFIG.

The script runs in a machine with PostgreSQL, where the image is unpacked in /image. What the file says in a way that this
does not know is an error, so that the file and the test cannot drift apart.
"""

import json
import re
import shlex
import sys

import yaml

compose, config = yaml.safe_load(open(sys.argv[1])), json.load(open(sys.argv[2]))["config"]
lines = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT", "cd /compose"]


def known(of, *keys):
    strange = set(of) - set(keys)
    assert not strange, strange


def meant(text):
    """The value of a variable that is not set."""
    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}", lambda found: found[2] or "", str(text))


def until(test, seconds, run=""):
    assert test[0] == "CMD", test
    command = run + " " + shlex.join(test[1:])
    lines.append(f"for try in $(seq {seconds * 5}); do {command} && break; test $try -lt {seconds * 5}; sleep 0.2; done")


known(compose, "name", "services", "secrets", "volumes")
known(compose["services"], "countersign", "database")
server, database = compose["services"]["countersign"], compose["services"]["database"]
common = ("image", "environment", "secrets", "healthcheck", "stop_grace_period", "restart")
known(server, *common, "depends_on", "ports", "read_only", "tmpfs", "cap_drop", "security_opt")
known(database, *common, "volumes")
for service in (server, database):
    assert all(f"./secrets/{name}" == compose["secrets"][name]["file"] for name in service["secrets"])
    known(service["healthcheck"], "test", "interval", "timeout", "start_period", "retries")

# The comment at the top of the file says how the secrets are made.
comment = [line.removeprefix("#   ") for line in open(sys.argv[1]) if line.startswith("#   ")]
assert len(comment) == 5, comment
lines += ["rm -rf secrets", *(line.strip() for line in comment), "mkdir -p /run/secrets", "cp -p secrets/* /run/secrets/"]

# PostgreSQL's image makes this user and this database with this password.
known(database["environment"], "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE")
user, name = database["environment"]["POSTGRES_USER"], database["environment"]["POSTGRES_DB"]
lines += [
    "systemctl stop postgresql",
    "echo '127.0.0.1 database' >> /etc/hosts",
    "bin=$(echo /usr/lib/postgresql/*/bin); rm -rf /srv/pg; install -d -o postgres -m 700 /srv/pg",
    f"password=$(cat {database['environment']['POSTGRES_PASSWORD_FILE']})",
    "(umask 077 && printf %s \"$password\" > /srv/pg-password); chown postgres /srv/pg-password",
    f"runuser -u postgres -- $bin/initdb --pgdata /srv/pg --username {user} --pwfile /srv/pg-password --auth scram-sha-256 > /dev/null",
    "runuser -u postgres -- $bin/postgres -D /srv/pg -c listen_addresses=127.0.0.1 -c unix_socket_directories=/tmp 2> /tmp/pg.log &",
]
if name != "postgres":
    lines.append(
        "for try in $(seq 100); do PGPASSWORD=$password createdb --host 127.0.0.1 --username "
        f"{user} --maintenance-db postgres {name} 2>/dev/null && break; test $try -lt 100; sleep 0.2; done"
    )
assert server["depends_on"] == {"database": {"condition": "service_healthy"}}
until(database["healthcheck"]["test"] + ["--host", "127.0.0.1"], 30)

# The image: its user, no capabilities, a root that cannot be written, and the variables of image and file.
assert server["read_only"] and server["cap_drop"] == ["ALL"] and server["security_opt"] == ["no-new-privileges:true"]
assert server["ports"] == ["127.0.0.1:8080:8080"] and server["tmpfs"] == ["/tmp"]
variables = [*config["Env"], *(f"{key}={meant(value)}" for key, value in server["environment"].items())]
uid, gid = config["User"].split(":")
lines += [
    "mount --bind /image /image; mkdir -p /image/run/secrets",
    "mount --bind /run/secrets /image/run/secrets; cp /etc/hosts /image/etc/hosts",
    "mount -o remount,bind,ro /image; mount -t tmpfs tmpfs /image/tmp",
    "install -d -m 700 -o " + uid + " /srv/data; mount --bind /srv/data /image/var/lib/countersign",
    "! touch /image/usr/x 2>/dev/null",
]
run = f"env -i {shlex.join(variables)} setpriv --no-new-privs chroot --userspec={config['User']} /image"
lines += [
    f"{run} {shlex.join(config['Entrypoint'] + config['Cmd'])} 2> /tmp/server.log &",
    "server=$!",
]
until(server["healthcheck"]["test"], 60, run)
lines += [
    "exec 3<>/dev/tcp/127.0.0.1/8080",
    r'printf "GET /.well-known/openid-configuration HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n" >&3',
    "read -r line <&3; [[ $line == *' 200 '* ]] || { echo \"$line\"; cat /tmp/server.log; exit 1; }",
    "exec 3>&-",
    # A container is stopped by the image's signal, and has this long.
    f"kill -{config['StopSignal'].removeprefix('SIG')} $server; timeout {server['stop_grace_period'].rstrip('s')} tail --pid=$server -f /dev/null",
    "wait $server",
    "echo started, answered and stopped",
]
print("\n".join(lines))
