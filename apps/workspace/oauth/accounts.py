"""The account of a person at a server of tools: found, asked for, kept fresh, given up."""

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
from apps.manifest.authorizations import OAuthAuthorization
from apps.workspace.local.tool_accounts import LONGEST_URL, ToolAccount
from apps.workspace.oauth.clients import Client, configured_client
from apps.workspace.oauth.grants import GrantedTokens, GrantRefused, refresh
from apps.workspace.oauth.requests import SignInFailed
from apps.workspace.oauth.services import SignInService, find_service

logger = logging.getLogger(__name__)

AHEAD = timedelta(seconds=60)
"""A token is refreshed so long before it expires: a call takes time."""
LEASE = timedelta(seconds=45)
"""Longer than a request to a sign-in service may take."""
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
class WantedAccount:
    """The account that a toolset needs: `server` is where its token goes, `title` its name."""

    server: str
    title: str
    how: OAuthAuthorization = field(repr=False)

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


async def find_account(wanted: WantedAccount, bucket: str) -> ToolAccount | None:
    """The account with which the person is signed in, None if there is none of use."""
    found: ToolAccount | None = await database_sync_to_async(look_up)(wanted, bucket)
    return found


def look_up(wanted: WantedAccount, bucket: str) -> ToolAccount | None:
    if not bucket:
        return None
    account: ToolAccount | None = wanted.rows(bucket).filter(connected_at__isnull=False).first()
    if account is None or not account.access_token:
        return None
    # Where more is asked for than when the person signed in, they have to be asked again.
    asked = frozenset((wanted.how.scope or "").split())
    return account if asked <= frozenset(account.service["scope"].split()) else None


async def ask_for(wanted: WantedAccount, bucket: str) -> ToolAccount:
    """The row with which the person can sign in. Raises `SignInFailed`."""
    if any(len(value) > LONGEST_URL for value in wanted.key.values()):
        raise SignInFailed(gettext("The address of the server is too long for a sign-in."))
    service = await find_service(wanted.server, wanted.how)
    row: ToolAccount = await database_sync_to_async(note)(wanted, bucket, service)
    return row


def note(wanted: WantedAccount, bucket: str, service: SignInService) -> ToolAccount:
    """Another sign-in with this row, which may be going on in another tab, can be finished."""
    row, _ = ToolAccount.objects.get_or_create(bucket=bucket, **wanted.key)
    row.title, row.asked_at = wanted.title[:LONGEST_TITLE], timezone.now()
    if row.connected_at is not None:
        scope = union_scopes(row.service["scope"], service.scope) or ""
        service = replace(service, scope=scope)
        give_up(row)
    row.service = service.as_json()
    if wanted.how.client_id:
        set_client(row, configured_client(wanted.how.client_id, wanted.how.client_secret, service))
    row.save(update_fields=("title", "asked_at", "service", *CLIENT_FIELDS))
    return row


def set_client(row: ToolAccount, client: Client) -> None:
    row.client_id, row.auth_method = client.id, client.method
    row.client_secret, row.secret_name = client.secret.text, client.secret.secret


def client_of(account: ToolAccount) -> Client:
    return Client(account.client_id, account.secret, account.auth_method)


def service_of(account: ToolAccount) -> SignInService:
    return SignInService.from_json(account.service)


async def access_token(id: UUID, refused: str = "") -> str:
    """A token other than the `refused` one that is good for a while; "" if the person has to sign in.

    Of all processes exactly one refreshes a token. Raises `ToolError` when nobody can tell.
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
            return await uninterrupted(refreshed(account, refused))
        if is_valid(account, refused):
            return account.access_token
        await asyncio.sleep(LOOK_SECONDS)  # another process is asking


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
    """Take the right to refresh these very tokens; False if another process has it."""
    now = timezone.now()
    free = Q(refreshing_until=None) | Q(refreshing_until__lte=now)
    return bool(same(account).filter(free).update(refreshing_until=now + LEASE))


def same(account: ToolAccount) -> Any:
    return ToolAccount.objects.filter(pk=account.pk, version=account.version)


async def uninterrupted(work: Coroutine[Any, Any, str]) -> str:
    """Finish the work although its caller may leave: the service forgets the former tokens."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return await asyncio.shield(task)


_tasks: set[asyncio.Task[str]] = set()


async def refreshed(account: ToolAccount, refused: str) -> str:
    """Raises `ToolError`."""
    try:
        tokens = await refresh(service_of(account), client_of(account), account.refresh_token)
    except GrantRefused:
        logger.info("A sign-in at %s has ended", account.server)
        await database_sync_to_async(give_up)(account)
        return ""
    except ToolError:
        await database_sync_to_async(release)(account)
        if is_valid(account, refused):
            return account.access_token
        raise
    # A service that says nothing of a new refresh token means the old one.
    tokens = replace(tokens, refresh=tokens.refresh or account.refresh_token)
    keep = partial(keep_tokens, account, tokens)
    return tokens.access if await database_sync_to_async(keep)() else ""


def release(account: ToolAccount) -> None:
    same(account).update(refreshing_until=None)


def keep_tokens(account: ToolAccount, tokens: GrantedTokens) -> bool:
    """Store them in place of those that the account had; False if it has others by now."""
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
    """Delete tokens that are of no use any more."""
    same(account).update(**NOT_CONNECTED, version=F("version") + 1)
