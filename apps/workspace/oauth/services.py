"""Where people sign in to a server of tools: as the operator wrote it, or as the server says.

A server names its sign-in service in its metadata (RFC 9728), and the service describes itself
(RFC 8414, or OpenID Connect Discovery).
"""

import re
from dataclasses import asdict, dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from django.utils.translation import gettext, gettext_noop
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls as service_urls,
)
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls as resource_urls
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed
from pydantic import ValidationError

from apps.manifest.authorizations import OAuthAuthorization
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.urls import read_url
from apps.workspace.local.tool_accounts import LONGEST_URL
from apps.workspace.oauth.challenges import challenge_field
from apps.workspace.oauth.requests import JsonResponse, SignInFailed, fetch_json, trust_of

SCOPE_CHARACTERS = 2_000
_scope = re.compile(r"[!#-\[\]-~]+")
"""One of a scope (RFC 6749, 3.3)."""

NOWHERE = gettext_noop("The server does not say where people sign in to it.")
WITHOUT_PKCE = gettext_noop("The sign-in service does not offer PKCE with S256, so it is not used.")
ANOTHER_SERVER = gettext_noop(
    "The server describes the sign-in of another server, so that is not used."
)
ANOTHER_ISSUER = gettext_noop(
    "The sign-in service gives itself another name than the server, so it is not used."
)


@dataclass(frozen=True, slots=True)
class SignInService:
    """`server` is where the tokens go. `resource` is sent for it (RFC 8707), "" where it is not.

    `methods` are the ways in which clients prove who they are at `token_url`. `scope` is what
    people are asked to allow. `names_itself`: it says who it is when people come back (RFC 9207).
    """

    server: str
    issuer: str
    authorization_url: str
    token_url: str
    registration_url: str = ""
    revocation_url: str = ""
    methods: tuple[str, ...] = ()
    resource: str = ""
    scope: str = ""
    names_itself: bool = False
    is_configured: bool = False

    @property
    def host(self) -> str:
        """Of the page on which people sign in."""
        return urlsplit(self.authorization_url).netloc

    def trust(self, url: str) -> Trust:
        """Raises `SignInFailed`."""
        return trust_of(url, self.server, is_configured=self.is_configured)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "methods": list(self.methods)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        return cls(**{**stored, "methods": tuple(stored["methods"])})


async def find_service(server: str, how: OAuthAuthorization) -> SignInService:
    """Raises `SignInFailed`."""
    trust_of(server, server, is_configured=True)  # the tokens go there
    found = configured(server, how) or await discovered(server, how)
    for url in (found.authorization_url, found.token_url):
        found.trust(url)
    return found


def configured(server: str, how: OAuthAuthorization) -> SignInService | None:
    if not how.authorization_url or not how.token_url:
        return None
    token_url = read_url(how.token_url).parts.geturl()
    return SignInService(
        server,
        token_url,
        read_url(how.authorization_url).parts.geturl(),
        token_url,
        scope=how.scope or "",
        is_configured=True,
    )


async def discovered(server: str, how: OAuthAuthorization) -> SignInService:
    """Ask the server and its sign-in service. Raises `SignInFailed`."""
    challenge = await challenged(server)
    resource = await resource_metadata(server, challenge)
    issuer = str(resource.authorization_servers[0]) if resource is not None else ""
    described = await service_metadata(server, issuer)
    if "S256" not in (described.code_challenge_methods_supported or ()):
        raise SignInFailed(gettext(WITHOUT_PKCE))
    scopes = (resource.scopes_supported or ()) if resource is not None else ()
    asked = how.scope or challenge_field(challenge, "scope") or " ".join(scopes)
    service = SignInService(
        server,
        str(described.issuer),
        str(described.authorization_endpoint),
        str(described.token_endpoint),
        str(described.registration_endpoint or ""),
        str(described.revocation_endpoint or ""),
        tuple(filter(str.isprintable, described.token_endpoint_auth_methods_supported or ())),
        # A server says what it is called, which is its own address or one above it.
        str(resource.resource) if resource is not None else server,
        read_scope(asked),
        bool(described.authorization_response_iss_parameter_supported),
    )
    urls = (service.issuer, service.authorization_url, service.token_url, service.registration_url)
    if any(len(url) > LONGEST_URL for url in urls):
        raise SignInFailed(gettext(NOWHERE))
    return service


def read_scope(text: str) -> str:
    """What others say of a scope, in characters that a scope may have."""
    return " ".join(_scope.findall(text[:SCOPE_CHARACTERS]))


async def challenged(server: str) -> str:
    """What the server answers to a request without a token, as the header `WWW-Authenticate`."""
    trust = read_url(server).trust
    headers = {"Accept": "application/json, text/event-stream"}
    answer = await fetch_json(trust, "GET", server, reads_body=False, headers=headers)
    return answer.headers.get("www-authenticate", "")


async def resource_metadata(server: str, challenge: str) -> ProtectedResourceMetadata | None:
    """Raises `SignInFailed`."""
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
    """Raises `SignInFailed`."""
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
