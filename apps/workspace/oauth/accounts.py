"""Finds a user's account on a tool server, prepares the sign-in, and refreshes its tokens."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext
from mcp.client.auth.utils import union_scopes

from apps.errors import ToolError
from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.egress.challenges import challenge_field, lacks_scope
from apps.workspace.local.tools.tool_accounts import LONGEST_URL, ToolAccount
from apps.workspace.oauth.clients import OAuthClient, configured_client
from apps.workspace.oauth.grants import GrantedTokens, GrantRefused, refresh
from apps.workspace.oauth.requests import SignInFailed
from apps.workspace.oauth.services import SignInService, find_service, read_scope

logger = logging.getLogger(__name__)

AHEAD = timedelta(seconds=60)
"""A token is refreshed this long before it expires, so that it does not expire during a call."""
LEASE = timedelta(seconds=45)
"""The duration of the lease for refreshing a token. It exceeds the timeout for a request to a
sign-in service.
"""
LOOK_SECONDS = 0.2
LONGEST_TITLE = 200
CLIENT_FIELDS = ("client_id", "auth_method", "client_secret", "secret_name")
NOT_CONNECTED: Mapping[str, Any] = {
    "access_token": "",
    "refresh_token": "",
    "expires_at": None,
    "connected_at": None,
    "refreshing_until": None,
}


@dataclass(frozen=True, slots=True)
class RequiredAccount:
    """The account that a toolset needs."""

    server: str
    """The server that receives the account's token."""
    title: str
    """The server's name as users see it."""
    how: OAuthAuthorization = field(repr=False)
    challenge: str = field(default="", repr=False)
    """The `WWW-Authenticate` header with which the server rejected a request, or "" if the server
    has not been called yet.
    """

    def rows(self, bucket: str) -> Any:
        return ToolAccount.objects.filter(bucket=bucket, **self.key)

    @property
    def key(self) -> dict[str, Any]:
        how = self.how
        return {
            "server": self.server,
            "client": how.client_id or "",
            "token_service": how.token_url or "",
        }


async def find_account(required: RequiredAccount, bucket: str) -> ToolAccount | None:
    """Return the user's connected account, or None if the user has to sign in."""
    found: ToolAccount | None = await database_sync_to_async(look_up)(required, bucket)
    return found


def look_up(required: RequiredAccount, bucket: str) -> ToolAccount | None:
    if not bucket:
        return None
    account: ToolAccount | None = required.rows(bucket).filter(connected_at__isnull=False).first()
    if account is None or not account.access_token:
        return None
    # If the server requires more scopes than were granted, the user has to sign in again.
    scopes = frozenset((required.how.scope or "").split())
    return account if scopes <= frozenset(account.service["scope"].split()) else None


async def ask_for(required: RequiredAccount, bucket: str) -> ToolAccount:
    """Prepare the account's row for a sign-in, and return it. Raises `SignInFailed` if the server's
    URL is too long or its sign-in service cannot be found.
    """
    if any(len(value) > LONGEST_URL for value in required.key.values()):
        raise SignInFailed(
            gettext(
                "You can’t sign in to this server because its URL is too long. Contact an administrator."
            )
        )
    service = await find_service(required.server, required.how, required.challenge)
    row: ToolAccount = await database_sync_to_async(prepare_account)(required, bucket, service)
    return row


def prepare_account(required: RequiredAccount, bucket: str, service: SignInService) -> ToolAccount:
    """Record that the user was asked to sign in, and return the account's row. A sign-in that was
    started in another tab can still be completed, unless the server now uses another sign-in
    service.

    Raises `SignInFailed` if another sign-in would not help.
    """
    row, _ = ToolAccount.objects.get_or_create(bucket=bucket, **required.key)
    row.title, row.asked_at = required.title[:LONGEST_TITLE], timezone.now()
    is_moved = bool(row.service) and row.service["issuer"] != service.issuer
    if is_moved:
        row.state = None
    if row.connected_at is not None:
        if not is_moved:
            service = with_earlier_scope(service, row, required.challenge)
        give_up(row)
    row.service = service.as_json()
    if required.how.client_id:
        set_client(
            row, configured_client(required.how.client_id, required.how.client_secret, service)
        )
    row.save(update_fields=("title", "asked_at", "service", "state", *CLIENT_FIELDS))
    return row


