"""The setting SIGN_IN_PROVIDERS."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from quickapps_site.identity_providers import read_providers

COMPANY = {
    "id": "company",
    "name": "Company",
    "server_url": "https://id.example.org/realms/main",
    "client_id": "quickapps",
    "client_secret_env": "COMPANY_SECRET",
}


def test_nothing_is_configured_by_default():
    kinds = read_providers("")

    assert [kind["APPS"] for kind in kinds.values()] == [[], []]


def test_providers_are_what_allauth_reads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COMPANY_SECRET", "s3cret")
    github = {"id": "github", "kind": "github", "name": "GitHub", "client_id": "Iv1"}
    company = {**COMPANY, "groups_claim": "groups", "link_by_verified_email": True}

    kinds = read_providers(json.dumps([company, {**github, "allow_sign_up": False}]))

    assert kinds["openid_connect"]["APPS"] == [
        {
            "provider_id": "company",
            "name": "Company",
            "client_id": "quickapps",
            "secret": "s3cret",
            "settings": {
                "oauth_pkce_enabled": True,
                "email_authentication": True,
                "groups_claim": "groups",
                "allow_sign_up": None,
                "client_secret_env": "COMPANY_SECRET",
                "server_url": "https://id.example.org/realms/main",
                "scope": ["openid", "profile", "email"],
            },
        }
    ]
    assert kinds["github"]["APPS"][0] == {
        "provider_id": "github",
        "name": "GitHub",
        "client_id": "Iv1",
        "secret": "",
        "settings": {
            "oauth_pkce_enabled": True,
            "email_authentication": False,
            "groups_claim": "",
            "allow_sign_up": False,
            "client_secret_env": "",
            "scope": ["user:email"],
        },
    }


@pytest.mark.parametrize(
    ("providers", "message"),
    [
        ("{", "SIGN_IN_PROVIDERS: : Invalid JSON: EOF while parsing an object at line 1 column 1"),
        ([{**COMPANY, "secret": "x"}], "0.secret: Extra inputs are not permitted"),
        ([COMPANY], "company: the variable COMPANY_SECRET is not set."),
        (
            [{**COMPANY, "server_url": ""}],
            "company: set a server_url, and use an ID other than github.",
        ),
        (
            [{**COMPANY, "kind": "github"}],
            "company: for GitHub, use the ID github and no server_url.",
        ),
        (
            [{**COMPANY, "client_secret_env": ""}] * 2,
            "two providers have the same id; change one of them.",
        ),
    ],
)
def test_a_mistake_stops_the_start_and_nothing_of_it_is_repeated(providers: Any, message: str):
    raw = providers if isinstance(providers, str) else json.dumps(providers)

    with pytest.raises(ImproperlyConfigured) as refused:
        read_providers(raw)

    assert str(refused.value).removeprefix("SIGN_IN_PROVIDERS: ") in message
    assert refused.value.__cause__ is None
