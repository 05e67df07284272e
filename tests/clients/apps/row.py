"""The results for one application: a line for each check, and at the end its row of the table as one line of JSON."""

import json
import traceback

STEPS = ("login", "id_token", "refresh", "userinfo", "revoke", "logout")


class Row:
    def __init__(self, name, version, auth, pkce, alg, snippet, note=""):
        self.fields = {"name": name, "version": version, "kind": "application", "auth": auth, "pkce": pkce, "alg": alg}
        self.snippet = snippet
        self.note = note
        self.steps = dict.fromkeys(STEPS, "none")
        self.failed = 0

    def check(self, claim, body, step=None):
        """Runs one check. If it fails, the others still run. With `step`, a column of the table depends on it."""
        try:
            result = body()
            print(f"ok      {claim}", flush=True)
        except Exception:
            self.failed += 1
            result = None
            print(f"FAILED  {claim}\n        " + traceback.format_exc().strip().replace("\n", "\n        "), flush=True)
            if step:
                self.steps[step] = "failed"
        else:
            if step and self.steps[step] == "none":
                self.steps[step] = "ok"
        return result

    def json(self):
        result = "failed" if self.failed else "ok"
        return json.dumps({**self.fields, "steps": self.steps, "snippet": self.snippet, "result": result, "note": self.note})
