"""Defines the database model of schedules, which send messages at set times."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from apps.accounts.models import Team
from apps.accounts.persons import display_name
from apps.datetime_fields import BoundedDateTimeField
from apps.schedules.occurrences import (
    LONGEST_SECONDS,
    SHORTEST_SECONDS,
    ScheduleTiming,
    just_before,
    next_time,
)
from apps.schedules.schedule_problems import find_problems
from apps.schedules.schedule_sentences import next_words, timing_words

LONGEST_NAME = 100
LONGEST_MESSAGE = 10_000
LONGEST_REASON = 500
MOST_MINUTES = 30 * 24 * 60
"""A scheduled run can wait for the user's answer for up to this many minutes (30 days)."""
NEVER = gettext_noop("The schedule never runs. Change its times or its active hours.")
NO_TIME_LEFT = gettext_noop("The schedule has run for the last time.")


class Schedule(models.Model):
    """A message that is sent to an application at set times, on behalf of its owner."""

    class Kind(models.TextChoices):
        AT = "at", gettext_lazy("at a specific time")
        INTERVAL = "interval", gettext_lazy("at regular intervals")
        CRON = "cron", gettext_lazy("on a cron schedule")
        RRULE = "rrule", gettext_lazy("on a recurrence rule")

    class Missed(models.TextChoices):
        SKIP = "skip", gettext_lazy("skip missed runs")
        ONCE = "once", gettext_lazy("run once for all missed runs")
        ALL = "all", gettext_lazy("catch up on every missed run")

    class Unanswered(models.TextChoices):
        WAIT = "wait", gettext_lazy("wait for the answer")
        DENY = "deny", gettext_lazy("deny the call after a time limit")

    class Maker(models.TextChoices):
        PERSON = "person"
        MODEL = "model"
        OPERATOR = "operator"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(
        "catalog.Application",
        on_delete=models.CASCADE,
        related_name="schedules",
        verbose_name=gettext_lazy("application"),
    )
    owner = models.CharField(max_length=100, editable=False)
    """The bucket that contains the conversations."""
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedules"
    )
    """The user or service account for which the schedule acts."""
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, null=True, blank=True, related_name="schedules"
    )
    caller = models.JSONField(default=dict, editable=False)
    made_by = models.CharField(max_length=10, choices=Maker, default=Maker.PERSON, editable=False)
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        db_column="created_by_id",
    )
    """The permissions of this user limit the accounts that the schedule may use."""

    # Nullable, because a column with a default would make SQLite copy the table.
    pinned_version = models.PositiveIntegerField(
        gettext_lazy("version"),
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "The version of the app that answers. Leave empty for the latest version."
        ),
    )
    name = models.CharField(gettext_lazy("name"), max_length=LONGEST_NAME)
    message = models.TextField(
        gettext_lazy("message"),
        max_length=LONGEST_MESSAGE,
        help_text=gettext_lazy("The message to send to the app."),
    )
    is_alarm = models.BooleanField(gettext_lazy("alarm"), default=False, editable=False)
    is_heartbeat = models.BooleanField(gettext_lazy("heartbeat"), default=False, editable=False)
    is_same_conversation = models.BooleanField(
        gettext_lazy("same conversation"),
        default=False,
        help_text=gettext_lazy("Use one conversation for all runs."),
    )
    conversation = models.UUIDField(null=True, editable=False)
    """The conversation for the next run, or None if the run begins a new conversation."""

    kind = models.CharField(gettext_lazy("runs"), max_length=10, choices=Kind, default=Kind.CRON)
    start_at = BoundedDateTimeField(
        gettext_lazy("start time"),
        default=timezone.now,
        help_text=gettext_lazy(
            "The time of a one-time run, or the start time of a repeating schedule."
        ),
    )
    interval_seconds = models.PositiveIntegerField(
        gettext_lazy("interval in seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(SHORTEST_SECONDS), MaxValueValidator(LONGEST_SECONDS)],
        help_text=gettext_lazy(
            "The number of seconds between runs: 60 or more. Leave empty to run only once."
        ),
    )
    expression = models.CharField(
        gettext_lazy("expression"),
        max_length=300,
        blank=True,
        help_text=gettext_lazy(
            "For example, “0 9 * * MON-FRI” as a cron expression, or FREQ=MONTHLY;BYDAY=-1FR as a recurrence rule."
        ),
    )
    time_zone = models.CharField(
        gettext_lazy("time zone"),
        max_length=64,
        default="UTC",
        help_text=gettext_lazy("For example, Europe/Berlin."),
    )
    active_from = models.TimeField(
        gettext_lazy("active from"),
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "The schedule runs only between these hours. The period can extend past midnight."
        ),
    )
    active_until = models.TimeField(gettext_lazy("active until"), null=True, blank=True)
    max_runs = models.PositiveIntegerField(
        gettext_lazy("maximum runs"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    is_deleted_after = models.BooleanField(
        gettext_lazy("delete after the last run"),
        default=False,
        help_text=gettext_lazy("Delete the schedule after its last run."),
    )
    missed = models.CharField(
        gettext_lazy("missed runs"),
        max_length=4,
        choices=Missed,
        default=Missed.ONCE,
        help_text=gettext_lazy(
            "Choose what happens to runs that were missed while no server was running."
        ),
    )
    missed_most = models.PositiveSmallIntegerField(
        gettext_lazy("maximum missed runs"),
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(10)],
        help_text=gettext_lazy(
            "The maximum number of missed runs to catch up on, starting with the most recent. Applies only if each run has its own conversation."
        ),
    )
    unanswered = models.CharField(
        gettext_lazy("if a run asks a question"),
        max_length=4,
        choices=Unanswered,
        default=Unanswered.WAIT,
    )
    unanswered_minutes = models.PositiveIntegerField(
        gettext_lazy("minutes to wait for an answer"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text=gettext_lazy("If you don’t answer within this time, the tool call is denied."),
    )
    budget_tokens = models.PositiveIntegerField(
        gettext_lazy("token budget"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=gettext_lazy(
            "The maximum number of tokens for each run. When a run reaches this limit, it stops calling models."
        ),
    )
    budget_money = models.DecimalField(
        gettext_lazy("cost budget"),
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=gettext_lazy("The maximum cost of each run, in the currency below."),
    )
    budget_currency = models.CharField(
        gettext_lazy("budget currency"),
        max_length=3,
        default="USD",
        validators=[
            RegexValidator(
                "^[A-Z]{3}$", gettext_lazy("Enter a three-letter currency code, such as USD.")
            )
        ],
    )

    is_paused = models.BooleanField(gettext_lazy("paused"), default=False)
    pause_reason = models.CharField(max_length=LONGEST_REASON, blank=True, editable=False)
    next_at = BoundedDateTimeField(null=True, editable=False)
    last_at = models.DateTimeField(null=True, editable=False)
    run_count = models.PositiveIntegerField(default=0, editable=False)
    last_run = models.UUIDField(null=True, editable=False)
    last_conversation = models.UUIDField(null=True, editable=False)
    last_problem = models.CharField(max_length=LONGEST_REASON, blank=True, editable=False)
    # An operator's proposed change; see `apps.schedules.proposals`.
    proposal = models.JSONField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-created_at",)
        indexes = (
            models.Index(
                fields=("next_at",),
                condition=models.Q(is_paused=False, next_at__isnull=False),
                name="schedules_that_are_due",
            ),
            models.Index(fields=("owner",), name="schedules_of_owner"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("conversation",),
                condition=models.Q(is_alarm=True),
                name="one_alarm_in_a_conversation",
            ),
            models.UniqueConstraint(
                fields=("conversation",),
                condition=models.Q(is_heartbeat=True),
                name="one_heartbeat_in_a_conversation",
            ),
        )

    def __str__(self) -> str:
        # The admin shows this text, so it omits the names of users' schedules, which are private.
        if hasattr(self.user, "service_account"):
            return self.name
        return f"Schedule of {display_name(self.user)}"

    @property
    def timing(self) -> ScheduleTiming:
        is_timed = self.kind in (self.Kind.AT, self.Kind.INTERVAL)
        return ScheduleTiming(
            self.kind,  # type: ignore[arg-type]
            self.start_at,
            self.interval_seconds if is_timed else None,
            self.expression,
            self.time_zone,
            self.active_from,
            self.active_until,
        )

    @property
    def words(self) -> str:
        return timing_words(self.timing)

    @property
    def next_words(self) -> list[str]:
        """Return the next run times as texts, or [] if the schedule is paused."""
        if self.is_paused or self.next_at is None:
            return []
        return list(next_words(self.timing, self.next_at - timedelta(microseconds=1)))

    @property
    def target(self) -> tuple[int, int | None]:
        """Return the application's primary key, and the version number or None if it is not pinned."""
        return self.application_id, self.pinned_version

    @property
    def version_words(self) -> str:
        """Return the pinned version in words, or "" if the schedule uses the latest version."""
        if self.pinned_version is None:
            return ""
        return gettext("version {number}").format(number=self.pinned_version)

    @property
    def seconds_to_answer(self) -> int | None:
        return None if self.unanswered == self.Unanswered.WAIT else self.unanswered_minutes * 60

    @property
    def has_ended(self) -> bool:
        return self.max_runs is not None and self.run_count >= self.max_runs

    def clean(self) -> None:
        """Raise `ValidationError` if a field is invalid or the schedule never runs."""
        found = find_problems(self)
        if not found and next_time(self.timing, self.check_from()) is None:
            field = "expression" if self.expression else "start_at"
            found[field] = NEVER
        if found:
            raise ValidationError(found)

    def check_from(self) -> datetime:
        # A message for a time in the past is sent at once.
        is_once = self.kind == self.Kind.AT and self.start_at is not None
        return just_before(self.start_at, timedelta(seconds=1)) if is_once else timezone.now()

    def plan(self, now: datetime) -> None:
        """Set the next run time, which is after `now`. Pause the schedule if there is none."""
        after = just_before(self.start_at) if self.is_first_of_at else now
        self.next_at = None if self.has_ended else next_time(self.timing, after)
        if self.next_at is None:
            self.pause(NO_TIME_LEFT)

    @property
    def is_first_of_at(self) -> bool:
        """Return True for a schedule of the kind `at` that has not run. It runs even if its time
        has passed.
        """
        return self.kind == self.Kind.AT and self.last_at is None

    def pause(self, reason: str) -> None:
        self.is_paused, self.pause_reason = True, reason[:LONGEST_REASON]

    def stop(self, problem: str) -> None:
        """Pause the schedule because of a problem that the user must fix."""
        self.pause(problem)
        self.last_problem = self.pause_reason

    @property
    def is_stopped(self) -> bool:
        return self.is_paused and self.last_problem == self.pause_reason != ""

    def resume(self, now: datetime) -> None:
        self.is_paused, self.pause_reason = False, ""
        self.plan(now)
