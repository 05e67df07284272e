"""Signs users in with mozilla-django-oidc. The settings belong into your settings.py; this project is a single file."""

import os
import secrets
from urllib.parse import urlencode, urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.http import JsonResponse
from django.urls import include, path

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]


def logout_url(request):
    asked = {"id_token_hint": request.session["oidc_id_token"], "post_logout_redirect_uri": f"{APP_URL}/"}
    return f"{ISSUER}/oauth/logout?{urlencode(asked)}"


settings.configure(
    SECRET_KEY=secrets.token_hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "mozilla_django_oidc"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:people?mode=memory&cache=shared"}},
    AUTHENTICATION_BACKENDS=[f"{__name__}.ByWallet"],
    OIDC_OP_AUTHORIZATION_ENDPOINT=f"{ISSUER}/oauth/authorize",
    OIDC_OP_TOKEN_ENDPOINT=f"{ISSUER}/oauth/token",
    OIDC_OP_USER_ENDPOINT=f"{ISSUER}/oauth/userinfo",
    OIDC_OP_JWKS_ENDPOINT=f"{ISSUER}/oauth/jwks",
    OIDC_OP_LOGOUT_URL_METHOD=f"{__name__}.logout_url",
    OIDC_RP_CLIENT_ID=os.environ["CLIENT_ID"],
    OIDC_RP_CLIENT_SECRET=os.environ["CLIENT_SECRET"],
    OIDC_RP_SIGN_ALGO="RS256",
    OIDC_RP_SCOPES="openid profile",
    OIDC_USE_PKCE=True,
    OIDC_STORE_ID_TOKEN=True,
    OIDC_STORE_ACCESS_TOKEN=True,
    LOGIN_REDIRECT_URL="/",
    LOGOUT_REDIRECT_URL="/",
)
django.setup()

from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402 (needs the settings)


class ByWallet(OIDCAuthenticationBackend):
    """Identifies users by `sub`, because not every user with a wallet has an e-mail address."""

    def filter_users_by_claims(self, claims):
        return self.UserModel.objects.filter(username=claims["sub"])

    def create_user(self, claims):
        return self.UserModel.objects.create_user(claims["sub"], email=claims.get("email", ""), last_name=claims["wallet_address"])


def index(request):  # For the test only. Your application should not show tokens.
    tokens = {name: request.session.get(f"oidc_{name}") for name in ("access_token", "id_token")}
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    person = {"wallet_address": request.user.last_name}
    return JsonResponse({"claims": {"sub": request.user.username}, "person": person, "tokens": tokens})


urlpatterns = [path("", index), path("oidc/", include("mozilla_django_oidc.urls"))]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", urlsplit(APP_URL).netloc, use_reloader=False, skip_checks=True)
