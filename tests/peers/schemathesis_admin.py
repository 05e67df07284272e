"""Checks with schemathesis that the admin interface does what its own description says, for valid and invalid requests.

    .venv/bin/python schemathesis_admin.py http://127.0.0.1:9091 csak_…
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main():
    base, key = sys.argv[1:3]
    finished = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            f"--config-file={HERE / 'schemathesis_admin.toml'}",
            "run",
            f"{base}/admin/api/v1/openapi.json",
        ],
        env={**os.environ, "COUNTERSIGN_ADMIN_KEY": key},
        cwd=HERE.parents[1] / "target",  # It writes files into its working directory.
        check=False,
    )
    print(f"{int(finished.returncode == 0)} passed, {int(finished.returncode != 0)} failed")
    sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
