"""Keys for programs, and the audit."""

from django.db import models
from django.utils import timezone
from rest_framework_api_key.models import AbstractAPIKey


class ApiKey(AbstractAPIKey):
    """A key for programs: shown once, kept as a hash, with an end and a scope.

    Without applications in its scope it may use all of them, unless it is limited: a limited key
    whose applications are deleted may use none, instead of suddenly all.
    """

    applications = models.ManyToManyField(
        "catalog.Application",
        blank=True,
        related_name="api_keys",
        help_text="Which applications the key may use; none chosen means all of them.",
    )
    is_limited = models.BooleanField(
        "limited",
        default=False,
        help_text="May use the chosen applications only, also when none of them is left.",
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty: as for all keys; 0: without a limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Of the questions and the answers. Empty: as for all keys; 0: without a limit.",
    )
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "API key"
        verbose_name_plural = "API keys"


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
        CONTENTS_READ = "contents.read"

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
