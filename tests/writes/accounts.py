"""The writes of sign-in, sign-up, passwords, addresses and second factors."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.idp.oidc.models import Client, Token
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from tests.writes.calls import Write
from tests.writes.world import PASSWORD

NEW = "a-long-password-1"


def post(path: str, changes: Any, body: Any = None, status: int = 302, **options: Any) -> Write:
    return Write("POST", f"/accounts/{path}", changes, body, status=status, **options)


def oauth(path: str, changes: Any, body: Any, **options: Any) -> Write:
    return Write("POST", f"/oauth/{path}", changes, body, **options)


ACCOUNTS = [
    post("login/", Session, {"username": "grace", "password": PASSWORD}, user=""),
    post("logout/", Session, {}),
    post(
        "signup/",
        User,
        {"username": "new", "email": "new@example.org", "password1": NEW, "password2": NEW},
        user="",
    ),
    post("reauthenticate/", Session, {"password": PASSWORD}),
    post("email/", EmailAddress, {"email": "new@example.org", "action_add": ""}),
    post(
        "password/change/",
        User,
        {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW},
        user="grace",
    ),
    post("password/reset/", None, {"email": "grace@example.org"}, user=""),
    post("2fa/recovery-codes/generate/", Authenticator, {}, user="grace"),
    post("2fa/totp/deactivate/", Authenticator, {}, user="grace"),
    post(
        "2fa/webauthn/keys/{w.security_key.pk}/edit/", Authenticator, {"name": "Blue"}, user="grace"
    ),
    post("2fa/webauthn/keys/{w.security_key.pk}/remove/", Authenticator, {}, user="grace"),
    post("linked/", SocialAccount, {"account": "{w.linked.pk}"}, user="grace"),
    Write(
        "POST",
        "/oauth/register",
        Client,
        {
            "client_name": "Tool",
            "redirect_uris": ["https://tool.example/back"],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": "mcp",
        },
        kind="json",
        status=201,
        user="",
    ),
    oauth(
        "authorize", Client, {"request": "{w.signed_request}", "scopes": "mcp", "action": "grant"}
    ),
    oauth(
        "token",
        Token,
        {
            "grant_type": "refresh_token",
            "client_id": "{w.program.pk}",
            "client_secret": "{w.program_secret}",
            "refresh_token": "{w.refresh_token}",
        },
        status=200,
        user="",
    ),
    oauth(
        "revoke",
        Token,
        {
            "client_id": "{w.program.pk}",
            "client_secret": "{w.program_secret}",
            "token": "{w.refresh_token}",
        },
        status=200,
        user="",
    ),
    Write("POST", "/account/programs/disconnect/", Token, {"program": "{w.program.pk}"}),
    Write(
        "POST",
        "/setup/",
        None,
        {"token": "a", "username": "b", "password1": NEW, "password2": NEW},
        status=404,
        user="",
    ),
]
