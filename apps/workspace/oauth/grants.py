"""Exchanges authorization codes and refresh tokens for new tokens, and revokes tokens."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote_plus

from django.utils import timezone
from django.utils.translation import gettext
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.secrets.stored_secrets import reveal
from apps.workspace.oauth.clients import OAuthClient
from apps.workspace.oauth.requests import JsonResponse, SignInFailed, fetch_json
from apps.workspace.oauth.services import SignInService, read_scope

LONGEST_SECONDS = 10 * 365 * 86_400
FINAL = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "access_denied"})
"""These OAuth errors are permanent: the user must sign in again."""


class GrantRefused(SignInFailed):
    """Raised if the service permanently rejects the grant. `code` is its OAuth error."""

    def __init__(self, code: str) -> None:
        super().__init__(gettext("The sign-in service refused to issue a token."))
        self.code = code


@dataclass(frozen=True, slots=True)
class GrantedTokens:
    access: str = field(repr=False)
    refresh: str = field(repr=False)
    scope: str
    expires_at: datetime | None


async def exchange_code(
    service: SignInService, client: OAuthClient, code: str, verifier: str, redirect_url: str
) -> GrantedTokens:
    """Exchange an authorization code for tokens. Raises `SignInFailed` if the service rejects the
    request, and `SecretRefused` if the client's secret is unavailable.
    """
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_url}
    return read_tokens(await ask(service, client, {**form, "code_verifier": verifier}))


async def refresh(service: SignInService, client: OAuthClient, token: str) -> GrantedTokens:
    """Request new tokens with a refresh token. Raises `SignInFailed` if the service rejects the
    request, and `SecretRefused` if the client's secret is unavailable.
    """
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return read_tokens(await ask(service, client, form))


async def revoke_token(service: SignInService, client: OAuthClient, token: str) -> None:
    """Revoke a token if the service supports revocation (RFC 7009). Raises `SignInFailed` if a
    request to the service fails.
    """
    if service.revocation_url and token:
        await send(service, client, service.revocation_url, {"token": token})


async def ask(service: SignInService, client: OAuthClient, form: dict[str, str]) -> JsonResponse:
    if service.resource:
        form["resource"] = service.resource
    return await send(service, client, service.token_url, form)


async def send(
    service: SignInService, client: OAuthClient, url: str, form: dict[str, str]
) -> JsonResponse:
    options: dict[str, Any] = {}
    # The service's token is sent to the tool server, so the secret must be allowed for both.
    secret = (await reveal(client.secret, url, service.server)).text
    if client.method == "client_secret_basic":
        options["auth"] = (quote_plus(client.id), quote_plus(secret))
    else:
        form["client_id"] = client.id
    if client.method == "client_secret_post":
        form["client_secret"] = secret
    return await fetch_json(service.trust(url), "POST", url, data=form, **options)


def read_tokens(answer: JsonResponse) -> GrantedTokens:
    """Parse the tokens in a response. Raises `GrantRefused` if the service permanently rejects the
    grant, and `SignInFailed` for any other failure.
    """
    if not answer.is_success:
        if answer.error in FINAL:
            raise GrantRefused(answer.error)
        raise SignInFailed(
            gettext("The sign-in service returned no token ({status}).").format(
                status=answer.status
            )
        )
    try:
        found = OAuthToken.model_validate(answer.document)
    except ValidationError as error:
        raise SignInFailed(gettext("The sign-in service returned an invalid token.")) from error
    refresh_token = found.refresh_token or ""
    if not found.access_token or header_value_problem(found.access_token):
        raise SignInFailed(gettext("The sign-in service returned an invalid token."))
    seconds = found.expires_in
    return GrantedTokens(
        found.access_token,
        refresh_token,
        read_scope(found.scope or ""),
        None
        if seconds is None
        else timezone.now() + timedelta(seconds=min(max(seconds, 0), LONGEST_SECONDS)),
    )
