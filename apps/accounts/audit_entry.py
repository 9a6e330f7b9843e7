"""Defines the database model for audit log entries."""

from django.db import models
from django.utils import timezone

LONGEST_ACTOR = 100
LONGEST_SUBJECT = 255


class AuditEntry(models.Model):
    """A stored audit event. It never contains message text."""

    class Event(models.TextChoices):
        CONVERSATION_CREATED = "conversation.created"
        CONVERSATION_DELETED = "conversation.deleted"
        MESSAGE_SENT = "message.sent"
        MESSAGE_RECEIVED = "message.received"
        TOOL_EXECUTED = "tool.executed"
        ACCESS_DENIED = "access.denied"
        ACCESS_GRANTED = "access.granted"
        ACCESS_REVOKED = "access.revoked"
        CONTENTS_READ = "contents.read"
        SECOND_FACTOR_REMOVED = "second_factor.removed"
        TEAM_CHANGED = "team.changed"
        VIEWED_AS = "account.viewed"
        GROUPS_CHANGED = "groups.changed"
        PUBLISHING_REQUESTED = "publishing.requested"
        PUBLISHING_RETURNED = "publishing.returned"
        PUBLISHED_BY_SECOND = "publishing.done"
        PUBLISHING_RULE = "publishing.rule_changed"
        KEY_CREATED = "key.created"
        KEY_CHANGED = "key.changed"
        KEY_REVOKED = "key.revoked"
        PROGRAM_CONNECTED = "program.connected"
        PROGRAM_DISCONNECTED = "program.disconnected"
        PROGRAM_REGISTERED = "program.registered"
        PROGRAM_CHANGED = "program.changed"
        PROGRAM_DELETED = "program.deleted"
        PROGRAM_BLOCKED = "program.blocked"
        PROGRAM_UNBLOCKED = "program.unblocked"
        HOLD_PLACED = "hold.placed"
        HOLD_LIFTED = "hold.lifted"
        ACCOUNT_ERASED = "account.erased"
        WIDGET_CHANGED = "widget.changed"
        JOB_RETRIED = "job.retried"
        JOB_CANCELLED = "job.cancelled"
        JOB_ENQUEUED = "job.enqueued"
        JOBS_PAUSED = "jobs.paused"
        JOBS_RESUMED = "jobs.resumed"

    event = models.CharField(max_length=30, choices=Event)
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=LONGEST_ACTOR, blank=True, help_text="The caller.")
    address = models.CharField(max_length=LONGEST_ACTOR, blank=True)
    application = models.CharField(max_length=LONGEST_SUBJECT, blank=True)
    conversation = models.UUIDField(null=True, blank=True)
    run = models.UUIDField(null=True, blank=True)
    subject = models.CharField(
        max_length=LONGEST_SUBJECT,
        blank=True,
        help_text="The tool that was called, or the object that was requested.",
    )

    class Meta:
        verbose_name = "audit event"
        indexes = (
            models.Index(fields=("at",), name="audit_by_time"),
            # Operators search by these columns, newest rows first.
            models.Index(
                fields=("actor", "at"),
                # PostgreSQL needs this index to find the buckets of a user's teams by their common
                # prefix.
                opclasses=("varchar_pattern_ops", "timestamptz_ops"),
                name="audit_by_caller",
            ),
            models.Index(fields=("event", "at"), name="audit_by_event"),
            models.Index(
                fields=("application", "at"),
                condition=~models.Q(application=""),
                name="audit_by_application",
            ),
            models.Index(
                fields=("address", "at"),
                condition=~models.Q(address=""),
                name="audit_by_address",
            ),
            models.Index(
                fields=("subject", "at"),
                opclasses=("varchar_pattern_ops", "timestamptz_ops"),
                condition=~models.Q(subject=""),
                name="audit_by_subject",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event}: {self.actor}"
