"""Defines the database model for sub-agents. A sub-agent belongs to the run that started it and is
deleted with it.
"""

from django.db import models
from django.utils import timezone

LONGEST_NAME = 100
LONGEST_SUBAGENT_KEY = 500


class HelperRun(models.Model):
    """A sub-agent of a run. `key` is the key of the step that started it."""

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"

    run = models.ForeignKey("Run", on_delete=models.CASCADE, related_name="helpers")
    key = models.CharField(max_length=LONGEST_SUBAGENT_KEY)
    name = models.CharField(
        max_length=LONGEST_NAME, help_text="The beginning of the sub-agent's task."
    )
    agent = models.CharField(max_length=LONGEST_NAME, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    is_stop_requested = models.BooleanField("stop requested", default=False)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    model_calls = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "sub-agent"
        constraints = (
            models.UniqueConstraint(fields=("run", "key"), name="a_helper_is_kept_once"),
        )
        indexes = (
            models.Index(
                fields=("run",),
                condition=models.Q(is_stop_requested=True, status="running"),
                name="helpers_to_be_stopped",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.status}"
