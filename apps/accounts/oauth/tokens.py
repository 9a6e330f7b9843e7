"""Finds the user for whom an MCP client acts, from the access token in its request.

A token is looked up in the database at most once per `KEY_MAX_AGE_SECONDS`. The process caches only
the token's hash.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from allauth.idp.oidc.models import Token
from channels.db import database_sync_to_async
from django.utils import timezone

from apps.accounts.authentication import KEY_MAX_AGE_SECONDS, client_of, note_use, read_headers
from apps.accounts.caller import Caller, caller_in
from apps.accounts.models import ProgramConnection
from apps.accounts.oauth.connections import find_connection
from apps.accounts.oauth.resources import SCOPE, covers
from apps.accounts.teams import may_work_in
from apps.errors import NotAuthenticated
from apps.process_state import AgedCache

MOST_CACHED_TOKENS = 1024
TOKEN_FORM = re.compile(r"[A-Za-z0-9_-]{86}")
"""Matches allauth's opaque tokens, but not this installation's API keys."""


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The user of an access token, the user's connection to the program, and the resources for
    which the token is valid.
    """

    user_id: int
    team: int | None
    connection_id: int
    resources: tuple[str, ...]
    expires_at: datetime


_holders = AgedCache[bytes, TokenHolder](MOST_CACHED_TOKENS)


def sends_token(scope: Mapping[str, Any]) -> bool:
    """Return True if the request contains an access token and no API key."""
    sent = read_headers(scope["headers"])
    return not sent.api_key and TOKEN_FORM.fullmatch(sent.bearer) is not None


async def authenticate_token(scope: Mapping[str, Any], resource: str) -> Caller:
    """Return the caller of an ASGI request: the user for whom the program acts, in the team for
    which the user connected the program.

    Raises `NotAuthenticated` if the token is unknown, revoked, expired or not valid at `resource`.
    """
    sent = read_headers(scope["headers"])
    digest = hashlib.sha256(sent.bearer.encode()).digest()
    holder = await _holders.renewed(
        digest, KEY_MAX_AGE_SECONDS, lambda _: database_sync_to_async(read_holder)(sent.bearer)
    )
    if holder is None or holder.expires_at <= timezone.now():
        raise NotAuthenticated
    if not any(covers(granted, resource) for granted in holder.resources):
        raise NotAuthenticated
    note_use(ProgramConnection, "pk", holder.connection_id)
    return replace(caller_in(holder.user_id, holder.team), client=client_of(sent))


def read_holder(token: str) -> TokenHolder | None:
    rows = Token.objects.valid().by_value(token).filter(type=Token.Type.ACCESS_TOKEN)
    row = rows.first()
    if row is None or row.expires_at is None or SCOPE not in row.get_scopes():
        return None
    connection = find_connection(row)
    if connection is None or not may_work_in(connection.user, connection.team_id):
        return None
    return TokenHolder(
        connection.user.pk,
        connection.team_id,
        connection.pk,
        tuple(row.get_resources()),
        row.expires_at,
    )
