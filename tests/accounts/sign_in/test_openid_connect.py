"""Untrusted responses of an identity provider sign no one in and show the error page."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client

from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

CLIENT = "quickapps"
NOW = int(time.time())


class Provider(ThreadingHTTPServer):
    """Answers each path with the JSON in `answers`."""

    answers: dict[str, Any]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        if self.command == "POST":
            self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(self.server.answers[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name that the base class calls

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    server = Provider(("127.0.0.1", 0), Handler)
    places = {"authorization_endpoint": "/authorize", "token_endpoint": "/token"}
    places |= {"userinfo_endpoint": "/me", "jwks_uri": "/keys"}
    configuration = {name: server.url + path for name, path in places.items()}
    server.answers = {"/.well-known/openid-configuration": {"issuer": server.url, **configuration}}
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    company = {"server_url": server.url, "oauth_pkce_enabled": True, "groups_claim": ""}
    company |= {"allow_sign_up": True, "email_authentication": False}
    app = {"client_id": CLIENT, "secret": "y", "provider_id": "company", "name": "Company"}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "provider_class": "apps.accounts.sign_in.openid_connect.OpenIDConnect",
            "APPS": [{**app, "settings": company}],
        }
    }
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def encoded(part: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def token_of(claims: dict[str, Any]) -> str:
    return f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded(claims)}.c2lnbmF0dXJl"


def sign_in(
    provider: Provider,
    claims: dict[str, Any],
    userinfo: Any = None,
    token: Any = None,
) -> Any:
    """Return the answer to a browser that is redirected back. Claims that are None are omitted."""
    browser = Client()
    left = browser.post("/accounts/oidc/company/login/").text
    found = re.search(r'content="0;url=([^"]+)"', left)
    assert found is not None, left
    asked = {
        name: values[0]
        for name, values in parse_qs(urlsplit(found[1].replace("&amp;", "&")).query).items()
    }
    usual: dict[str, Any] = {
        "iss": provider.url,
        "aud": CLIENT,
        "sub": "7",
        "nonce": asked["nonce"],
    }
    usual |= {"exp": NOW + 86_400, "iat": NOW}
    told = {name: one for name, one in {**usual, **claims}.items() if one is not None}
    tokens = {"access_token": "t", "token_type": "Bearer", "id_token": token_of(told)}
    provider.answers["/token"] = {**tokens, **token} if isinstance(token, dict) else token or tokens
    provider.answers["/me"] = {"sub": told.get("sub")} if userinfo is None else userinfo
    back = {"code": "c", "state": asked["state"]}
    return browser.get("/accounts/oidc/company/callback/", back, follow=True)


def test_a_sign_in_that_is_all_right_makes_an_account(provider: Provider):
    answer = sign_in(provider, {"azp": CLIENT, "preferred_username": "ada"})

    assert "failed. The service may be unavailable or may have rejected" not in answer.text
    assert list(User.objects.values_list("username", flat=True)) == ["ada"]
    assert SocialAccount.objects.get().uid == "7"


@each_row(
    "claims",
    [
        {"exp": None},
        {"exp": "1893456000"},
        {"exp": True},
        {"exp": NOW - 3600},
        {"exp": 10**400},
        {"exp": [1]},
        {"iat": NOW + 86_400},
        {"iat": "soon"},
        {"nbf": NOW + 86_400},
        {"azp": "another"},
        {"azp": [CLIENT]},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"aud": "another"},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 192},
        {"sub": "x" * 100_000},
        {"sub": "a\0b"},
        {"sub": "\ud800"},
        {"name": float("nan")},
        {"nonce": "another"},
        {"iss": "https://another.example.org"},
        {"jti": {"a": 1}, "exp": "1893456000"},
    ],
)
def test_an_id_token_that_cannot_be_trusted_signs_nobody_in(provider: Provider, claims):
    answer = sign_in(provider, claims)

    assert "Signing in with Company failed" in answer.text
    assert not User.objects.exists()


def test_the_log_says_why_a_sign_in_failed(provider: Provider, caplog: pytest.LogCaptureFixture):
    sign_in(provider, {"exp": None})
    sign_in(provider, {"azp": "another"})

    found = [one.getMessage() for one in caplog.records if "Signing in with" in one.getMessage()]
    assert [text.partition(": ")[2] for text in found] == [
        "The ID token has no expiry (exp).",
        "The ID token is for another client.",
    ]


@each_row(
    ("userinfo", "token"),
    [
        ({"sub": "8"}, None),
        ([], None),
        ("7", None),
        ({"sub": ["7"]}, None),
        ({}, 5),
        ({}, ["access_token"]),
        ({}, {"expires_in": "never"}),
        ({}, {"expires_in": 10**30}),
        ({}, {"id_token": "nonsense"}),
        ({}, {"id_token": {"a": 1}}),
        ({}, {"id_token": token_of({})}),
    ],
)
def test_an_answer_of_another_shape_signs_nobody_in(provider: Provider, userinfo, token):
    answer = sign_in(provider, {}, userinfo, token)

    assert "Signing in with Company failed" in answer.text
    assert not User.objects.exists()


@each_row(
    "claims",
    [
        {"azp": CLIENT, "aud": [CLIENT, "another"]},
        {"aud": [CLIENT]},
        {"iat": NOW + 30, "nbf": NOW - 5},
        {"iat": NOW + 0.5},
        {"exp": NOW + 10**9},
        {"sub": "x" * 191},
        {"email": "a" * 300 + "@example.org", "email_verified": True},
        {"preferred_username": "n" * 1000, "given_name": "g" * 1000, "family_name": ["x"]},
        {"groups": {"a": [None]}, "picture": 5},
    ],
)
def test_odd_claims_that_say_nothing_wrong_sign_the_person_in(provider: Provider, claims):
    User.objects.all().delete()

    answer = sign_in(provider, claims)

    assert "failed. The service may be unavailable or may have rejected" not in answer.text
    assert User.objects.count() == 1
