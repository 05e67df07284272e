"""Whole applications as relying parties: a user with a wallet signs in, starting at the application's own URL.

    .venv/bin/python run.py apache|jupyterhub|streamlit|synapse http://localhost:8080

Prints a line for each check, and at the end the application's row of docs/clients.md as one line of JSON.
"""

import importlib.util
import sys
import traceback

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


def main(app, url):
    driver = load(app)
    row = Row(**driver.ROW)
    try:
        driver.drive(row, Issuer(url))
    except Exception:
        # If the application does not run or nobody is signed in, nothing else can be checked.
        row.failed += 1
        row.steps["login"] = "failed"
        print("FAILED  the application runs and a user signs in\n" + traceback.format_exc())
    print(row.json())
    return 1 if row.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in APPS:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
