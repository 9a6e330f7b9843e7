"""The row that stays of a run: where it was asked for, what it cost and how it ended."""

import uuid

from django.db import models
from django.utils import timezone

LONGEST_NAME = 255
"""DIAL Core's names of applications are paths of any length."""
LONGEST_BUCKET = 100


class RunSummary(models.Model):
    """One run of any door, without a word of what was said; runs inside of it are counted in.

    It is not a `Run`: it has no lease, belongs to no stream, and outlives what it is about. A run
    of the page has the same id there. Only rows of the gateway are ever `running`.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"
        REFUSED = "refused"

    class Door(models.TextChoices):
        PAGE = "page", "chat page"
        GATEWAY = "gateway"
        CORE = "core", "DIAL Core"
        SCHEDULE = "schedule"
        WEBHOOK = "webhook"

    KEPT_DOORS = (Door.PAGE, Door.SCHEDULE, Door.WEBHOOK)
    """Their runs answer in conversations."""

    id = models.UUIDField("run", primary_key=True, default=uuid.uuid4, editable=False)
    door = models.CharField(max_length=20, choices=Door)
    application = models.CharField(max_length=LONGEST_NAME)
    bucket = models.CharField("caller", max_length=LONGEST_BUCKET)
    status = models.CharField("outcome", max_length=10, choices=Status, default=Status.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, help_text="The process was alive.")
    seconds = models.FloatField(null=True, blank=True)
    model_calls = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    error_reference = models.CharField(max_length=20, blank=True)

    class Meta:
        verbose_name = "run"
        indexes = (
            models.Index(fields=("started_at",), name="run_summaries_by_age"),
            # What operators look for; the newest come first.
            models.Index(fields=("application", "started_at"), name="run_summaries_by_application"),
            models.Index(
                fields=("bucket", "started_at"),
                # PostgreSQL finds the buckets of a person's teams, which begin alike, only by this.
                opclasses=("varchar_pattern_ops", "timestamptz_ops"),
                name="runs_by_caller",
            ),
            models.Index(
                fields=("started_at",),
                condition=models.Q(status__in=("failed", "refused", "stopped")),
                name="run_summaries_not_done",
            ),
            models.Index(
                fields=("error_reference",),
                condition=~models.Q(error_reference=""),
                name="run_summaries_by_reference",
            ),
            models.Index(
                fields=("seen_at",),
                condition=models.Q(status="running"),
                name="run_summaries_that_go_on",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.status}"
