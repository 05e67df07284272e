"""mod_auth_openidc in Apache, from Debian's packages."""

import secrets
import subprocess
from contextlib import contextmanager
from urllib.parse import urlencode

from browser import Browser
from service import HERE, configure, folder, free_port, running

MODULES = "/usr/lib/apache2/modules"


def installed(package):
    """The version of a Debian package."""
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True, text=True).stdout


ROW = {
    "name": "mod_auth_openidc (Apache)",
    "version": installed("libapache2-mod-auth-openidc"),
    "auth": "client_secret_basic",
    "pkce": "S256",
    "alg": "RS256",
    "snippet": (HERE / "apache/openid.conf").read_text(),
}


def drive(row, issuer):
    app = f"http://127.0.0.1:{(port := free_port())}"
    client = issuer.register_for("apache", app, client_name="Apache", post_logout_redirect_uris=[f"{app}/goodbye.html"])
    with serving(issuer, client, port):
        judge(row, issuer, app, Browser(issuer.url))


def drive_groups(row, issuer, client, wallets):
    app = f"http://127.0.0.1:{(port := free_port())}"
    with serving(issuer, client, port, "groups.conf"):
        for name, status in (("admin", 200), ("staff", 200), ("other", 401)):
            page = Browser(issuer.url, wallets[name]).open(f"{app}/protected/page")
            row.check(f"{name}: {status}", lambda: check_status(page.status_code, status))  # noqa: B023


@contextmanager
def serving(issuer, client, port, *more):
    """Apache at this port, with more files of settings."""
    app = f"http://127.0.0.1:{port}"
    with folder() as here:
        (here / "site/protected").mkdir(parents=True)
        (here / "site/protected/page").write_text("the page behind the sign-in")
        (here / "site/goodbye.html").write_text("goodbye")
        here.chmod(0o755)
        configure(
            here, "apache", ["httpd.conf", "openid.conf", *more], FOLDER=here, PORT=port, MODULES=MODULES, APP=app, ISSUER=issuer.url,
            CLIENT_ID=client["client_id"], CLIENT_SECRET=client["client_secret"], PASSPHRASE=secrets.token_hex(16),
            MORE="\n".join(f"Include {here}/{name}" for name in more),
        )
        command = ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", str(here / "httpd.conf")]
        with running(command, here, f"{app}/goodbye.html"):
            yield


def judge(row, issuer, app, person):
    callback = f"{app}/protected/callback"
    page = person.open(f"{app}/protected/page")

    def signed_in():
        assert page.status_code == 200 and page.text == "the page behind the sign-in", f"{page.status_code} {page.text[:400]}"
        assert str(page.url) == f"{app}/protected/page"

    def says_who():
        assert page.headers["shown-wallet"].lower() == person.wallet.address.lower(), page.headers
        assert page.headers["shown-user"].startswith("User_"), page.headers

    def info():
        answer = person.http.get(f"{callback}?info=json")
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        return answer.json()

    def id_token():
        told = info()
        assert told["id_token"]["iss"] == issuer.url
        assert told["id_token"]["sub"] == told["userinfo"]["sub"]
        assert told["id_token"]["nonce"] == person.asked[-1]["nonce"], "the nonce is the one that Apache sent"

    def userinfo():
        told = info()["userinfo"]
        assert told["wallet_address"].lower() == person.wallet.address.lower(), told
        assert "address" not in told, "with scope openid, the claim of that name is for postal addresses"

    def refresh():
        before = info()
        query = urlencode({"refresh": f"{app}/protected/page", "access_token": before["access_token"]})
        after_page = person.open(f"{callback}?{query}")
        assert after_page.status_code == 200 and "error_code" not in str(after_page.url), after_page.url
        after = info()
        assert after["access_token"] != before["access_token"], "there is a new access token"
        assert issuer.userinfo(after["access_token"]) == 200

    def logout():
        last = person.open(f"{callback}?" + urlencode({"logout": f"{app}/goodbye.html"}))
        assert last.text == "goodbye", f"{last.url}: {last.text[:600]}"
        assert any(url.startswith(issuer.metadata["end_session_endpoint"]) for url in person.visited), "the logout goes through the issuer"
        again = person.http.get(f"{app}/protected/page")
        assert again.is_redirect, "the page requires a sign-in again"

    row.check("a wallet opens the page behind the sign-in", signed_in, "login")
    row.check("the page gets the wallet and the name", says_who, "login")
    row.check("PKCE is used", lambda: check_pkce(person))
    row.check("the ID token is accepted: issuer, nonce, subject", id_token, "id_token")
    row.check("userinfo returns the wallet", userinfo, "userinfo")
    row.check("the tokens are refreshed", refresh, "refresh")
    token = info()["access_token"]
    row.check("logging out goes through the issuer and comes back", logout, "logout")
    row.check("logging out revoked the access token", lambda: check_status(issuer.userinfo(token), 401), "revoke")


def check_pkce(person):
    assert person.asked[0].get("code_challenge_method") == "S256", person.asked[0]


def check_status(found, wanted):
    assert found == wanted, f"{found}, not {wanted}"
