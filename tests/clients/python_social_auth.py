"""Signs users in with python-social-auth, in Django. The settings belong into your settings.py; this project is a single file."""

import os
import secrets
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.http import HttpResponseRedirect, JsonResponse
from django.urls import include, path

settings.configure(
    SECRET_KEY=secrets.token_hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "social_django"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:people?mode=memory&cache=shared"}},
    AUTHENTICATION_BACKENDS=["social_core.backends.open_id_connect.OpenIdConnectAuth"],
    SOCIAL_AUTH_OIDC_OIDC_ENDPOINT=os.environ["ISSUER"],
    SOCIAL_AUTH_OIDC_KEY=os.environ["CLIENT_ID"],
    SOCIAL_AUTH_OIDC_SECRET=os.environ["CLIENT_SECRET"],
    SOCIAL_AUTH_OIDC_SCOPE=["offline_access"],  # openid, profile and email are always asked for.
    SOCIAL_AUTH_OIDC_ID_KEY="sub",
    SOCIAL_AUTH_OIDC_EXTRA_DATA=["id_token", "refresh_token", "wallet_address"],
    SOCIAL_AUTH_LOGIN_REDIRECT_URL="/",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from social_django.utils import load_strategy  # noqa: E402 (needs the settings)


def refresh(request):
    request.user.social_auth.get().refresh_token(load_strategy(request))
    return HttpResponseRedirect("/")


def index(request):  # For the test only. Your application should not show tokens.
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    known = request.user.social_auth.get()
    return JsonResponse({"claims": {"sub": known.uid}, "person": known.extra_data, "tokens": known.extra_data})


urlpatterns = [path("", index), path("refresh", refresh), path("", include("social_django.urls"))]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", urlsplit(os.environ["APP_URL"]).netloc, use_reloader=False, skip_checks=True)
