"""Finds a tool server's sign-in service in the operator's configuration or in the server's
metadata.

A server publishes the URL of its sign-in service in its metadata (RFC 9728), and the service
describes itself (RFC 8414, or OpenID Connect Discovery).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from django.utils.translation import gettext, gettext_noop
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls as service_urls,
)
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls as resource_urls
from mcp.client.auth.utils import issuers_match, union_scopes
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed
from pydantic import ValidationError

from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.egress.challenges import challenge_field, lacks_scope
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.urls import read_url
from apps.workspace.local.tools.tool_accounts import LONGEST_URL
from apps.workspace.oauth.requests import JsonResponse, SignInFailed, fetch_json, trust_of

SCOPE_CHARACTERS = 2_000
_scope = re.compile(r"[!#-\[\]-~]+")
"""Matches one scope in a list (RFC 6749, 3.3)."""

PROBE: Mapping[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

NOWHERE = gettext_noop("The server doesn’t publish valid sign-in information.")
WITHOUT_PKCE = gettext_noop(
    "The sign-in service doesn’t support PKCE with S256, so it can’t be used."
)
ANOTHER_SERVER = gettext_noop(
    "The server’s sign-in information belongs to a different server, so it can’t be used."
)
ANOTHER_ISSUER = gettext_noop(
    "The sign-in service’s name doesn’t match the name that the server reports, so the service can’t be used."
)


@dataclass(frozen=True, slots=True)
class SignInService:
    """The sign-in service for a tool server."""

    server: str
    """The tool server, which receives the tokens."""
    issuer: str
    authorization_url: str
    token_url: str
    registration_url: str = ""
    revocation_url: str = ""
    methods: tuple[str, ...] = ()
    """The methods with which clients authenticate at `token_url`."""
    resource: str = ""
    """The tool server's identifier in requests to the service (RFC 8707), or "" to send none."""
    scope: str = ""
    """The permissions that users are asked to grant."""
    names_itself: bool = False
    """True if the service adds its issuer to its redirects (RFC 9207)."""
    is_configured: bool = False
    reads_client_metadata: bool = False
    """True if the URL of a client's metadata document can be its ID."""

    @property
    def host(self) -> str:
        """Return the host on which users sign in."""
        return urlsplit(self.authorization_url).netloc

    def trust(self, url: str) -> Trust:
        """Return the trust level of a URL that the service provided. Raises `SignInFailed` if the
        URL must not be used.
        """
        return trust_of(url, self.server, is_configured=self.is_configured)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "methods": list(self.methods)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        return cls(**{**stored, "methods": tuple(stored["methods"])})


async def find_service(server: str, how: OAuthAuthorization, challenge: str = "") -> SignInService:
    """Return the sign-in service of a tool server. `challenge` is the `WWW-Authenticate` header
    with which the server rejected a request, or "" to obtain one with a new request.

    Raises `SignInFailed` if no usable service is found.
    """
    trust_of(server, server, is_configured=True)  # The tokens are sent there.
    found = configured_service(server, how, challenge)
    found = found or await discover_service(server, how, challenge)
    for url in (found.authorization_url, found.token_url):
        found.trust(url)
    return found


def configured_service(
    server: str, how: OAuthAuthorization, challenge: str
) -> SignInService | None:
    if not how.authorization_url or not how.token_url:
        return None
    token_url = read_url(how.token_url).parts.geturl()
    return SignInService(
        server,
        token_url,
        read_url(how.authorization_url).parts.geturl(),
        token_url,
        scope=requested_scope(how, challenge, ()),
        is_configured=True,
    )


