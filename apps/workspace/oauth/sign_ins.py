"""Signs a user in to a tool server: redirects the browser to the sign-in service, and exchanges the
authorization code for tokens.
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from channels.db import database_sync_to_async
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.errors import ToolError
from apps.workspace.local.tools.tool_accounts import ToolAccount
from apps.workspace.oauth.accounts import (
    CLIENT_FIELDS,
    NOT_CONNECTED,
    oauth_client,
    service_of,
    set_client,
)
from apps.workspace.oauth.clients import forget_client, installation_client
from apps.workspace.oauth.grants import GrantedTokens, GrantRefused, exchange_code, revoke_token
from apps.workspace.oauth.requests import SignInFailed

STATE_TIME = timedelta(minutes=30)
"""The time within which a sign-in must be completed. Users may need to look up passwords, and to
confirm the sign-in on their phones.
"""

ERROR_CHARACTERS = 100
UNKNOWN_STATE = gettext_noop(
    "This sign-in has expired, was already used, or was started in another browser. Start again from the conversation."
)
WRONG_ISSUER = gettext_noop(
    "The response came from a different service than the one you were sent to, so your account wasn’t connected."
)


async def begin(id: UUID, bucket: str, redirect_url: str) -> str:
    """Begin a sign-in to an account, and return the URL of the sign-in page. Raises `SignInFailed`
    if the service cannot be used, and `ToolAccount.DoesNotExist` if the bucket has no such account.
    """
    account: ToolAccount = await database_sync_to_async(own)(id, bucket)
    service = service_of(account)
    service.trust(service.authorization_url)
    if not account.client:
        set_client(account, await installation_client(service, redirect_url))
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    account.state, account.verifier = digest(state), verifier
    account.state_until, account.redirect_url = timezone.now() + STATE_TIME, redirect_url
    names = (*CLIENT_FIELDS, "state", "verifier", "state_until", "redirect_url")
    await database_sync_to_async(account.save)(update_fields=names)
    parameters = {
        "response_type": "code",
        "client_id": account.client_id,
        "redirect_uri": redirect_url,
        "state": state,
        "code_challenge": challenge(verifier),
        "code_challenge_method": "S256",
        "resource": service.resource,
        "scope": service.scope,
    }
    parts = urlsplit(service.authorization_url)
    query = dict(parse_qsl(parts.query)) | {
        name: value for name, value in parameters.items() if value
    }
    return parts._replace(query=urlencode(query), fragment="").geturl()


def own(id: UUID, bucket: str) -> ToolAccount:
    return ToolAccount.objects.get(pk=id, bucket=bucket)


def challenge(verifier: str) -> str:
    """Return the PKCE code challenge (S256) for the verifier."""
    hashed = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()


def digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()


async def complete(bucket: str, query: Mapping[str, str]) -> ToolAccount:
    """Complete a sign-in, and return the account. `query` contains the query parameters of the
    redirect from the sign-in service: `state`, `code`, `iss` and `error`.

    A state can be used only once, and only by the user who was redirected with it. Raises
    `SignInFailed` if the state is invalid or the service rejects the sign-in.
    """
    account: ToolAccount | None = await database_sync_to_async(take)(bucket, query.get("state", ""))
    if account is None:
        raise SignInFailed(gettext(UNKNOWN_STATE))
    service = service_of(account)
    issuer = query.get("iss", "")
    # A service must identify itself only if its metadata declares that it does.
    is_told = bool(issuer or service.names_itself) and not service.is_configured
    if is_told and issuer != service.issuer:
        raise SignInFailed(gettext(WRONG_ISSUER))
    code = query.get("code", "")
    if not code:
        said = query.get("error", "")[:ERROR_CHARACTERS] or "without a code"
        raise SignInFailed(
            gettext("Your account wasn’t connected. The sign-in service returned: {said}.").format(
                said=said
            )
        )
    client = oauth_client(account)
    try:
        tokens = await exchange_code(service, client, code, account.verifier, account.redirect_url)
    except GrantRefused as error:
        if error.code == "invalid_client" and not account.client:
            await database_sync_to_async(forget_client)(service.issuer, client.id)
        raise
    await database_sync_to_async(partial(connect, account, tokens))()
    return account


def take(bucket: str, state: str) -> ToolAccount | None:
    now, hashed = timezone.now(), digest(state)
    mine = ToolAccount.objects.filter(bucket=bucket, state=hashed, state_until__gt=now)
    account = mine.first()
    # Only one of two requests with the same state gets the account.
    return account if account is not None and mine.update(state=None) else None


def connect(account: ToolAccount, tokens: GrantedTokens) -> None:
    service = service_of(account)
    changed = ToolAccount.objects.filter(pk=account.pk).update(
        access_token=tokens.access,
        refresh_token=tokens.refresh,
        scope=tokens.scope or service.scope,
        expires_at=tokens.expires_at,
        connected_at=timezone.now(),
        refreshing_until=None,
        verifier="",
        version=F("version") + 1,
    )
    if not changed:
        raise SignInFailed(gettext(UNKNOWN_STATE))


async def disconnect(account: ToolAccount) -> bool:
    """Delete the account's tokens, and revoke them at the service. Return False if the service did
    not revoke them.
    """
    await database_sync_to_async(delete_tokens)(account)
    service, client = service_of(account), oauth_client(account)
    try:
        await revoke_token(service, client, account.refresh_token or account.access_token)
    except ToolError:
        return False
    return bool(service.revocation_url)


def delete_tokens(account: ToolAccount) -> Any:
    rows = ToolAccount.objects.filter(pk=account.pk)
    return rows.update(**NOT_CONNECTED, version=F("version") + 1)
