"""Runs with their leases, and the journal of their events.

A stream is a sequence of runs, such as a conversation; this room knows nothing of it but its id.
"""

import uuid

from django.db import models
from django.utils import timezone


class Run(models.Model):
    """One answer, and the lease of the process that works on it."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"

    GOING = (Status.QUEUED, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    stream = models.UUIDField(db_index=True)
    request = models.UUIDField(help_text="Chosen by the client: the same request is taken once.")
    application = models.SlugField()
    bucket = models.CharField(max_length=100)
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    is_stop_requested = models.BooleanField("stop requested", default=False)
    beat_at = models.DateTimeField(default=timezone.now, help_text="The process was alive.")
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("stream",),
                condition=models.Q(status__in=("queued", "running")),
                name="one_run_at_a_time",
            ),
            models.UniqueConstraint(fields=("bucket", "request"), name="a_request_is_taken_once"),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.status}"


class JournalEntry(models.Model):
    """Consecutive events of one run: the first is number `first` of its stream."""

    stream = models.UUIDField()
    run = models.UUIDField()
    first = models.PositiveBigIntegerField()
    last = models.PositiveBigIntegerField()
    events = models.JSONField()

    class Meta:
        verbose_name_plural = "journal entries"
        constraints = (
            models.UniqueConstraint(fields=("stream", "first"), name="a_number_is_given_once"),
        )
        indexes = (models.Index(fields=("stream", "last"), name="journal_stream_last"),)

    def __str__(self) -> str:
        return f"{self.stream} {self.first}-{self.last}"
