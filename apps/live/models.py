"""Runs with their leases, their steps and questions, and the journal of their events.

A stream is a sequence of runs, such as a conversation; this room knows nothing of it but its id.
"""

import json
import uuid
from typing import Any, get_args

from django.db import models
from django.utils import timezone

from apps.agent import ledger
from apps.live.helper_rows import HelperRun as HelperRun
from apps.live.run_summary import RunSummary as RunSummary
from apps.live.sent_request_rows import SentPart as SentPart
from apps.live.sent_request_rows import SentRequestRow as SentRequestRow
from apps.workspace.local.secrets import SecretField

FORMAT = 1
"""Of the rows that this code writes. It grows when older code could not go on with them."""
LONGEST_REASON = 2_000
"""Characters with which a person says why a call is denied."""
LONGEST_KEY = 500
LONGEST_TOOL_NAME = 200
ALL_TOOLS = ""
"""In place of a tool's name."""


def choices(names: object) -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ")) for name in get_args(names)]


class KeptManifest(models.Model):
    """The manifest of runs that began with it.

    `text` is its JSON, encrypted because a credential may stand in it that no secret holds.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    text = SecretField()

    def __str__(self) -> str:
        return self.digest

    @property
    def document(self) -> dict[str, Any]:
        """Raises ValueError when no key decrypts it."""
        found: dict[str, Any] = json.loads(self.text)
        return found


class Run(models.Model):
    """One answer, and the lease of the process that works on it.

    `caller` refers to a user and holds no credential.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped"

    GOING = (Status.QUEUED, Status.RUNNING)
    OPEN = (*GOING, Status.WAITING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    stream = models.UUIDField(db_index=True)
    request = models.UUIDField(help_text="Chosen by the client: the same request is taken once.")
    application = models.SlugField()
    application_pk = models.BigIntegerField(
        null=True, editable=False, help_text="Its slug may come to be that of another one."
    )
    # Nullable, because a column with a default would make SQLite copy the table.
    application_number = models.PositiveIntegerField(
        null=True, editable=False, help_text="Of the version that answers."
    )
    manifest = models.ForeignKey(
        KeptManifest, on_delete=models.PROTECT, null=True, related_name="runs", editable=False
    )
    bucket = models.CharField(max_length=100)
    counted_as = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="With whose runs it counts; empty: with those of the bucket.",
    )
    caller = models.JSONField(default=dict)
    door = models.CharField(max_length=20, default="page")
    unattended = models.JSONField(
        null=True,
        editable=False,
        help_text="Of a run that no person began: the seconds for an answer to what it asks.",
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    is_stop_requested = models.BooleanField("stop requested", default=False)
    holder = models.CharField(
        max_length=100, blank=True, help_text="The process that works on it, since it started."
    )
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="How often it was taken over since its last new step."
    )
    format = models.PositiveSmallIntegerField(default=FORMAT)
    beat_at = models.DateTimeField(default=timezone.now, help_text="The process was alive.")
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    turn_at = models.DateTimeField(
        default=timezone.now, help_text="Its place among the queued, as `apps.live.queue` sets it."
    )

    class Meta:
        verbose_name = "run in progress"
        verbose_name_plural = "runs in progress"
        constraints = (
            models.UniqueConstraint(
                fields=("stream",),
                condition=models.Q(status__in=("queued", "running", "waiting")),
                name="one_run_at_a_time",
            ),
            models.UniqueConstraint(fields=("bucket", "request"), name="a_request_is_taken_once"),
        )
        indexes = (
            models.Index(
                fields=("beat_at",),
                condition=models.Q(status__in=("queued", "running")),
                name="runs_that_are_going",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.status}"

    @property
    def counted(self) -> str:
        return self.counted_as or self.bucket


class RunStep(models.Model):
    """A step as `apps.agent.ledger.Step` describes it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    key = models.CharField(max_length=LONGEST_KEY)
    kind = models.CharField(max_length=20, choices=choices(ledger.StepKind))
    policy = models.CharField(max_length=10, choices=choices(ledger.Policy))
    status = models.CharField(max_length=10, choices=choices(ledger.StepStatus))
    result = models.JSONField(default=dict)
    begun_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "key"), name="a_step_is_kept_once"),)

    def __str__(self) -> str:
        return f"{self.run_id} {self.key}: {self.status}"


class Interaction(models.Model):
    """Something that a step asks somebody, as `apps.agent.ledger.Interaction` describes it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="interactions")
    key = models.CharField(max_length=LONGEST_KEY)
    kind = models.CharField(max_length=20, choices=choices(ledger.InteractionKind))
    asked = models.JSONField()
    answer = models.JSONField(null=True, blank=True)
    answered_by = models.CharField(max_length=100, blank=True)
    claimed_by = models.CharField(
        max_length=100, blank=True, help_text="The page that does what is asked."
    )
    request = models.UUIDField(
        null=True,
        editable=False,
        help_text="The message that is the answer, as its sender named it.",
    )
    due_at = models.DateTimeField(null=True, blank=True, help_text="The end of the time to answer.")

    class Meta:
        permissions = (("answer_for_others", "Can answer for other people"),)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "key", "kind"), name="an_interaction_is_asked_once"
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",),
                condition=models.Q(answer__isnull=True),
                name="interactions_that_are_open",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.key}: {self.kind}"


class Consent(models.Model):
    """What a person decided about all calls of a tool; without a stream, in the whole application.

    The tool `ALL_TOOLS` is every one about which nothing else was decided.
    """

    bucket = models.CharField(max_length=100)
    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="+"
    )
    stream = models.UUIDField(null=True, blank=True, db_index=True)
    tool = models.CharField(max_length=LONGEST_TOOL_NAME, blank=True)
    mode = models.CharField(max_length=10, choices=choices(ledger.Consent))
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("bucket", "application", "stream", "tool"),
                name="one_consent_in_a_stream",
            ),
            models.UniqueConstraint(
                fields=("bucket", "application", "tool"),
                condition=models.Q(stream=None),
                name="one_consent_in_an_application",
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool}: {self.mode}"


class AnsweredCall(models.Model):
    """Calls that waited in the state of an answer, and were answered; their `id` is in the state.

    The row is needed until `expires_at`, when nobody can answer them any more.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.id)


class JournalEntry(models.Model):
    """Consecutive events of one run, which have the numbers `first` to `last` of its stream."""

    stream = models.UUIDField()
    run = models.UUIDField()
    first = models.PositiveBigIntegerField()
    last = models.PositiveBigIntegerField()
    format = models.PositiveSmallIntegerField(default=FORMAT)
    events = models.JSONField()

    class Meta:
        verbose_name_plural = "journal entries"
        constraints = (
            models.UniqueConstraint(fields=("stream", "first"), name="a_number_is_given_once"),
        )
        indexes = (
            models.Index(fields=("stream", "last"), name="journal_stream_last"),
            models.Index(fields=("run", "first"), name="journal_run_first"),
        )

    def __str__(self) -> str:
        return f"{self.stream} {self.first}-{self.last}"
