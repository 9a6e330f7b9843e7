"""Programs register themselves, within limits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.accounts.models import ProgramConnection
from apps.accounts.oauth import programs
from tests.oauth_server.flows import register, tokens
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_only_the_metadata_that_is_used_is_stored():
    answer = register(scope="openid admin", logo_uri="https://a.example/", jwks={"keys": []})

    assert answer.status_code == 201
    [row] = OAuthClient.objects.all()
    assert (row.get_scopes(), row.data, row.skip_consent) == (["mcp"], {"dcr": True}, False)
    assert answer.json()["scope"] == "mcp"


def test_a_program_without_a_name_has_the_name_of_its_site():
    register(client_name="", redirect_uris=["https://editor.example/back"])

    assert OAuthClient.objects.get().name == "editor.example"


@each_row(
    "address",
    [
        "http://editor.example/",
        "https://",
        "https://user@editor.example/",
        "https://editor.example/#part",
        "https://a b/",
        "https://editor.example;script-src/",
        "javascript:alert(1)",
        "data:text/html,a",
        "file:///etc/passwd",
        "/relative",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "https://editor.example/\0",
        "https://editor.example/\ud800",
        "https://editor.example/" + "a" * 500,
    ],
)
def test_redirect_uris_that_could_harm_users_are_refused(address):
    answer = register(redirect_uris=[address])

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_client_metadata"
    assert not OAuthClient.objects.exists()


@each_row("address", ["cursor://anysphere.cursor/oauth", "com.example.app:/back", "http://[::1]/"])
def test_addresses_of_programs_on_the_device_are_allowed(address):
    assert register(redirect_uris=[address]).status_code == 201


@each_row(
    "changes",
    [
        {"redirect_uris": []},
        {"redirect_uris": "https://a.example/"},
        {"redirect_uris": [1]},
        {"redirect_uris": [f"https://a.example/{number}" for number in range(11)]},
        {"grant_types": ["client_credentials"]},
        {"grant_types": ["authorization_code", "implicit"]},
        {"response_types": ["token"]},
        {"response_types": ["code", "id_token"]},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_name": "a\ud800"},
        {"client_name": "a\nb"},
        {"client_name": "a" * 101},
        {"client_name": "x" * 20_000},
    ],
)
def test_other_invalid_metadata_is_refused(changes):
    answer = register(**changes)

    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_redirect_uri")


@each_row("body", [b"", b"[]", b"\xff", b"[" * 10_000, b'{"redirect_uris":' + b"[" * 5000])
def test_bodies_that_are_not_an_object_are_refused(body):
    answer = Client().post("/oauth/register", body, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_registrations_are_limited_by_address(settings):
    settings.IDP_OIDC_RATE_LIMITS = {"client_registration": "2/m/ip"}

    found = [register().status_code for _ in range(3)]

    assert found == [201, 201, 429]


def test_the_oldest_programs_that_nobody_connected_make_room(monkeypatch, ada: User):
    monkeypatch.setattr(programs, "MOST_UNCONNECTED", 2)
    tokens(ada)
    connected = OAuthClient.objects.get().pk
    made = [register().json()["client_id"] for _ in range(4)]

    kept = set(OAuthClient.objects.values_list("pk", flat=True))

    assert connected in kept
    assert made[-1] in kept
    assert len(kept) <= 4


def test_programs_that_nobody_connected_are_deleted_after_a_day(ada: User):
    tokens(ada)
    kept = OAuthClient.objects.get().pk
    register()
    long_ago = timezone.now() - timedelta(days=2)
    OAuthClient.objects.update(created_at=long_ago)
    Token.objects.update(expires_at=long_ago)
    fresh = register().json()["client_id"]

    ProgramConnection.objects.update(connected_at=long_ago)

    assert programs.delete_expired_tokens() == 2
    assert not ProgramConnection.objects.exists()
    assert programs.delete_unconnected() == 1
    assert set(OAuthClient.objects.values_list("pk", flat=True)) == {kept, fresh}