def with_earlier_scope(service: SignInService, row: ToolAccount, challenge: str) -> SignInService:
    """Return the service with the scopes of the account's earlier sign-in added to the requested
    scopes.

    Raises `SignInFailed` if the earlier scopes already include the missing scope, because another
    sign-in would not help.
    """
    earlier = row.service["scope"]
    missing = read_scope(challenge_field(challenge, "scope"))
    if lacks_scope(challenge) and not set(missing.split()) - set(earlier.split()):
        raise SignInFailed(
            gettext(
                "The server requires a permission that wasn’t granted when you signed in: {scope}. Disconnect the account, then sign in again."
            ).format(scope=missing or "?")
        )
    return replace(service, scope=union_scopes(earlier, service.scope) or "")


def set_client(row: ToolAccount, client: OAuthClient) -> None:
    row.client_id, row.auth_method = client.id, client.method
    row.client_secret, row.secret_name = client.secret.text, client.secret.secret


def oauth_client(account: ToolAccount) -> OAuthClient:
    return OAuthClient(account.client_id, account.secret, account.auth_method)


def service_of(account: ToolAccount) -> SignInService:
    return SignInService.from_json(account.service)


async def access_token(id: UUID, refused: str = "") -> str:
    """Return the account's access token, or "" if the user has to sign in. The token is refreshed
    first if it expires soon or if it is `refused`, the token that the server rejected.

    Only one process at a time refreshes a token. Raises `ToolError` if the refresh fails and the
    old token is not valid.
    """
    while True:
        account: ToolAccount | None = await database_sync_to_async(find)(id)
        if account is None or not account.access_token:
            return ""
        if is_fresh(account, refused):
            return account.access_token
        if not account.refresh_token:
            if is_valid(account, refused):
                return account.access_token
            await database_sync_to_async(give_up)(account)
            return ""
        if await database_sync_to_async(may_refresh)(account):
            return await finish_work(refresh_token(account, refused))
        if is_valid(account, refused):
            return account.access_token
        await asyncio.sleep(LOOK_SECONDS)  # Another process is refreshing the token.


def find(id: UUID) -> ToolAccount | None:
    return ToolAccount.objects.filter(pk=id).first()


def is_fresh(account: ToolAccount, refused: str) -> bool:
    until = account.expires_at
    is_early = until is None or timezone.now() < until - AHEAD
    return is_early and account.access_token != refused


def is_valid(account: ToolAccount, refused: str) -> bool:
    until = account.expires_at
    return account.access_token != refused and (until is None or timezone.now() < until)


def may_refresh(account: ToolAccount) -> bool:
    """Acquire the lease for refreshing the account's tokens, and return True. Return False if
    another process holds it.
    """
    now = timezone.now()
    free = Q(refreshing_until=None) | Q(refreshing_until__lte=now)
    return bool(same(account).filter(free).update(refreshing_until=now + LEASE))


def same(account: ToolAccount) -> Any:
    return ToolAccount.objects.filter(pk=account.pk, version=account.version)


async def finish_work(work: Coroutine[Any, Any, str]) -> str:
    """Run the coroutine to its end even if the caller is canceled, because the service may already
    have invalidated the old tokens.
    """
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return await asyncio.shield(task)


_tasks: set[asyncio.Task[str]] = set()


async def refresh_token(account: ToolAccount, refused: str) -> str:
    """Refresh the account's tokens, and return the new access token, or "" if the user has to sign
    in. Raises `ToolError` if the service fails.
    """
    try:
        tokens = await refresh(service_of(account), oauth_client(account), account.refresh_token)
    except GrantRefused:
        logger.info("A sign-in at %s has expired", account.server)
        await database_sync_to_async(give_up)(account)
        return ""
    except ToolError:
        await database_sync_to_async(release)(account)
        if is_valid(account, refused):
            return account.access_token
        raise
    # If the service returns no new refresh token, the old one remains valid.
    tokens = replace(tokens, refresh=tokens.refresh or account.refresh_token)
    keep = partial(keep_tokens, account, tokens)
    return tokens.access if await database_sync_to_async(keep)() else ""


def release(account: ToolAccount) -> None:
    same(account).update(refreshing_until=None)


def keep_tokens(account: ToolAccount, tokens: GrantedTokens) -> bool:
    """Store the account's new tokens. Return False if another process has changed them in the
    meantime.
    """
    kept = same(account).update(
        access_token=tokens.access,
        refresh_token=tokens.refresh,
        expires_at=tokens.expires_at,
        version=F("version") + 1,
        refreshing_until=None,
        **({"scope": tokens.scope} if tokens.scope else {}),
    )
    return bool(kept)


def give_up(account: ToolAccount) -> None:
    """Delete the account's tokens, which are no longer valid."""
    same(account).update(**NOT_CONNECTED, version=F("version") + 1)
