"""Webhooks that ask applications, and subscriptions to what becomes of runs."""

import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.utils import timezone

from apps.accounts.models import ServiceAccount
from apps.catalog.history.kinds import RowKind
from apps.catalog.models import Application
from apps.triggers.webhook_templates import template_problem
from apps.workspace.local.secrets import SecretField
from apps.workspace.versions import Versioned

LONGEST_ERROR = 500
LONGEST_WEBHOOK_ID = 200
MOST_MINUTES = 60 * 24 * 30


class Endpoint(Versioned):
    """What webhooks and subscriptions have in common: a name, a secret, and whether they work.

    `problem` says why it does not work at the moment.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    secret = SecretField(blank=True, editable=False)
    is_enabled = models.BooleanField("enabled", default=True)
    problem = models.CharField(max_length=LONGEST_ERROR, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Webhook(Endpoint):
    """An address that asks an application what a program sends to it."""

    class Check(models.TextChoices):
        SIGNATURE = "signature", "A signature (Standard Webhooks)"
        KEY = "key", "A key"

    class Place(models.TextChoices):
        NEW = "new", "A new one each time"
        ONE = "one", "Always the same"

    name = models.CharField(
        max_length=100, help_text="What sends to it. It stands above each message."
    )
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="webhooks")
    account = models.ForeignKey(
        ServiceAccount,
        on_delete=models.CASCADE,
        related_name="webhooks",
        verbose_name="service account",
        help_text="On whose behalf it asks, with the rights that the account has at that time.",
    )
    check_kind = models.CharField(
        "checked by",
        max_length=10,
        choices=Check,
        default=Check.SIGNATURE,
        help_text="How a program shows that it may ask.",
    )
    key_hash = models.CharField(max_length=64, blank=True, editable=False)
    template = models.TextField(
        blank=True,
        help_text="The message: a JSON-e template with the name body, such as “Order ${body.id}: "
        "${body.note}”. Empty: the JSON as it came.",
    )
    conversation_kind = models.CharField(
        "conversation", max_length=10, choices=Place, default=Place.NEW
    )
    conversation = models.UUIDField(null=True, editable=False)
    requests_per_minute = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1)], help_text="More are answered 429."
    )
    answer_minutes = models.PositiveIntegerField(
        "minutes for approvals",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text="What needs an approval waits for an operator, and is denied after that time. "
        "Empty: it waits without an end.",
    )

    def clean(self) -> None:
        if problem := template_problem(self.template):
            raise ValidationError({"template": problem})


class WebhookCall(models.Model):
    """A message that a webhook took: the same `message_id` is the same task."""

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
    WAITING = "run.waiting", "An answer waits for somebody"


class Subscription(Endpoint):
    """An address that is told of runs, signed as Standard Webhooks says.

    After its secret was renewed, `former_secret` signs beside it, so that a receiver can change over.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="run_subscriptions",
        help_text="Only of applications that this person edits is anything told.",
    )
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="run_subscriptions",
        help_text="Empty: all that the owner edits.",
    )
    url = models.CharField("address", max_length=1000, validators=[URLValidator(("http", "https"))])
    events = models.JSONField(help_text="What is told.")
    former_secret = SecretField(blank=True, default="", editable=False)
    former_secret_until = models.DateTimeField(null=True, editable=False)
    has_text = models.BooleanField(
        "with the answer's text",
        default=False,
        help_text="Else only ids and states leave this server.",
    )

    def clean(self) -> None:
        known = {str(event) for event in RunEvent}
        events: Any = self.events
        if not isinstance(events, list) or not events or not known.issuperset(map(str, events)):
            names = ", ".join(sorted(known))
            raise ValidationError({"events": f"Choose at least one of {names}."})


class Delivery(models.Model):
    """One event on its way to one address; `uuid` is its `webhook-id` in every attempt."""

    class Status(models.TextChoices):
        DUE = "due", "to be sent"
        SENT = "sent"
        DEAD = "dead", "given up"

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
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
        default=timezone.now, help_text="The next attempt; of one that goes on, when it is lost."
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
    """A message to a person that will be sent unless they look at the conversation before."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_notices"
    )
    run = models.UUIDField()
    event = models.CharField(max_length=20, choices=RunEvent)
    attempts = models.PositiveSmallIntegerField(default=0)
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
    restorable=False,  # what a program has of a deleted one is useless
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
