"""Checks with Prometheus' own parser that the page of metrics is what docs/metrics.md says.

    .venv/bin/python metrics.py http://localhost:8080
"""

import re
import sys
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

TABLE = Path(__file__).parents[2] / "docs" / "metrics.md"


def main():
    with urllib.request.urlopen(f"{sys.argv[1]}/metrics") as answer:
        text = answer.read().decode()
    told = {family.name + ("_total" if family.type == "counter" else ""): family for family in text_string_to_metric_families(text)}
    rows = re.findall(r"^\| `([a-z_]+)` \| (\w+) \| (.*?) \|", TABLE.read_text(), re.MULTILINE)
    assert len(rows) > 10, "the table has rows"
    assert [name for name, _, _ in rows] == list(told), "the page has the table's metrics in the table's order"
    for name, kind, labels in rows:
        family = told[name]
        assert family.type == kind, f"{name} is a {family.type}"
        named = set(re.findall(r"`([a-z_]+)`:", labels))
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == named, f"{sample} has the labels {named}"
            assert sample.value >= 0, sample
        buckets = [sample.value for sample in family.samples if sample.name.endswith("_bucket")]
        counts = [sample.value for sample in family.samples if sample.name.endswith("_count")]
        assert not counts or max(buckets) == max(counts), f"{name} counts everything that is in its buckets"
    print(f"{len(rows)} passed, 0 failed")


if __name__ == "__main__":
    main()
