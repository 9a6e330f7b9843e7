"""Defines the database models for jobs on SQLite, failed attempts, chore runs and paused job kinds."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class QueuedJob(models.Model):
    """A job that is queued, running or has failed. Successful jobs are deleted. Only SQLite
    installations use this table.
    """

    class Status(models.TextChoices):
        READY = "ready"
        RUNNING = "running"
        FAILED = "failed"

    task = models.CharField(max_length=100)
    arguments = models.JSONField(default=dict)
    lock = models.CharField(max_length=200, blank=True)
    """Only one job with this lock runs at a time. Empty means no lock."""
    priority = models.SmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.READY)
    attempts = models.PositiveIntegerField(default=0)
    run_after = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    """The time at which the last attempt began."""
    lease_until = models.DateTimeField(null=True)
    """From this time on, another worker may take over the running job."""
    enqueued_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(
                fields=("-priority", "run_after"), condition=~Q(status="failed"), name="jobs_to_run"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("task", "lock"),
                condition=Q(status="ready") & ~Q(lock=""),
                name="one_waiting_job_for_a_lock",
            ),
        )

    def __str__(self) -> str:
        return f"{self.task} {self.pk}"


class TaskFailure(models.Model):
    """A failed attempt at a job: it raised an error or, if `is_lost` is True, its process was
    killed. `is_final` means that the job will not run again.
    """

    job = models.CharField(max_length=40)
    task = models.CharField(max_length=100)
    attempt = models.PositiveIntegerField()
    is_final = models.BooleanField()
    is_lost = models.BooleanField(default=False, db_default=False)
    error = models.TextField()
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        default_permissions = ("view",)
        ordering = ("-pk",)
        verbose_name = "failed job"

    def __str__(self) -> str:
        return f"{self.task} {self.job}"


class ChoreRun(models.Model):
    """The last run of a chore. `error` is "" if it succeeded."""

    work = models.CharField(max_length=200, unique=True)
    started_at = models.DateTimeField()
    seconds = models.FloatField()
    changed = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        default_permissions = ("view",)
        ordering = ("work",)
        verbose_name = "background job"

    def __str__(self) -> str:
        return self.work


class PausedKind(models.Model):
    """A job kind that an operator has paused; see `apps.tasks.kinds`."""

    kind = models.CharField(max_length=200, unique=True)
    paused_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        permissions = (("operate_jobs", "Can retry, cancel and pause jobs"),)

    def __str__(self) -> str:
        return self.kind
