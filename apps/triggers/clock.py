"""The clock of a process that serves: asks what is due, together with those of the other processes."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime

from channels.db import database_sync_to_async
from django.db import DatabaseError, OperationalError
from django.utils import timezone

from apps.accounts.audit import AuditEvent
from apps.catalog.resolve import resolve
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.access import person_stream
from apps.chat.wakes import Woken
from apps.errors import QuickAppError
from apps.live.hub import Hub
from apps.live.notifications import announce_waiting, wake_viewers
from apps.outages import Pauses
from apps.triggers import due_schedules
from apps.triggers.due_schedules import Callers, Fired, Resolved, Target

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.5


async def keep_firing(hub: Hub) -> None:
    """Ask what is due, until the process is about to end."""
    pauses = Pauses(TICK_SECONDS)
    while not hub.is_closing:
        try:
            await fire_due(hub)
            pauses.note(None)
        except DatabaseError as error:
            pauses.note(error)
            logger.warning("What is due cannot be looked for: %s", error)
        except Exception as error:
            pauses.note(error)
            logger.exception("What is due could not be asked")
        await asyncio.sleep(pauses.seconds)


async def fire_due(hub: Hub) -> int:
    """Ask all that is due now; how many messages that were."""
    count, callers = 0, Callers()
    while not hub.is_closing:
        now = timezone.now()
        names: dict[Target, str] = await database_sync_to_async(due_schedules.due_names)(now)
        if not names:
            break
        fired = await fire_batch(await resolved(names), now, callers)
        count += len(fired.woken)
        await tell(hub, fired.woken)
        for owner in fired.stopped:
            await wake_viewers(hub, person_stream(owner))
        if not fired.rows:  # another process has taken them
            break
    return count


async def fire_batch(applications: Resolved, now: datetime, callers: Callers) -> Fired:
    """Ask the first that are due; one that fails does not hold the others up."""
    fired: Fired
    try:
        fired = await database_sync_to_async(due_schedules.fire)(applications, now, callers)
    except OperationalError:
        raise
    except Exception:
        logger.exception("What is due could not be asked together; it is asked one by one")
        fired = await database_sync_to_async(fire_one_by_one)(applications, now)
    return fired


def fire_one_by_one(applications: Resolved, now: datetime) -> Fired:
    woken: list[Woken] = []
    rows, stopped = 0, frozenset[str]()
    for pk in list(due_schedules.due(now).values_list("pk", flat=True)[: due_schedules.AT_ONCE]):
        try:
            fired = due_schedules.fire(applications, now, Callers(), pk)
        except Exception:
            logger.exception("Schedule %s could not be asked", pk)
            due_schedules.postpone(pk, now)
        else:
            woken += fired.woken
            rows += fired.rows
            stopped |= fired.stopped
    return Fired(woken, rows, stopped)


async def resolved(names: dict[Target, str]) -> Resolved:
    return {target: await application_or_error(name) for target, name in names.items()}


async def application_or_error(slug: str) -> ResolvedApplication | QuickAppError:
    try:
        return await resolve(slug)
    except QuickAppError as error:
        return error


async def tell(hub: Hub, woken: Sequence[Woken]) -> None:
    """Have processes look for the runs, and pages show them."""
    if not woken:
        return
    hub.has_queue = True
    hub.awaited.set()
    await announce_waiting()
    for stream in {person_stream(one.wake.caller.bucket) for one in woken}:
        await wake_viewers(hub, stream)
    for one in woken:
        if one.wake.conversation is not None:
            await wake_viewers(hub, one.conversation)
        hub.summaries.keep_audit(*events_of(one))


def events_of(woken: Woken) -> Sequence[AuditEvent]:
    """The audit's events of a question that was asked."""
    if woken.problem or woken.is_waiting:
        return ()
    wake = woken.wake
    about = (wake.caller.bucket, "", wake.application.slug, woken.conversation, wake.run)
    sent = AuditEvent("message.sent", *about)
    is_new = woken.conversation == wake.new_conversation
    return (AuditEvent("conversation.created", *about), sent) if is_new else (sent,)
