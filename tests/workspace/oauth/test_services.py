"""Sign-in addresses from servers' metadata, and metadata that is not trusted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from starlette.responses import JSONResponse, RedirectResponse, Response

from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.oauth import services
from apps.workspace.oauth.clients import NO_REGISTRATION, register
from apps.workspace.oauth.requests import MOST_BYTES, SignInFailed
from apps.workspace.oauth.services import ANOTHER_ISSUER, ANOTHER_SERVER, NOWHERE, WITHOUT_PKCE
from tests.servers.sign_in_service import Behind, SignInService, serve_sign_in

HOW = OAuthAuthorization()
RESOURCE = "/.well-known/oauth-protected-resource/mcp"
SERVICE = "/.well-known/oauth-authorization-server"
WITHOUT_TLS = "The sign-in service’s URL doesn’t use HTTPS, so the service can’t be used."


@pytest.fixture(scope="module")
def served() -> Iterator[Behind]:
    with serve_sign_in() as running:
        yield running


@pytest.fixture
def service(settings: Settings, served: Behind) -> SignInService:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    served.service = SignInService(served.service.url)
    return served.service


async def refusal(service: SignInService, how: OAuthAuthorization = HOW) -> str:
    with pytest.raises(SignInFailed) as failed:
        await services.find_service(service.mcp_url, how)
    return str(failed.value)


async def test_a_server_says_where_people_sign_in(service: SignInService):
    found = await services.find_service(service.mcp_url, HOW)

    assert found == services.SignInService(
        server=service.mcp_url,
        issuer=service.url,
        authorization_url=f"{service.url}/authorize",
        token_url=f"{service.url}/token",
        registration_url=f"{service.url}/register",
        revocation_url=f"{service.url}/revoke",
        methods=("client_secret_basic", "none"),
        resource=service.mcp_url,
        scope="notes.read",
        names_itself=True,
    )
    assert services.SignInService.from_json(found.as_json()) == found
    assert service.asked == [f"GET {RESOURCE}", f"GET {SERVICE}"]


@pytest.mark.parametrize("by_post", [False, True])
async def test_the_challenge_of_a_refused_request_decides(service: SignInService, by_post: bool):
    """A server may have its metadata anywhere, and need not support GET."""
    service.answers["/elsewhere"] = JSONResponse(
        {"resource": service.mcp_url, "authorization_servers": [service.url]}
    )
    told = f'Bearer scope="notes.write", resource_metadata="{service.url}/elsewhere"'
    refusal = JSONResponse({}, 401, {"WWW-Authenticate": told})
    service.mcp = {"POST": refusal, "GET": Response("", 405)}

    found = await services.find_service(service.mcp_url, HOW, "" if by_post else told)

    assert found.scope == "notes.write"
    assert service.asked == ["GET /elsewhere", f"GET {SERVICE}"]


async def test_a_scope_that_a_sign_in_lacks_is_added_to_the_operators(service: SignInService):
    lack = 'Bearer error="insufficient_scope", scope="notes.write notes.read"'
    how = OAuthAuthorization(scope="notes.read")

    found = await services.find_service(service.mcp_url, how, lack)

    assert found.scope == "notes.read notes.write"


async def test_what_a_server_says_of_scopes_is_read_as_scopes(service: SignInService):
    service.resource = {"scopes_supported": ["a:b", "c\x00d", 'e"f', "ü"]}

    assert (await services.find_service(service.mcp_url, HOW)).scope == "a:b c d e f"


async def test_what_the_operator_writes_is_not_asked_for(service: SignInService):
    how = OAuthAuthorization(
        client_id="c",
        authorization_url=f"{service.url}/a",
        token_url=f"{service.url}/t",
        scope="notes",
    )

    found = await services.find_service(service.mcp_url, how)

    assert (found.authorization_url, found.token_url) == (f"{service.url}/a", f"{service.url}/t")
    assert (found.scope, found.resource, found.is_configured) == ("notes", "", True)
    assert service.asked == []


async def test_a_service_may_describe_itself_as_openid_connect_does(service: SignInService):
    service.answers[SERVICE] = JSONResponse({}, 404)
    service.answers["/.well-known/openid-configuration"] = JSONResponse(service.description)

    found = await services.find_service(service.mcp_url, HOW)

    assert found.token_url == f"{service.url}/token"


async def test_a_server_that_names_no_service_may_be_one_itself(service: SignInService):
    service.answers[RESOURCE] = JSONResponse({}, 404)

    found = await services.find_service(service.mcp_url, HOW)

    assert (found.issuer, found.resource) == (service.url, service.mcp_url)


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"code_challenge_methods_supported": None}, WITHOUT_PKCE),
        ({"code_challenge_methods_supported": ["plain"]}, WITHOUT_PKCE),
        ({"issuer": "https://other.example.com"}, ANOTHER_ISSUER),
        ({"token_endpoint": None}, NOWHERE),
        ({"authorization_endpoint": "javascript:alert(1)"}, NOWHERE),
        ({"authorization_endpoint": "http://public.example.com/a"}, WITHOUT_TLS),
        ({"token_endpoint": "http://public.example.com/t"}, WITHOUT_TLS),
        ({"registration_endpoint": f"https://a.example.com/{'x' * 500}"}, NOWHERE),
    ],
)
async def test_a_service_that_describes_itself_badly_is_not_used(
    service: SignInService, told: dict[str, Any], problem: str
):
    service.metadata = told

    assert await refusal(service) == problem


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"resource": "https://other.example.com/mcp"}, ANOTHER_SERVER),
        ({"authorization_servers": ["http://public.example.com"]}, WITHOUT_TLS),
        ({"authorization_servers": []}, ""),
    ],
)
async def test_a_server_that_points_elsewhere_is_not_followed(
    service: SignInService, told: dict[str, Any], problem: str
):
    service.resource = told
    if problem:
        assert await refusal(service) == problem
    else:
        assert (await services.find_service(service.mcp_url, HOW)).issuer == service.url


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("10.0.0.1", "is on a private network"),
        (
            "169.254.169.254",
            "has a link-local, reserved or NAT64 address. Requests to it are blocked.",
        ),
        ("metadata.google.internal", "is a cloud metadata service. Requests to it are blocked."),
    ],
)
async def test_metadata_do_not_lead_into_private_networks(
    service: SignInService, host: str, reason: str
):
    service.resource = {"authorization_servers": [f"https://{host}"]}

    assert reason in await refusal(service)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Response(b" " * (MOST_BYTES + 1)), "The sign-in service is unreachable."),
        (Response(b"[" * 10_000), NOWHERE),
        (JSONResponse([1]), NOWHERE),
        (RedirectResponse("https://example.com"), NOWHERE),
        (JSONResponse({}, 500), NOWHERE),
    ],
)
async def test_a_strange_answer_ends_the_search(
    service: SignInService, answer: Response, problem: str
):
    service.answers[SERVICE] = answer

    assert await refusal(service) == problem


async def test_tokens_go_only_where_tls_is_or_the_operator_allows(settings: Settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []

    with pytest.raises(SignInFailed, match="doesn’t use HTTPS"):
        await services.find_service("http://mcp.example.com/", HOW)


async def test_a_public_server_names_no_private_service(settings: Settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    service = services.SignInService(
        "https://mcp.example.com", "i", "https://127.0.0.1/a", "https://127.0.0.1/t"
    )

    assert service.trust(service.token_url).value == "guarded"
    with pytest.raises(SignInFailed, match="doesn’t use HTTPS"):
        service.trust("http://127.0.0.1/t")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (JSONResponse({"error": "no"}, 403), "refused to register a client \\(403\\)"),
        (JSONResponse({}, 201), "returned an invalid client registration"),
        (
            JSONResponse({"client_id": "c", "token_endpoint_auth_method": "tls_client_auth"}, 201),
            "returned an invalid client registration",
        ),
    ],
)
@pytest.mark.postgres
async def test_a_client_that_cannot_be_used_is_not_kept(
    service: SignInService, answer: Response, problem: str
):
    service.answers["/register"] = answer
    found = await services.find_service(service.mcp_url, HOW)

    with pytest.raises(SignInFailed, match=problem):
        await register(found, "http://testserver/connect/callback/")


async def test_without_registration_the_operator_has_to_register(service: SignInService):
    service.metadata = {"registration_endpoint": None}
    found = await services.find_service(service.mcp_url, HOW)

    with pytest.raises(SignInFailed) as failed:
        await register(found, "http://testserver/connect/callback/")

    assert str(failed.value) == NO_REGISTRATION
