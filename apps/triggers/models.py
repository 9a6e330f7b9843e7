"""Defines the database models of webhooks, subscriptions, deliveries and email notices."""

import uuid
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.utils import timezone

from apps.accounts.models import ServiceAccount
from apps.catalog.history.recorded_models import RowKind
from apps.catalog.models import Application
from apps.errors import EgressRefused
from apps.triggers.webhooks.templates import template_problem
from apps.workspace.egress.guard import Trust, check_written_host
from apps.workspace.local.secrets.field import SecretField
from apps.workspace.versions import VersionedRow

LONGEST_ERROR = 500
LONGEST_WEBHOOK_ID = 200
MOST_MINUTES = 60 * 24 * 30


class Endpoint(VersionedRow):
    """The common fields of webhooks and subscriptions."""

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    secret = SecretField(blank=True, editable=False)
    is_enabled = models.BooleanField("enabled", default=True)
    problem = models.CharField(max_length=LONGEST_ERROR, blank=True, editable=False)
    """The reason why the endpoint does not work, or ""."""
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
    )
    """The user who last saved the endpoint, and whose permissions limit what it can do."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Webhook(Endpoint):
    """A URL to which other services send messages for an application."""

    class Check(models.TextChoices):
        SIGNATURE = "signature", "A signature (Standard Webhooks)"
        KEY = "key", "A key"

    class ConversationKind(models.TextChoices):
        NEW = "new", "A new one each time"
        SAME = "one", "Always the same"

    name = models.CharField(max_length=100, help_text="The sender. It is shown above each message.")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="webhooks")
    account = models.ForeignKey(
        ServiceAccount,
        on_delete=models.CASCADE,
        related_name="webhooks",
        verbose_name="service account",
        help_text="Each run uses this account, with the permissions that the account has when the run begins.",
    )
    check_kind = models.CharField(
        "authentication",
        max_length=10,
        choices=Check,
        default=Check.SIGNATURE,
        help_text="The method by which senders authenticate.",
    )
    key_hash = models.CharField(max_length=64, blank=True, editable=False)
    template = models.TextField(
        blank=True,
        help_text=(
            "A JSON-e template for the message, which can use the variable body, such as “Order "
            "${body.id}: ${body.note}”. Leave empty to send the JSON unchanged."
        ),
    )
    conversation_kind = models.CharField(
        "conversation", max_length=10, choices=ConversationKind, default=ConversationKind.NEW
    )
    conversation = models.UUIDField(null=True, editable=False)
    requests_per_minute = models.PositiveIntegerField(
        default=60,
        validators=[MinValueValidator(1)],
        help_text="Requests above this limit are rejected with status 429.",
    )
    answer_minutes = models.PositiveIntegerField(
        "minutes for approvals",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text=(
            "Calls that need approval wait for an operator and are denied after this "
            "time. Leave empty to wait indefinitely."
        ),
    )

    def clean(self) -> None:
        if problem := template_problem(self.template):
            raise ValidationError({"template": problem})


class WebhookCall(models.Model):
    """A message that a webhook has accepted. If a sender repeats the `message_id`, the message is
    not sent to the application again.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="calls")
    message_id = models.CharField(max_length=LONGEST_WEBHOOK_ID)
    task = models.UUIDField()
    conversation = models.UUIDField()
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("webhook", "message_id"), name="a_webhook_message_is_taken_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.webhook_id} {self.task}"


class RunEvent(models.TextChoices):
    DONE = "run.done", "An answer is done"
    FAILED = "run.failed", "An answer failed"
    WAITING = "run.waiting", "An answer waits for a user"


TEXT_NEEDS_PERMISSION = (
    "Turn this off, or ask for the permission to read the contents of runs: answers would be sent."
)


class Subscription(Endpoint):
    """A URL to which QuickApps sends events about runs, signed with Standard Webhooks."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="run_subscriptions",
        help_text="Only events of applications that this user can edit are sent.",
    )
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="run_subscriptions",
        help_text="Leave empty for all applications that the owner can edit.",
    )
    url = models.CharField("address", max_length=1000, validators=[URLValidator(("http", "https"))])
    events = models.JSONField(help_text="The events to send.")
    former_secret = SecretField(blank=True, default="", editable=False)
    """The secret before the last rotation. Until `former_secret_until`, events are also signed with
    it.
    """
    former_secret_until = models.DateTimeField(null=True, editable=False)
    has_text = models.BooleanField(
        "Include answer text",
        default=False,
        help_text="If this setting is off, only IDs and statuses are sent.",
    )

    @property
    def people(self) -> list[Any]:
        """Return the users whose permissions limit the events: the owner, and the user who last
        saved the subscription.
        """
        return [self.owner] if self.saved_by in (None, self.owner) else [self.owner, self.saved_by]

    def clean(self) -> None:
        known = {str(event) for event in RunEvent}
        events: Any = self.events
        if not isinstance(events, list) or not events or not known.issuperset(map(str, events)):
            names = ", ".join(sorted(known))
            raise ValidationError({"events": f"Choose at least one of {names}."})
        self.check_url()

    def check_url(self) -> None:
        """Raise `ValidationError` if the URL was changed and its host is blocked. A subscription
        with an unchanged URL can still be disabled.
        """
        if type(self).objects.filter(pk=self.pk, url=self.url).exists():
            return
        try:
            check_written_host(Trust.OPERATOR, urlsplit(self.url).hostname or "")
        except EgressRefused as error:
            raise ValidationError({"url": str(error)}) from error
        except ValueError:
            pass  # The URL field reports the error.


class Delivery(models.Model):
    """An event that is sent to a subscriber."""

    class Status(models.TextChoices):
        DUE = "due", "queued"
        SENT = "sent"
        DEAD = "dead", "failed"

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    """The `webhook-id` of all attempts to deliver the event."""
    subscription = models.ForeignKey(
        Subscription, on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.CharField(max_length=20, choices=RunEvent)
    run = models.UUIDField()
    door = models.CharField(max_length=20)
    application = models.CharField(max_length=255)
    status = models.CharField(max_length=10, choices=Status, default=Status.DUE)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(
        default=timezone.now,
        help_text=(
            "The time of the next attempt. For a running attempt, the time when it is considered lost."
        ),
    )
    response_status = models.PositiveSmallIntegerField("status of the answer", null=True)
    error = models.CharField("last error", max_length=LONGEST_ERROR, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ("-pk",)
        indexes = (
            models.Index(
                fields=("due_at",), condition=models.Q(status="due"), name="deliveries_to_be_sent"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("subscription", "run", "event"),
                condition=~models.Q(event="run.waiting"),
                name="an_ending_is_told_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} of {self.run}"


class MailNotice(models.Model):
    """A scheduled email to a user. It is not sent if the user opens the conversation first."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_notices"
    )
    run = models.UUIDField()
    event = models.CharField(max_length=20, choices=RunEvent)
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("run", "event"), name="a_person_is_told_once"),
        )

    def __str__(self) -> str:
        return f"{self.event} of {self.run}"


WEBHOOK_KIND = RowKind(
    Webhook,
    (
        *("name", "application_id", "account_id", "check_kind", "secret", "template"),
        *("conversation_kind", "requests_per_minute", "answer_minutes", "is_enabled"),
    ),
    secrets=("secret",),
    restorable=False,  # The webhooks and subscriptions of a deleted application are useless.
)
SUBSCRIPTION_KIND = RowKind(
    Subscription,
    (
        *("name", "owner", "application_id", "url", "events", "secret", "has_text"),
        "is_enabled",
    ),
    secrets=("secret",),
    people=("owner",),
    restorable=False,
)
