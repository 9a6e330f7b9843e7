"""Writes the audit log: who did what, when and from which network address, without message text.

Code in an event loop queues its events for `write`. Other code writes them immediately with
`record`.
"""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import connection, transaction

from apps.accounts.audit_entry import LONGEST_ACTOR, LONGEST_SUBJECT, AuditEntry
from apps.accounts.legal_holds import holds
from apps.old_rows import delete_older

Event = Literal[
    "conversation.created",
    "conversation.deleted",
    "message.sent",
    "message.received",
    "tool.executed",
    "access.denied",
    "access.granted",
    "access.revoked",
    "contents.read",
    "second_factor.removed",
    "team.changed",
    "account.viewed",
    "groups.changed",
    "publishing.requested",
    "publishing.returned",
    "publishing.done",
    "publishing.rule_changed",
    "key.created",
    "key.changed",
    "key.revoked",
    "program.connected",
    "program.disconnected",
    "program.registered",
    "program.changed",
    "program.deleted",
    "program.blocked",
    "program.unblocked",
    "hold.placed",
    "hold.lifted",
    "account.erased",
    "widget.changed",
    "job.retried",
    "job.cancelled",
    "job.enqueued",
    "jobs.paused",
    "jobs.resumed",
]
COLUMNS = ("event", "at", "actor", "address", "application", "conversation", "run", "subject")


class AuditEvent(msgspec.Struct, frozen=True, gc=False):
    """An event for the audit log."""

    event: Event
    actor: str = ""
    """The bucket of the acting user, such as `user-7`."""
    address: str = ""
    application: str = ""
    conversation: UUID | None = None
    run: UUID | None = None
    subject: str = ""
    """The name or ID of the affected object."""
    at: float = msgspec.field(default_factory=time.time)
    """The time of the event, as a Unix time."""


def record(*events: AuditEvent) -> None:
    """Write audit events immediately, in the caller's transaction."""
    if events:
        write(events)


def write(events: Iterable[AuditEvent]) -> None:
    names, places = ", ".join(COLUMNS), ", ".join(["%s"] * len(COLUMNS))
    table = AuditEntry._meta.db_table
    statement = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - no values
    # `bulk_create` takes ten times as long.
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.executemany(statement, list(map(values_of, events)))


def values_of(event: AuditEvent) -> tuple[str | None, ...]:
    at: str | None = connection.ops.adapt_datetimefield_value(datetime.fromtimestamp(event.at, UTC))
    return (
        event.event,
        at,
        cut(event.actor, LONGEST_ACTOR),
        cut(event.address, LONGEST_ACTOR),
        cut(event.application, LONGEST_SUBJECT),
        None if event.conversation is None else event.conversation.hex,
        None if event.run is None else event.run.hex,
        cut(event.subject, LONGEST_SUBJECT),
    )


def cut(text: str, most: int) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:most]


def delete_old() -> int:
    """Delete events that are older than `AUDIT_DAYS`, except events under a legal hold. Return the
    number of deleted events.
    """
    return delete_older(AuditEntry, "at", settings.AUDIT_DAYS, but=holds("actor", "conversation"))
