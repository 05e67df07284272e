"""A user's browser with a wallet. It follows redirects, keeps cookies, signs what Countersign's page asks
for, and presses the button of a page that asks whether to log out."""

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
from eth_account import Account
from eth_account.messages import encode_defunct

HOPS = 25


class Forms(HTMLParser):
    """The forms of a page, as (method, action, fields)."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        if tag == "form":
            self.found.append((at.get("method", "get").lower(), at.get("action", ""), {}))
        elif tag in ("input", "button") and self.found and at.get("name"):
            self.found[-1][2].setdefault(at["name"], at.get("value", ""))


def onward(page):
    """Where a page sends the browser by itself: with a redirect, or as the page between the issuer and an application."""
    if page.is_redirect:
        return urljoin(str(page.url), page.headers["location"])
    refresh = re.search(r'<meta http-equiv="refresh" content="\d+;\s*url=([^"]+)"', page.text, re.I)
    return urljoin(str(page.url), unescape(refresh[1])) if refresh else None


class Browser:
    """One user at one computer, with a new wallet unless one is given."""

    def __init__(self, issuer, wallet=None):
        self.issuer = issuer.rstrip("/")
        self.wallet = wallet or Account.create()
        self.http = httpx.Client(timeout=30, headers={"accept": "text/html,*/*;q=0.8"}, event_hooks={"response": [self.trust]})
        self.asked = []  # the parameters of every authorization request, in order
        self.visited = []

    def trust(self, _):
        """URLs of this computer are secure, as in every browser: "Secure" cookies are sent there over http too."""
        for cookie in self.http.cookies.jar:
            cookie.secure = False

    def open(self, url, until=None):
        """Opens a URL and follows it; returns the last page, or the URL that begins with `until`."""
        for _ in range(HOPS):
            self.visited.append(url)
            if until and url.startswith(until):
                return url
            at = urlsplit(url)
            if url.startswith(f"{self.issuer}/oauth/authorize?"):
                self.asked.append({name: values[0] for name, values in parse_qs(at.query).items()})
            if url.startswith(f"{self.issuer}/auth"):
                url = self.sign()
                continue
            page = self.http.get(url)
            url = onward(page)
            if not url:
                return page
        raise AssertionError(f"more than {HOPS} redirects: {self.visited[-4:]}")

    def sign(self):
        """On Countersign's page: requests the text, signs it, submits it, and lets the browser remember it.
        Returns where the page redirects to."""
        request = {name: self.asked[-1][name] for name in ("client_id", "redirect_uri", "state") if name in self.asked[-1]}
        text = self.post("/oauth/challenge", {"wallet_address": self.wallet.address, **request})
        signature = self.wallet.sign_message(encode_defunct(text=text["challenge"])).signature.hex()
        login = {"wallet_address": self.wallet.address, "challenge": text["challenge"], "signature": signature, "remember": True, **request}
        return self.post("/oauth/login", login)["redirect_to"]

    def post(self, path, body):
        """Sends JSON to the issuer, as its page does."""
        answer = self.http.post(self.issuer + path, json=body, headers={"accept": "application/json"})
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def press(self, page, action):
        """Sends the form of a page whose target is `action`, and follows the response."""
        for method, target, fields in Forms(page.text).found:
            if method == "post" and urlsplit(urljoin(str(page.url), target)).path == urlsplit(action).path:
                answer = self.http.post(urljoin(str(page.url), target), data=fields, headers={"origin": self.issuer})
                return self.open(onward(answer)) if onward(answer) else answer
        raise AssertionError(f"no form on this page is sent to {action}: {page.text[:600]}")

    def log_out_at_issuer(self):
        """Ends the session at the issuer itself, and confirms when asked."""
        page = self.open(f"{self.issuer}/oauth/logout")
        return self.press(page, f"{self.issuer}/oauth/logout")
