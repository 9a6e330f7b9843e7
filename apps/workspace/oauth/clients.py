"""Provides the OAuth client with which users sign in: configured by the operator, described by our
metadata document, or registered dynamically.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import ValidationError

from apps.datetimes import of_timestamp
from apps.manifest.secrets import Credential
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.tools.tool_accounts import LONGEST_URL, RegisteredClient
from apps.workspace.oauth.requests import SignInFailed, fetch_json
from apps.workspace.oauth.services import SignInService

METHODS = ("client_secret_basic", "client_secret_post", "none")
"""The authentication methods that our client supports, best first."""
METADATA_PATH = "/client-metadata.json"
CALLBACK_PATH = "/connect/callback/"
NO_REGISTRATION = gettext_noop(
    "The sign-in service doesn’t support client registration. An administrator must register this installation with the service and set `client_id`."
)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    id: str
    secret: Credential
    method: str


def configured_client(id: str, secret: Credential, service: SignInService) -> OAuthClient:
    has_secret = bool(secret.text or secret.secret)
    return OAuthClient(id, secret, method_of(service, has_secret=has_secret))


def method_of(service: SignInService, *, has_secret: bool) -> str:
    if not has_secret:
        return "none"
    # RFC 8414: a service that lists no methods supports the first one.
    offered = service.methods or METHODS[:1]
    return "client_secret_post" if METHODS[0] not in offered else METHODS[0]


def client_metadata(redirect_url: str) -> dict[str, Any]:
    """Return the metadata of this installation's client for a sign-in service (RFC 7591)."""
    return {
        "client_name": "QuickApps",
        "redirect_uris": [redirect_url],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "web",
    }


def metadata_document() -> dict[str, Any]:
    """Return the client's metadata document. The URL of the document is the client's ID."""
    return {
        "client_id": settings.PUBLIC_URL + METADATA_PATH,
        "client_uri": settings.PUBLIC_URL,
        "token_endpoint_auth_method": "none",
        **client_metadata(settings.PUBLIC_URL + CALLBACK_PATH),
    }


async def installation_client(service: SignInService, redirect_url: str) -> OAuthClient:
    """Return this installation's client, which is used if the operator did not configure a client.
    Raises `SignInFailed` if the client has to be registered and the registration fails.

    If the service supports metadata documents, and our document contains the redirect URL, no
    registration is needed.
    """
    is_described = settings.HTTPS and service.reads_client_metadata
    is_public = not service.methods or "none" in service.methods
    if is_described and is_public and redirect_url == settings.PUBLIC_URL + CALLBACK_PATH:
        return OAuthClient(settings.PUBLIC_URL + METADATA_PATH, Credential(), "none")
    return await registered_client(service, redirect_url)


async def registered_client(service: SignInService, redirect_url: str) -> OAuthClient:
    """Return the client that is registered with the sign-in service. If there is none, register
    one. Raises `SignInFailed` if the registration fails.
    """
    find = partial(find_client_row, service.issuer, redirect_url)
    row: RegisteredClient | None = await database_sync_to_async(find)()
    if row is None:
        row = await register(service, redirect_url)
        await database_sync_to_async(store_client)(row)
    return OAuthClient(row.client_id, Credential(row.client_secret), row.auth_method)


def find_client_row(issuer: str, redirect_url: str) -> RegisteredClient | None:
    rows = RegisteredClient.objects.filter(issuer=issuer, redirect_url=redirect_url)
    return rows.exclude(expires_at__lte=timezone.now()).first()


def store_client(row: RegisteredClient) -> None:
    RegisteredClient.objects.update_or_create(
        issuer=row.issuer,
        redirect_url=row.redirect_url,
        defaults={
            name: getattr(row, name)
            for name in ("client_id", "client_secret", "auth_method", "expires_at")
        },
    )


def forget_client(issuer: str, client_id: str) -> None:
    """Delete a client that the service no longer accepts, so that the next sign-in registers a new
    client.
    """
    RegisteredClient.objects.filter(issuer=issuer, client_id=client_id).delete()


async def register(service: SignInService, redirect_url: str) -> RegisteredClient:
    """Register a client dynamically (RFC 7591), without storing it. Raises `SignInFailed` if the
    service does not register it.
    """
    if not service.registration_url:
        raise SignInFailed(gettext(NO_REGISTRATION))
    offered = [method for method in METHODS if method in (service.methods or METHODS)]
    if not offered:
        raise SignInFailed(
            gettext(
                "The sign-in service and this installation have no authentication method in common."
            )
        )
    wanted = {
        **client_metadata(redirect_url),
        "token_endpoint_auth_method": offered[0],
        **({"scope": service.scope} if service.scope else {}),
    }
    url = service.registration_url
    answer = await fetch_json(service.trust(url), "POST", url, json=wanted)
    if not answer.is_success:
        raise SignInFailed(
            gettext("The sign-in service refused to register a client ({status}).").format(
                status=answer.status
            )
        )
    try:
        found = OAuthClientInformationFull.model_validate(answer.document)
    except ValidationError as error:
        raise SignInFailed(
            gettext("The sign-in service returned an invalid client registration.")
        ) from error
    secret, until = found.client_secret or "", found.client_secret_expires_at
    method = found.token_endpoint_auth_method or (offered[0] if secret else "none")
    is_usable = len(found.client_id) <= LONGEST_URL and not header_value_problem(secret)
    if not is_usable or method not in METHODS or (method != "none" and not secret):
        raise SignInFailed(gettext("The sign-in service returned an invalid client registration."))
    return RegisteredClient(
        issuer=service.issuer,
        redirect_url=redirect_url,
        client_id=found.client_id,
        client_secret=secret,
        auth_method=method,
        expires_at=of_timestamp(until) if until else None,
    )
