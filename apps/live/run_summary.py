"""Defines the database model for run summaries: door, application, counts and outcome."""

import uuid

from django.db import models
from django.utils import timezone

from apps.insights.sums import OF_USERS
from apps.live import doors
from apps.tracing import LONGEST_ID

LONGEST_NAME = 255
"""Application names are truncated to this many characters, because the names of applications in
DIAL Core are paths of any length.
"""
LONGEST_BUCKET = 100


class RunSummary(models.Model):
    """The summary of a run, without content. The counts include nested runs.

    Unlike a `Run`, a summary has no lease and no stream, and it remains when the run is deleted. If
    there is a `Run` for it, both have the same ID. Only summaries of API clients' runs can have the
    status `running`.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"
        REFUSED = "refused"

    id = models.UUIDField("run", primary_key=True, default=uuid.uuid4, editable=False)
    door = models.CharField(max_length=20, choices=doors.choices)
    application = models.CharField(max_length=LONGEST_NAME)
    bucket = models.CharField("caller", max_length=LONGEST_BUCKET)
    status = models.CharField("outcome", max_length=10, choices=Status, default=Status.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(
        default=timezone.now, help_text=("The last heartbeat of the process.")
    )
    seconds = models.FloatField(null=True, blank=True)
    model_calls = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    error_reference = models.CharField(max_length=20, blank=True)
    request_id = models.CharField(
        "request ID",
        max_length=LONGEST_ID,
        blank=True,
        default="",
        db_default="",
        help_text="The ID in the log and in the response header X-Request-ID.",
    )

    class Meta:
        verbose_name = "run"
        indexes = (
            models.Index(fields=("started_at",), name="run_summaries_by_age"),
            # For operators, who search the newest runs first.
            models.Index(fields=("application", "started_at"), name="run_summaries_by_application"),
            models.Index(
                fields=("bucket", "started_at"),
                # PostgreSQL needs these operator classes to search by prefix. All buckets of a user
                # have the same prefix.
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
                fields=("request_id",),
                condition=~models.Q(request_id=""),
                name="run_summaries_by_request",
            ),
            models.Index(
                fields=("seen_at",),
                condition=models.Q(status="running"),
                name="run_summaries_that_go_on",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.status}"

    @property
    def is_test(self) -> bool:
        """Return True for a test message in the studio."""
        return self.door == doors.STUDIO


FAILED_FOR_USERS = models.Q(status=RunSummary.Status.FAILED) & OF_USERS
"""Selects the failed runs that operators need to know about: all except those of test messages."""
