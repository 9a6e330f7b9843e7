"""Users connect programs, which exchange codes for tokens."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.models import AuditEntry
from tests.catalog.rows import make_application
from tests.oauth_server.flows import (
    BACK,
    MCP,
    SITE,
    VERIFIER,
    client_id,
    decide,
    exchange,
    parameters,
    query,
    register,
    signed_in,
    tokens,
)
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_the_metadata_describes_only_what_is_served():
    told = Client().get("/.well-known/oauth-authorization-server").json()

    assert told == {
        "issuer": SITE,
        "authorization_endpoint": f"{SITE}/oauth/authorize",
        "token_endpoint": f"{SITE}/oauth/token",
        "revocation_endpoint": f"{SITE}/oauth/revoke",
        "registration_endpoint": f"{SITE}/oauth/register",
        "scopes_supported": ["mcp"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }


@each_row(
    ("method", "path"),
    [
        ("get", "/.well-known/oauth-authorization-server"),
        ("get", "/oauth/authorize"),
        ("post", "/oauth/token"),
        ("post", "/oauth/revoke"),
        ("post", "/oauth/register"),
    ],
)
def test_nothing_is_served_unless_the_operator_turns_it_on(method, path, settings):
    settings.MCP_OAUTH = False

    assert getattr(Client(), method)(path).status_code == 404


def test_a_program_gets_tokens_that_are_stored_as_hashes(ada: User):
    program = client_id()

    told = decide(signed_in(ada), program)
    answer = exchange(program, told.pop("code"))

    assert told == {"state": "the state", "iss": SITE}
    found = answer.json()
    assert (found["token_type"], found["expires_in"], found["scope"]) == ("Bearer", 3600, "mcp")
    assert answer["Cache-Control"] == "no-store"
    rows = Token.objects.filter(user=ada, client=program)
    assert sorted(rows.values_list("type", "data__resources")) == [("at", [MCP]), ("rt", [MCP])]
    assert found["access_token"] not in str(list(rows.values()))
    [event] = AuditEntry.objects.filter(event="program.connected")
    assert (event.actor, event.subject) == (f"user-{ada.pk}", f"Editor ({program})")


def test_a_signed_out_user_signs_in_first():
    program = client_id()

    answer = Client().get("/oauth/authorize", query(program))

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=/oauth/authorize%3F")


def test_a_user_who_cancels_gives_no_code(ada: User):
    told = decide(signed_in(ada), client_id(), "cancel")

    assert told == {"error": "access_denied", "state": "the state", "iss": SITE}
    assert not Token.objects.exists()


def test_the_page_names_the_program_the_application_and_where_the_user_returns(ada: User):
    make_application("travel")
    program = client_id(client_name="Editor & co", redirect_uris=["https://editor.example/back"])
    sent = query(program, redirect_uri="https://editor.example/back", resource=f"{MCP}/travel")

    page = signed_in(ada).get("/oauth/authorize", sent)

    assert "Connect <bdi>Editor &amp; co</bdi>?" in page.text
    assert "send messages to the app <bdi>Travel</bdi> on your behalf" in page.text
    assert "You’ll return to <strong>editor.example</strong>." in page.text
    directives = page["Content-Security-Policy"].split("; ")
    assert "form-action 'self' https://editor.example" in directives


@each_row(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"resource": None}, "invalid_target"),
        ({"resource": [MCP, f"{MCP}/a"]}, "invalid_target"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{SITE}/v1"}, "invalid_target"),
        ({"resource": f"{MCP}/../v1"}, "invalid_target"),
        ({"resource": f"{SITE}.evil.example/mcp"}, "invalid_target"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"prompt": "none"}, "interaction_required"),
        ({"scope": "openid"}, "invalid_scope"),
        ({"scope": "mcp admin"}, "invalid_scope"),
        ({"response_type": "token"}, "unauthorized_client"),
    ],
)
def test_errors_of_a_request_go_to_the_program(changes, error, ada: User):
    program = client_id()

    answer = signed_in(ada).get("/oauth/authorize", query(program, **changes))

    told = parameters(answer)
    assert (answer.status_code, told["error"]) == (302, error)
    assert (told["state"], told["iss"]) == ("the state", SITE)


@each_row(
    "changes",
    [
        {"client_id": "unknown"},
        {"client_id": None},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "http://127.0.0.1:4000/other"},
        {"redirect_uri": None},
        {"redirect_uri": "https://evil.example/", "code_challenge": None},
    ],
)
def test_a_user_is_never_redirected_to_an_address_that_is_not_registered(changes, ada: User):
    answer = signed_in(ada).get("/oauth/authorize", query(client_id(), **changes))

    assert "Location" not in answer
    assert "The program can’t be connected" in answer.text
    assert "The request from the program is incomplete" in answer.text
    assert "parameter" not in answer.text


@each_row("host", ["127.0.0.1", "localhost"])
def test_a_program_on_the_device_may_listen_on_any_port(host, ada: User):
    program = client_id(redirect_uris=[f"http://{host}/callback"])
    back = f"http://{host}:5555/callback"

    told = decide(signed_in(ada), program, redirect_uri=back)

    assert exchange(program, told["code"], redirect_uri=back).status_code == 200
    assert "5555" not in OAuthClient.objects.get(pk=program).redirect_uris


@each_row(
    "back",
    [
        "http://localhost:5555/other",
        "http://localhost.evil.example:5555/callback",
        "http://localhost@evil.example/callback",
        "https://localhost:5555/callback",
        "http://127.0.0.1:5555/callback",
    ],
)
def test_only_the_port_of_localhost_may_differ(back, ada: User):
    program = client_id(redirect_uris=["http://localhost/callback"])

    answer = signed_in(ada).get("/oauth/authorize", query(program, redirect_uri=back))

    assert "Location" not in answer
    assert "The program can’t be connected" in answer.text


def test_only_applications_that_the_user_can_use_are_offered(ada: User):
    make_application("secret", is_shared=False)

    answer = signed_in(ada).get("/oauth/authorize", query(client_id(), resource=f"{MCP}/secret"))

    assert answer.status_code == 400
    assert "You can’t use this app with your account." in answer.text


def test_another_site_cannot_press_the_button(ada: User):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    page = browser.get("/oauth/authorize", query(client_id()))
    signed = page.context["form"]["request"].value()

    sent = {"request": signed, "scopes": "mcp", "action": "grant"}
    answer = browser.post("/oauth/authorize", sent)
    forged = browser.post("/oauth/authorize", {**sent, "request": f"{signed}a"})

    assert (answer.status_code, forged.status_code) == (403, 403)
    assert not Token.objects.exists()


@each_row(
    ("changes", "error"),
    [
        ({"code_verifier": "another-verifier-of-more-than-forty-three-chars"}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:4000/other"}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"client_id": "unknown"}, "invalid_client"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        (
            {"grant_type": "password", "username": "ada", "password": "a-password-for-tests"},
            "invalid_grant",
        ),
        ({"grant_type": "client_credentials"}, "invalid_client"),
    ],
)
def test_a_code_works_only_for_its_program_and_request(changes, error, ada: User):
    program = client_id()
    code = decide(signed_in(ada), program)["code"]

    answer = exchange(program, **{"code": code, **changes})

    assert answer.status_code in (400, 401)
    assert answer.json()["error"] == error
    assert not Token.objects.exists()


def test_a_code_of_another_program_is_refused(ada: User):
    code = decide(signed_in(ada), client_id())["code"]

    assert exchange(client_id(), code).json()["error"] == "invalid_grant"


def test_a_code_works_once(ada: User):
    program = client_id()
    code = decide(signed_in(ada), program)["code"]

    assert exchange(program, code).status_code == 200
    assert exchange(program, code).json()["error"] == "invalid_grant"


def test_a_token_cannot_be_widened(ada: User):
    make_application("travel")
    program = client_id()
    found = tokens(ada, program, f"{MCP}/travel")
    sent = {"grant_type": "refresh_token", "client_id": program}

    wider = Client().post(
        "/oauth/token", {**sent, "refresh_token": found["refresh_token"], "resource": MCP}
    )

    assert wider.json()["error"] == "invalid_target"


def test_a_refresh_token_works_once_and_renews_the_access(ada: User):
    program = client_id()
    sent = {"grant_type": "refresh_token", "client_id": program}
    first = tokens(ada, program)

    renewed = Client().post("/oauth/token", {**sent, "refresh_token": first["refresh_token"]})
    again = Client().post("/oauth/token", {**sent, "refresh_token": first["refresh_token"]})

    assert renewed.status_code == 200
    assert again.json()["error"] == "invalid_grant"
    newest = Token.objects.filter(type="at").latest("pk")
    assert newest.get_resources() == [MCP]


def test_a_program_revokes_its_token(ada: User):
    program = client_id()
    found = tokens(ada, program)

    answer = Client().post("/oauth/revoke", {"client_id": program, "token": found["refresh_token"]})

    assert answer.status_code == 200
    assert [row.type for row in Token.objects.all()] == ["at"]


@each_row("method", ["client_secret_basic", "client_secret_post"])
def test_programs_with_a_secret_prove_it_and_the_verifier(method, ada: User):
    registered = register(token_endpoint_auth_method=method).json()
    program, secret = registered["client_id"], registered["client_secret"]
    code = decide(signed_in(ada), program)["code"]
    sent: dict[str, Any] = {"grant_type": "authorization_code", "redirect_uri": BACK}
    browser = Client()
    if method == "client_secret_basic":
        browser = Client(headers={"authorization": basic(program, secret)})
    else:
        sent |= {"client_id": program, "client_secret": secret}

    without = browser.post("/oauth/token", {**sent, "code": code})
    no_secret = exchange(program, code)

    assert without.json()["error"] in ("invalid_request", "invalid_grant")
    assert no_secret.json()["error"] == "invalid_client"
    code = decide(signed_in(ada), program)["code"]
    answer = browser.post("/oauth/token", {**sent, "code": code, "code_verifier": VERIFIER})
    assert answer.status_code == 200, answer.text


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()
