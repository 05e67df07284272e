"""Lints and renders the chart with Helm, and looks at what comes out: chart.py CHART."""

import pathlib
import subprocess
import sys
import tempfile

import helm_python
import yaml
from helm_python import Chart

folder = pathlib.Path(tempfile.mkdtemp())
subprocess.run(["tar", "-C", folder, "-xzf", sys.argv[1]], check=True)
path = str(folder / "countersign")
SETTINGS = 'public_url = "https://auth.example.com"\ntrusted_proxies = "10.0.0.0/8"\nworkers = 2\n'
LEAST = {"settings": SETTINGS, "existingSecret": "countersign"}
tried = 0


def rendered(values):
    chart = Chart.load(path)
    chart.validate_schema(values)
    made = chart.render(values)
    texts = [text for path, text in made.items() if path.endswith(".yaml")]
    found = [item for text in texts for item in yaml.safe_load_all(text) if isinstance(item, dict)]
    return {(item["kind"], item["metadata"]["name"]): item for item in found}


def only(items, kind):
    [item] = [item for (of, _), item in items.items() if of == kind]
    return item


def refused(because, **values):
    global tried
    tried += 1
    try:
        rendered({**LEAST, **values})
    except helm_python.HelmError:
        return
    raise AssertionError(f"{because} was accepted")


report = helm_python.lint(path, LEAST, strict=True)
assert not report["errors"] and not [found for found in report["messages"] if found["severity"] >= 2], report

# Two servers behind TLS.
items = rendered(
    {
        **LEAST,
        "replicas": 2,
        "ingress": {"enabled": True, "className": "nginx", "host": "auth.example.com", "tls": {"secretName": "auth-tls"}},
        "metrics": {"enabled": True, "port": 9090},
    }
)
deployment = only(items, "Deployment")["spec"]
pod = deployment["template"]["spec"]
[container] = pod["containers"]
assert deployment["replicas"] == 2
assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001
assert container["securityContext"] == {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
assert not pod["automountServiceAccountToken"] and not pod["enableServiceLinks"]
assert only(items, "ConfigMap")["data"]["countersign.toml"] == SETTINGS
environment = {variable["name"]: variable["value"] for variable in container["env"]}
assert environment["COUNTERSIGN_DATABASE_URL_FILE"] == "/run/secrets/countersign/database_url"
[credentials] = [volume for volume in pod["volumes"] if volume["name"] == "credentials"]
assert credentials["secret"] == {"secretName": "countersign", "defaultMode": 0o440}
ingress = only(items, "Ingress")["spec"]
assert ingress["tls"] == [{"hosts": ["auth.example.com"], "secretName": "auth-tls"}]
assert only(items, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
services = [item for (kind, _), item in items.items() if kind == "Service"]
assert sorted(port["name"] for service in services for port in service["spec"]["ports"]) == ["http", "metrics"]
assert not any(service["spec"]["type"] != "ClusterIP" for service in services)
selector = deployment["selector"]["matchLabels"]
assert all(service["spec"]["selector"] == selector for service in services)
assert selector.items() <= deployment["template"]["metadata"]["labels"].items()

# Changed settings start new servers.
other = rendered({**LEAST, "settings": SETTINGS + "code_ttl = 30\n"})
mark = "checksum/settings"
assert (
    only(other, "Deployment")["spec"]["template"]["metadata"]["annotations"][mark]
    != deployment["template"]["metadata"]["annotations"][mark]
)

# One server on SQLite.
alone = rendered({**LEAST, "persistence": {"enabled": True, "size": "2Gi"}})
assert only(alone, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}
assert only(alone, "PersistentVolumeClaim")["spec"]["resources"]["requests"]["storage"] == "2Gi"
assert not any(kind in ("Ingress", "PodDisruptionBudget") for kind, _ in alone)

refused("no secret", existingSecret="")
refused("settings without a public URL", settings="workers = 2\n")
refused("a secret among the settings", settings=SETTINGS + 'secret = "x"\n')
refused("another port than the chart's", settings=SETTINGS + 'bind = "0.0.0.0:9"\n')
refused("two servers on one file", replicas=2, persistence={"enabled": True})
refused("TLS without a certificate", ingress={"enabled": True, "host": "a.example", "tls": {"secretName": ""}})
refused("an ingress without a host", ingress={"enabled": True, "host": "", "tls": {"secretName": "a"}})
refused("no server", replicas=0)
refused("a value with a typing error", replica=2)
refused("a name that Kubernetes does not have", existingSecret="Not a name")
print(f"{len(items)}, {len(other)} and {len(alone)} objects; {tried} wrong values refused")
