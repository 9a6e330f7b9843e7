"""An identity provider for tests: allauth's own, in a separate process with its own database."""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["PROVIDER_DIR"])
"""Contains `key.pem`, `people.json`, and the database."""

SECRET_KEY = "of-the-provider"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "tests.identity_provider.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "db.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
SESSION_COOKIE_NAME = "provider_session"  # hosts share cookies across ports
CSRF_COOKIE_NAME = "provider_csrf"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False
IDP_OIDC_ADAPTER = "tests.identity_provider.people.Adapter"
IDP_OIDC_PRIVATE_KEY = (FOLDER / "key.pem").read_text()


def people() -> dict[str, dict[str, Any]]:
    """Return the current claims by user name."""
    found: dict[str, dict[str, Any]] = json.loads((FOLDER / "people.json").read_text())
    return found
