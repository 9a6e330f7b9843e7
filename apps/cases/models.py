"""Stores test cases, their recordings and their results."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format

from apps.cases.case_messages import message_problems
from apps.cases.expectations import expectation_problems
from apps.catalog.history.recorded_models import RowKind
from apps.catalog.models import Application
from apps.workspace.versions import VersionedRow


def first_messages() -> list[dict[str, Any]]:
    return [{"role": "user", "text": ""}]


class Case(VersionedRow):
    """A test case: messages for an application, and the expectations for its answer."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="cases")
    name = models.CharField(max_length=200, help_text="A description of the test case.")
    messages = models.JSONField(
        default=first_messages,
        help_text="The conversation, ending with the user's question.",
    )
    expectations = models.JSONField(
        default=list,
        blank=True,
        help_text=(
            "Conditions that the answer must meet. Without conditions, the test case "
            "passes if the run ends without an error."
        ),
    )
    source_run = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text=("The run that the test case was created from."),
    )
    is_from_real_run = models.BooleanField(
        "from a real run",
        default=False,
        editable=False,
        help_text="True if the test case contains a user's messages. Such a test case is exported only on request.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("application", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("application", "name"),
                name="a_case_has_its_name_alone",
                violation_error_message=("The application already has a test case with this name."),
            ),
        )

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        found = {
            "messages": message_problems(self.messages),
            "expectations": expectation_problems(self.expectations),
        }
        if problems := {name: texts for name, texts in found.items() if texts}:
            raise ValidationError(problems)


CASE_KIND = RowKind(Case, ("name", "messages", "expectations", "is_from_real_run"))


class CaseSettings(models.Model):
    """An application's settings for its test cases."""

    application = models.OneToOneField(
        Application, on_delete=models.CASCADE, related_name="case_settings"
    )
    requires_cases = models.BooleanField(
        "test cases must pass before publishing",
        default=False,
        help_text="A draft can be published only after all its test cases pass.",
    )

    class Meta:
        verbose_name_plural = "case settings"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.application_id}: {'required' if self.requires_cases else 'not required'}"


class Cassette(models.Model):
    """A recording: the model and tool calls of one live run of a test case, without secrets."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="cassettes")
    tape = models.JSONField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-pk",)
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.case_id} {date_format(self.made_at, 'DATETIME_FORMAT')}"


class CaseRun(models.Model):
    """A run of test cases on one version or draft of an application."""

    class Mode(models.TextChoices):
        REPLAY = "replay", "Replay"
        MODELS = "models", "Models live, tools from the recording"
        LIVE = "live", "Live"

    class State(models.TextChoices):
        RUNNING = "running"
        PASSED = "passed"
        FAILED = "failed"
        STOPPED = "stopped"

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="case_runs")
    target = models.CharField(
        max_length=20, default="live", help_text="live, draft or a version number."
    )
    document_digest = models.CharField(max_length=64, blank=True, editable=False)
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.REPLAY)
    times = models.PositiveSmallIntegerField(default=1)
    is_recording = models.BooleanField("recording", default=False)
    is_approved = models.BooleanField("approved", default=False)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    problem = models.CharField(max_length=1000, blank=True)
    total = models.PositiveIntegerField(default=0, help_text="The total number of attempts.")
    is_whole = models.BooleanField(
        default=True, help_text="True if the run includes all test cases of the application."
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(
        default=timezone.now, help_text=("The last heartbeat of the process.")
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=("application", "-started_at"), name="case_runs_of_application"),
        )

    def __str__(self) -> str:
        return (
            f"{self.application} ({self.target}), {date_format(self.started_at, 'DATETIME_FORMAT')}"
        )


class CaseResult(models.Model):
    """The result of one attempt at a test case: the answer, the calls and the expectations that
    were not met.
    """

    run = models.ForeignKey(CaseRun, on_delete=models.CASCADE, related_name="results")
    case = models.ForeignKey(Case, on_delete=models.SET_NULL, null=True, related_name="results")
    name = models.CharField(max_length=200)
    attempt = models.PositiveSmallIntegerField(default=1)
    place = models.PositiveIntegerField(
        default=0, db_default=0, help_text=("The index of the attempt in its run, starting at 0.")
    )
    passed = models.BooleanField()
    failures = models.JSONField(default=list)
    text = models.TextField(blank=True)
    error = models.TextField(blank=True)
    tools = models.JSONField(default=list)
    seconds = models.FloatField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    costs = models.JSONField(default=dict)
    cassette = models.ForeignKey(
        Cassette, on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )

    class Meta:
        ordering = ("place", "pk")
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.name}: {'passed' if self.passed else 'failed'}"
