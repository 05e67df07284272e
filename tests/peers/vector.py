"""Vector's own language runs the rule in contrib/vector on the lines of a real log, in both formats.

Arguments: the rule, then the logs. Each log holds the same requests; three of them are refused.
"""

import json
import sys

try:
    import pyvrl
except ImportError:
    # The package has binaries for these two only.
    assert sys.version_info[:2] not in [(3, 11), (3, 12)], "pyvrl is missing: run `make test`"
    print("pyvrl does not exist for this Python: the rule was compiled and run by nobody")
    sys.exit()

rule, *logs = sys.argv[1:]
transform = pyvrl.Transform(open(rule, encoding="utf-8").read())

read = []
for log in logs:
    # Only this character ends a line.
    lines = open(log, encoding="utf-8", newline="\n").read().removesuffix("\n").split("\n")
    parsed = [transform.remap({"message": line}) for line in lines]
    for line, fields in zip(lines, parsed):
        assert fields["timestamp"].tzinfo and fields["level"] in ("INFO", "WARN", "ERROR"), line
        if line.startswith("{"):
            told = json.loads(line)
            assert fields["event"] == told["message"], line
            for name in ("reason", "address", "status", "error", "wallet", "description", "cause"):
                # An empty field is one that is not there.
                assert (fields.get(name) or None) == (told.get(name) or None), line
    refused = [fields for fields in parsed if fields.get("event") == "refused"]
    stable = ("reason", "address", "status", "error", "client_id", "description", "cause", "request_id", "method")
    read.append([{name: fields.get(name) or None for name in stable} for fields in refused])
    print(f"{log}: {len(lines)} lines, {len(refused)} refusals")

expected = [
    ("client_authentication", "203.0.113.7", 401, "invalid_client", "case-1", "POST"),
    ("ended", "2001:db8::7", 401, "invalid_token", "case-2", "GET"),
    ("no_such_page", "203.0.113.7", 404, "invalid_request", "case-3", "GET"),
]
for refused in read:
    names = ("reason", "address", "status", "error", "request_id", "method")
    assert [tuple(fields[name] for name in names) for fields in refused] == expected, refused
    assert all(fields["description"] for fields in refused), refused
print("both formats say the same of three refusals")
