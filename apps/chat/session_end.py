"""Connections end with the session that opened them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.utils.translation import gettext

from apps.accounts.buckets import bucket_of
from apps.accounts.caller import Caller
from apps.accounts.sessions import is_open
from apps.accounts.teams import teams_of
from apps.chat.access import person_stream
from apps.chat.listing import keep_looking
from apps.errors import NotAdmitted, NotAuthenticated, Refused
from apps.live.hub import HUB, Hub
from apps.live.notifications import wake_viewers


async def check_session(scope: Mapping[str, Any]) -> None:
    """Raises `Refused` when the session of an account has ended; visitors' are not looked at."""
    user, session = scope["user"], scope["session"]
    if not user.is_authenticated:
        return
    if not await database_sync_to_async(is_open)(session.session_key, user.pk):
        raise NotAdmitted(
            "no_session", gettext("Your session has ended. Reload the page to go on.")
        )


async def while_open(
    hub: Hub,
    caller: Caller,
    check: Callable[[asyncio.Event], Awaitable[None]],
    work: Awaitable[None],
) -> None:
    """Do the work until it is done, or until the check finds that the caller is not let in any more."""
    try:
        async with asyncio.TaskGroup() as tasks:
            guard = tasks.create_task(keep_looking(hub, person_stream(caller.bucket), check))
            await work
            guard.cancel()
    except* (Refused, NotAuthenticated):
        pass


def announce_end(user: Any) -> None:
    """Let all connections of an account, in all processes, look at once if they may go on."""
    for team in [None, *teams_of(user).values_list("pk", flat=True)]:
        async_to_sync(wake_viewers)(HUB, person_stream(bucket_of(user.pk, team)))
