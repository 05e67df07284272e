"""Signs users in with django-allauth. The settings belong into your settings.py; this project is a single file."""

import os
import secrets
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.http import JsonResponse
from django.urls import include, path

COUNTERSIGN = {
    "provider_id": "countersign",
    "name": "your wallet",
    "client_id": os.environ["CLIENT_ID"],
    "secret": os.environ["CLIENT_SECRET"],
    "settings": {"server_url": os.environ["ISSUER"], "uid_field": "sub", "oauth_pkce_enabled": True, "scope": ["openid", "profile", "email"]},
}

settings.configure(
    SECRET_KEY=secrets.token_hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        *("django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages"),
        *("allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"),
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "allauth.account.middleware.AccountMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:people?mode=memory&cache=shared"}},
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    ACCOUNT_EMAIL_VERIFICATION="none",  # Not every user with a wallet has an e-mail address.
    ACCOUNT_SIGNUP_FIELDS=["username*"],
    SOCIALACCOUNT_EMAIL_REQUIRED=False,
    SOCIALACCOUNT_LOGIN_ON_GET=True,  # Otherwise allauth first shows a page with a button.
    SOCIALACCOUNT_STORE_TOKENS=True,
    SOCIALACCOUNT_PROVIDERS={"openid_connect": {"APPS": [COUNTERSIGN]}},
    LOGIN_REDIRECT_URL="/",
    USE_TZ=True,
)
django.setup()

from allauth.socialaccount.models import SocialToken  # noqa: E402 (needs the settings)


def index(request):  # For the test only. Your application should not show tokens.
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    token = SocialToken.objects.get(account__user=request.user)
    tokens = {"access_token": token.token, "refresh_token": token.token_secret}
    return JsonResponse({"claims": {"sub": token.account.uid}, "person": token.account.extra_data, "tokens": tokens})


urlpatterns = [path("", index), path("accounts/", include("allauth.urls"))]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", urlsplit(os.environ["APP_URL"]).netloc, use_reloader=False, skip_checks=True)
