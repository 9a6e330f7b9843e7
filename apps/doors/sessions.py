"""Finds the caller of a browser session, and ends connections when their session ends."""

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.utils import translation
from django.utils.translation import gettext

from apps.accounts.authentication import find_holder_of, locale_of
from apps.accounts.caller import Caller, ClientInfo, bucket_of, caller_in
from apps.accounts.client_address import address_of_scope
from apps.accounts.languages import accepted_language, chosen_for_scope
from apps.accounts.sign_in.sessions import is_session_open
from apps.accounts.teams import current_team, team_of, teams_of
from apps.conversations.access import person_stream
from apps.conversations.listing import watch_stream
from apps.errors import NotAdmitted, NotAuthenticated, Refused
from apps.live.hub import HUB, Hub
from apps.live.journal.notifications import wake_viewers

VISITOR = "visitor"
"""The session key under which the visitor's bucket is stored until the visitor signs in."""


def session_bucket(session_key: str) -> str:
    """Return the bucket of a signed-out session."""
    # The session key is a credential, so only its hash is stored.
    return f"session-{hashlib.sha256(session_key.encode()).hexdigest()[:32]}"


def anonymous_caller(locale: str) -> Caller:
    """Return a caller without an account or a session, who owns nothing."""
    return Caller(session_bucket(secrets.token_hex()), client=ClientInfo(locale=locale))


def session_caller(user: Any, session: SessionBase, locale: str) -> Caller:
    """Return the caller of a session. Raises `NotAdmitted` for a browser without a session."""
    if user is not None and user.is_authenticated:
        return caller_in(user.pk, team_of(user, session), locale=locale)
    if not session.session_key:
        raise NotAdmitted(
            "no_session", gettext("Your session has ended. Reload the page to continue.")
        )
    return Caller(session_bucket(session.session_key), client=ClientInfo(locale=locale))


async def caller_of_scope(scope: Mapping[str, Any]) -> Caller:
    """Return the caller of a connection that does not go through Django's middleware, and activate
    the caller's language. Raises `Refused` for a browser without a session.
    """
    name = settings.PROXY_LANGUAGE_HEADER.encode()
    accepted = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    languages = accepted.decode("latin-1")

    def find() -> tuple[str, Caller]:
        chosen = chosen_for_scope(scope)
        return chosen, session_caller(
            scope["user"], scope["session"], chosen or locale_of(languages)
        )

    # Loads the user's settings and team with one query.
    found: tuple[str, Caller] = await database_sync_to_async(find)()
    chosen, caller = found
    translation.activate(chosen or accepted_language(languages))
    return caller.at(address=address_of_scope(scope))


def has_switched(caller: Caller, session_key: str) -> bool:
    """Return True if the caller has switched teams or left the team since the connection was
    opened.
    """
    if caller.kind == "key":
        prefix = caller.bucket.removeprefix("key-")
        return caller.team is not None and find_holder_of(prefix) is None
    if caller.user_id is None:
        return False
    return current_team(caller.user_id, session_key) != caller.team


async def has_switched_team(caller: Caller, session_key: str) -> bool:
    found: bool = await database_sync_to_async(has_switched)(caller, session_key)
    return found


async def check_session(scope: Mapping[str, Any]) -> None:
    """Raise `NotAdmitted` if a signed-in user's session has ended. Sessions of visitors are not
    checked.
    """
    user, session = scope["user"], scope["session"]
    if not user.is_authenticated:
        return
    if not await database_sync_to_async(is_session_open)(session.session_key, user.pk):
        raise NotAdmitted(
            "no_session", gettext("Your session has ended. Reload the page to continue.")
        )


async def while_open(
    hub: Hub,
    caller: Caller,
    check: Callable[[asyncio.Event], Awaitable[None]],
    work: Awaitable[None],
) -> None:
    """Run `work` until it ends, or until `check` raises an error because the caller has lost
    access.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            guard = tasks.create_task(watch_stream(hub, person_stream(caller.bucket), check))
            await work
            guard.cancel()
    except* (Refused, NotAuthenticated):
        pass


def announce_end(user: Any) -> None:
    """Notify all of the user's connections, in all processes, so that they check their sessions
    immediately.
    """
    for team in [None, *teams_of(user).values_list("pk", flat=True)]:
        async_to_sync(wake_viewers)(HUB.streams, person_stream(bucket_of(user.pk, team)))
