"""The rows of the audit."""

from django.db import models
from django.utils import timezone

LONGEST_ACTOR = 100
LONGEST_SUBJECT = 255


class AuditEntry(models.Model):
    """One event of the audit, as `apps.accounts.audit.AuditEvent` describes it; never a text."""

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

    event = models.CharField(max_length=30, choices=Event)
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=LONGEST_ACTOR, blank=True, help_text="The caller.")
    address = models.CharField(max_length=LONGEST_ACTOR, blank=True)
    application = models.CharField(max_length=LONGEST_SUBJECT, blank=True)
    conversation = models.UUIDField(null=True, blank=True)
    run = models.UUIDField(null=True, blank=True)
    subject = models.CharField(
        max_length=LONGEST_SUBJECT, blank=True, help_text="The tool, or what was asked for."
    )

    class Meta:
        verbose_name = "audit event"
        indexes = (
            models.Index(fields=("at",), name="audit_by_time"),
            models.Index(fields=("actor", "at"), name="audit_by_actor"),
        )

    def __str__(self) -> str:
        return f"{self.event}: {self.actor}"
