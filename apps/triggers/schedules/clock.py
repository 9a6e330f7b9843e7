"""Runs due schedules once a minute in a sweep, which also enqueues a job for each run time before
the next sweep.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from channels.db import database_sync_to_async
from django.db import OperationalError
from django.utils import timezone

from apps.accounts.audit import AuditEvent
from apps.catalog.resolve import resolve_application
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import person_stream
from apps.conversations.asking.scheduled_messages import ScheduledMessageResult
from apps.errors import QuickAppError
from apps.live.hub import HUB, Hub
from apps.live.journal.notifications import announce_waiting, wake_viewers
from apps.tasks.task import task
from apps.triggers.schedules import due
from apps.triggers.schedules.callers import Callers
from apps.triggers.schedules.due import FiringReport, Resolved, Target
from apps.workspace.local import read_only

logger = logging.getLogger(__name__)

LOOK_AHEAD = timedelta(seconds=75)
"""A sweep enqueues jobs for all run times within this period: the minute until the next sweep, plus
a margin.
"""
EARLY = timedelta(seconds=11)
"""A job starts this long before the run time and then waits for it, because on PostgreSQL a worker
may start a job ten seconds late.
"""


async def sweep() -> int:
    """Run due schedules, and enqueue jobs for the run times before the next sweep. Return the
    number of sent messages.
    """
    count = await fire_due(HUB)
    until = timezone.now() + LOOK_AHEAD
    for at in await database_sync_to_async(due.times_until)(until):
        await database_sync_to_async(enqueue)(at)
    return count


def note_planned(at: datetime) -> None:
    """Enqueue a job for a schedule's next run time if it is before the next sweep."""
    if at <= timezone.now() + LOOK_AHEAD:
        enqueue(at)


def enqueue(at: datetime) -> None:
    fire_at.using(run_after=at - EARLY).enqueue(at.isoformat())


@task("triggers.fire_at", title="Messages of schedules", priority=10, retries=2)
async def fire_at(at: str) -> None:
    """Run the schedules due at this ISO 8601 time. If this fails, the next sweep runs them."""
    seconds = (datetime.fromisoformat(at) - timezone.now()).total_seconds()
    await asyncio.sleep(max(0.0, seconds))
    await fire_due(HUB)


async def fire_due(hub: Hub) -> int:
    """Run all due schedules, unless the site is read-only. Return the number of sent messages."""
    if await read_only.is_on_async():
        return 0
    count, callers = 0, Callers()
    while not hub.is_closing:
        now = timezone.now()
        names: dict[Target, str] = await database_sync_to_async(due.due_names)(now)
        if not names:
            break
        fired = await fire_batch(await resolve_applications(names), now, callers)
        count += len(fired.woken)
        await notify_processes(hub, fired.woken)
        for owner in fired.stopped:
            await wake_viewers(hub.streams, person_stream(owner))
        if not fired.rows:  # Another process has claimed the due rows.
            break
    return count


async def fire_batch(applications: Resolved, now: datetime, callers: Callers) -> FiringReport:
    """Run the first due schedules together or, if this fails, one by one."""
    fired: FiringReport
    try:
        fired = await database_sync_to_async(due.fire)(applications, now, callers)
    except OperationalError:
        raise
    except Exception:
        logger.exception("Failed to run the due schedules together; running them one by one")
        fired = await database_sync_to_async(fire_one_by_one)(applications, now)
    return fired


def fire_one_by_one(applications: Resolved, now: datetime) -> FiringReport:
    woken: list[ScheduledMessageResult] = []
    rows, stopped = 0, frozenset[str]()
    for pk in list(due.due(now).values_list("pk", flat=True)[: due.AT_ONCE]):
        try:
            fired = due.fire(applications, now, Callers(), pk)
        except Exception:
            logger.exception("Failed to run schedule %s", pk)
            due.postpone(pk, now)
        else:
            woken += fired.woken
            rows += fired.rows
            stopped |= fired.stopped
    return FiringReport(woken, rows, stopped)


async def resolve_applications(names: dict[Target, str]) -> Resolved:
    return {target: await application_or_error(name) for target, name in names.items()}


async def application_or_error(slug: str) -> ResolvedApplication | QuickAppError:
    try:
        return await resolve_application(slug)
    except QuickAppError as error:
        return error


async def notify_processes(hub: Hub, woken: Sequence[ScheduledMessageResult]) -> None:
    """Notify other processes of queued runs, and browser pages of changed conversations."""
    if not woken:
        return
    hub.has_queue = True
    hub.awaited.set()
    await announce_waiting()
    for stream in {person_stream(one.message.caller.bucket) for one in woken}:
        await wake_viewers(hub.streams, stream)
    for one in woken:
        if one.message.conversation is not None:
            await wake_viewers(hub.streams, one.conversation)
        hub.summaries.queue_audit(*events_of(one))


def events_of(woken: ScheduledMessageResult) -> Sequence[AuditEvent]:
    """Return the audit events for a message that a schedule or alarm has sent."""
    if woken.problem or woken.is_waiting:
        return ()
    message = woken.message
    about = (message.caller.bucket, "", message.application.slug, woken.conversation, message.run)
    sent = AuditEvent("message.sent", *about)
    is_new = woken.conversation == message.new_conversation
    return (AuditEvent("conversation.created", *about), sent) if is_new else (sent,)
