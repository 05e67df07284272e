"""Whole applications as relying parties: a user with a wallet signs in, starting at the application's own URL.

    .venv/bin/python run.py apache|jupyterhub|streamlit|synapse http://localhost:8080 [GROUPS]

Prints a line for each check, and at the end the application's row of docs/clients as one line of JSON.

With GROUPS, the application maps the claim `groups` to roles of its own instead, and three wallets sign in. GROUPS is JSON: `client`,
which the operator registered for 127.0.0.1 at any port and to which all groups are released, and two private keys, `admin` and
`staff`. The first wallet is in the groups `admins` and `staff`, the second in `staff`; a third, made here, is in none.
"""

import importlib.util
import json
import sys
import traceback

from eth_account import Account
from issuer import Issuer
from row import Row
from service import HERE

APPS = ("apache", "jupyterhub", "streamlit", "synapse")


def load(app):
    """The driver in the application's folder. The folders have the names of packages, so the driver is loaded by its path."""
    spec = importlib.util.spec_from_file_location(f"drive_{app}", HERE / app / "driver.py")
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    return driver


def main(app, url, groups=None):
    driver = load(app)
    row = Row(**driver.ROW)
    try:
        if groups:
            told = json.loads(groups)
            wallets = {name: Account.from_key(told[name]) for name in ("admin", "staff")}
            driver.drive_groups(row, Issuer(url), told["client"], {**wallets, "other": Account.create()})
        else:
            driver.drive(row, Issuer(url))
    except Exception:
        # If the application does not run or nobody is signed in, nothing else can be checked.
        row.failed += 1
        row.steps["login"] = "failed"
        print("FAILED  the application runs and a user signs in\n" + traceback.format_exc())
    print(row.json())
    return 1 if row.failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in APPS:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