async def discover_service(server: str, how: OAuthAuthorization, challenge: str) -> SignInService:
    """Find the sign-in service in the server's metadata, and read the service's own metadata.
    Raises `SignInFailed` if either metadata document is unavailable or invalid.
    """
    challenge = challenge or await request_challenge(server)
    resource = await resource_metadata(server, challenge)
    issuer = str(resource.authorization_servers[0]) if resource is not None else ""
    described = await service_metadata(server, issuer)
    if "S256" not in (described.code_challenge_methods_supported or ()):
        raise SignInFailed(gettext(WITHOUT_PKCE))
    scopes = (resource.scopes_supported or ()) if resource is not None else ()
    service = SignInService(
        server,
        str(described.issuer),
        str(described.authorization_endpoint),
        str(described.token_endpoint),
        str(described.registration_endpoint or ""),
        str(described.revocation_endpoint or ""),
        tuple(filter(str.isprintable, described.token_endpoint_auth_methods_supported or ())),
        # A server reports its own URL, or a parent of it, as the resource.
        str(resource.resource) if resource is not None else server,
        requested_scope(how, challenge, scopes),
        bool(described.authorization_response_iss_parameter_supported),
        reads_client_metadata=bool(described.client_id_metadata_document_supported),
    )
    urls = (service.issuer, service.authorization_url, service.token_url, service.registration_url)
    if any(len(url) > LONGEST_URL for url in urls):
        raise SignInFailed(gettext(NOWHERE))
    return service


def requested_scope(how: OAuthAuthorization, challenge: str, supported: Iterable[str]) -> str:
    """Return the scope to request: the operator's scope or, if there is none, the server's, plus
    the scopes that the challenge reports as missing.
    """
    challenged = read_scope(challenge_field(challenge, "scope"))
    scope = how.scope or challenged or " ".join(supported)
    return read_scope(union_scopes(scope, challenged) or "" if lacks_scope(challenge) else scope)


def read_scope(text: str) -> str:
    """Return the scopes in untrusted text, without characters that a scope must not contain."""
    return " ".join(_scope.findall(text[:SCOPE_CHARACTERS]))


async def request_challenge(server: str) -> str:
    """Return the `WWW-Authenticate` header of the server's response to a request without a token.

    Only servers with the older transport send the header in response to a GET request; other
    servers may not support GET at all.
    """
    trust = read_url(server).trust
    headers = {"Accept": "application/json, text/event-stream"}
    for method, options in (("POST", {"json": PROBE}), ("GET", {})):
        answer = await fetch_json(
            trust, method, server, reads_body=False, headers=headers, **options
        )
        if challenge := answer.headers.get("www-authenticate", ""):
            return challenge
    return ""


async def resource_metadata(server: str, challenge: str) -> ProtectedResourceMetadata | None:
    """Return the metadata that the server publishes, or None if there is none. Raises
    `SignInFailed` if a request fails.
    """
    named = challenge_field(challenge, "resource_metadata") or None
    for url in resource_urls(named, server):
        answer = await ask(url, server)
        if not answer.is_success:
            continue
        try:
            found = ProtectedResourceMetadata.model_validate(answer.document)
        except ValidationError:
            continue
        if not check_resource_allowed(server, str(found.resource)):
            raise SignInFailed(gettext(ANOTHER_SERVER))
        return found
    return None


async def service_metadata(server: str, issuer: str) -> OAuthMetadata:
    """Return the metadata of the server's sign-in service. `issuer` is the service's URL, or "" to
    use the server's host. Raises `SignInFailed` if the service publishes no valid metadata.
    """
    parts = urlsplit(server)
    expected = issuer or f"{parts.scheme}://{parts.netloc}"
    for url in service_urls(expected, server):
        answer = await ask(url, server)
        if not answer.is_success:
            continue
        try:
            found = OAuthMetadata.model_validate(answer.document)
        except ValidationError:
            continue
        if not issuers_match(str(found.issuer), expected):
            raise SignInFailed(gettext(ANOTHER_ISSUER))
        return found
    raise SignInFailed(gettext(NOWHERE))


async def ask(url: str, server: str) -> JsonResponse:
    trust = trust_of(url, server, is_configured=False)
    return await fetch_json(trust, "GET", url)
