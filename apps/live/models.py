"""Defines the database models for runs and their leases, steps, questions and journals.

A stream is a sequence of runs, such as a conversation; this package stores only its ID.
"""

import json
import uuid
from typing import Any, get_args

from django.db import connection, models
from django.utils import timezone

from apps.agent import ledger
from apps.live.history.packing import unpack_object
from apps.live.run_summary import RunSummary as RunSummary
from apps.live.sent_request_rows import SentPart as SentPart
from apps.live.sent_request_rows import SentRequestRow as SentRequestRow
from apps.live.subagent_rows import HelperRun as HelperRun
from apps.workspace.local.secrets.field import SecretField

FORMAT = 1
"""The format version of stored runs. Increase it if older code cannot resume runs in the new
format.
"""
LONGEST_REASON = 2_000
"""The maximum length in characters of the reason that a user gives for denying a call."""
LONGEST_KEY = 500
LONGEST_TOOL_NAME = 200
ALL_TOOLS = ""
"""The tool name in a `Consent` for all tools."""


def choices(names: object) -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ")) for name in get_args(names)]


class KeptManifest(models.Model):
    """The manifest of one or more runs. `text` is its JSON, which is encrypted because it can
    contain credentials.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    text = SecretField()

    def __str__(self) -> str:
        return self.digest

    @classmethod
    def hold(cls, digest: str) -> bool:
        """Lock the manifest's row with this digest until the transaction ends. Return False if it
        does not exist.
        """
        is_shared = connection.vendor == "postgresql"  # SQLite has only one transaction at a time.
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT 1 FROM {cls._meta.db_table} WHERE digest = %s "  # noqa: S608 - a constant
                f"{'FOR KEY SHARE' if is_shared else ''}",
                [digest],
            )
            return cursor.fetchone() is not None

    @property
    def document(self) -> dict[str, Any]:
        """Return the manifest's JSON. Raises ValueError if no key can decrypt it."""
        found: dict[str, Any] = json.loads(self.text)
        return found


class Run(models.Model):
    """An active or finished run, with the lease of the process that executes it. `caller`
    identifies the user, without credentials.
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
    request = models.UUIDField(
        help_text=(
            "The ID that the client chose. A repeated request with the same ID is run only once."
        )
    )
    application = models.SlugField()
    application_pk = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="The ID of the application. Unlike the slug, it never changes.",
    )
    # Nullable, because SQLite would copy the table to add a column with a default.
    application_number = models.PositiveIntegerField(
        null=True, editable=False, help_text="The number of the version that answers."
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
        help_text=(
            "The run counts towards this owner's limit on running answers. If empty, it counts "
            "towards the bucket's limit."
        ),
    )
    caller = models.JSONField(default=dict)
    door = models.CharField(max_length=20, default="page")
    unattended = models.JSONField(
        null=True,
        editable=False,
        help_text="The timeout in seconds for questions in a run without a user.",
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    is_stop_requested = models.BooleanField("stop requested", default=False)
    holder = models.CharField(
        max_length=100, blank=True, help_text="The process that executes the run."
    )
    attempts = models.PositiveSmallIntegerField(
        default=0,
        help_text="The number of times another process has taken over the run since its latest step.",
    )
    format = models.PositiveSmallIntegerField(default=FORMAT)
    beat_at = models.DateTimeField(
        default=timezone.now, help_text=("The last heartbeat of the process.")
    )
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    turn_at = models.DateTimeField(
        default=timezone.now,
        help_text="The position in the queue, set by `apps.live.limits.queue`.",
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
            models.Index(
                fields=("finished_at",),
                condition=models.Q(manifest__isnull=False),
                name="runs_to_compact",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.status}"

    @property
    def request_id(self) -> str:
        """Return the ID of the HTTP request that started the run. All processes that execute the
        run log this ID.
        """
        return str(self.caller.get("request_id") or self.request)

    @property
    def counted(self) -> str:
        return self.counted_as or self.bucket


class RunStep(models.Model):
    """A step of a run. See `apps.agent.ledger.Step`."""

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

    def read_result(self) -> dict[str, Any]:
        """Return the step's result, which is compressed in old rows."""
        return unpack_object(self.result)


class Interaction(models.Model):
    """A question that a step of a run asks a user. See `apps.agent.ledger.InteractionRequest`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="interactions")
    key = models.CharField(max_length=LONGEST_KEY)
    kind = models.CharField(max_length=20, choices=choices(ledger.InteractionKind))
    asked = models.JSONField()
    answer = models.JSONField(null=True, blank=True)
    answered_by = models.CharField(max_length=100, blank=True)
    claimed_by = models.CharField(
        max_length=100, blank=True, help_text="The page that executes the call."
    )
    request = models.UUIDField(
        null=True,
        editable=False,
        help_text="The ID that the sender gave to the message that contains the answer.",
    )
    due_at = models.DateTimeField(
        null=True, blank=True, help_text=("The time at which the question expires.")
    )

    class Meta:
        permissions = (("answer_for_others", "Can answer for other users"),)
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
    """A user's lasting decision about calls to a tool. Without a stream, it applies to the whole
    application. The tool name `ALL_TOOLS` means every tool that has no decision of its own.
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
    """Records that an API client has answered the tool calls that were waiting for a user. Each set
    of calls can be answered once, and only until `expires_at`.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.id)


class JournalEntry(models.Model):
    """Consecutive events of one run, which have the numbers `first` to `last` in its stream."""

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
