"""Defines the database models for calls, usage sums and prices.

Rows never contain text from conversations or tools. The row of a failed model call contains the
service's error message, without credentials.
"""

from typing import Any

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from apps.agent.meter import CANCELLED
from apps.insights.budgets.models import Budget as Budget
from apps.workspace.local.models import Deployment
from apps.workspace.versions import VersionedRow

LONGEST_NAME = 255
LONGEST_WORD = 50
LONGEST_SAID = 500
"""The maximum length of a stored error message."""
LONGEST_VERSION = 11
"""The maximum length of "@" and a version number after the slug of an application."""
LONGEST_DIMENSION = 20 + len("@") + LONGEST_NAME
"""The maximum length of the name of a dimension, including "@" and the slug of an application."""
COST_DIGITS, COST_PLACES = 20, 10
"""The number of digits in a cost, in total and after the decimal point: enough for a tenth of a
token at a price of 0.001 per million.
"""


class CallRecord(models.Model):
    """A call in a run. In a nested run, `run` is the outer run, but `application` is the nested
    application.

    `run` is null for a request that is not a run. `bucket` is the caller, and `door` the API that
    the caller used.
    """

    run = models.UUIDField(null=True)
    conversation = models.UUIDField(null=True)
    application = models.CharField(max_length=LONGEST_NAME)
    version = models.PositiveIntegerField()
    door = models.CharField(max_length=20)
    bucket = models.CharField(max_length=100)
    bucket_kind = models.CharField(max_length=10)
    team = models.BigIntegerField(null=True, help_text="The ID of the caller's team.")
    iteration = models.PositiveIntegerField(
        help_text="The number of the model call in its run, starting at 1."
    )
    started_at = models.DateTimeField()
    seconds = models.FloatField(null=True)

    class Meta:
        abstract = True


class ModelCall(CallRecord):
    """A call to a deployment. Token counts and `cost` are null if unknown.

    A call to an application on another server may report several models. Each has a row, and only
    the first row has `seconds`.
    """

    deployment = models.CharField(max_length=LONGEST_NAME)
    provider = models.CharField(max_length=LONGEST_WORD)
    model = models.CharField(
        max_length=LONGEST_NAME, help_text=("The name of the model at the service.")
    )
    first_text_seconds = models.FloatField(null=True)
    finish_reason = models.CharField(max_length=LONGEST_WORD)
    # Nullable, because a column with a default would make SQLite copy the table.
    purpose = models.CharField(  # noqa: DJ001
        max_length=LONGEST_WORD,
        null=True,
        help_text="The purpose, such as a title or a summary; empty for an answer.",
    )
    error = models.CharField(max_length=LONGEST_WORD)
    said = models.CharField(  # noqa: DJ001 - as `purpose`
        max_length=LONGEST_SAID,
        null=True,
        help_text="The service's own error message, without credentials.",
    )
    input_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    created_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    cost = models.DecimalField(max_digits=COST_DIGITS, decimal_places=COST_PLACES, null=True)
    currency = models.CharField(max_length=3)

    class Meta:
        verbose_name = "model call"
        indexes = (
            models.Index(fields=("started_at",), name="model_calls_by_age"),
            models.Index(fields=("run",), name="model_calls_by_run"),
            models.Index(
                fields=("conversation",),
                condition=models.Q(conversation__isnull=False),
                name="model_calls_by_conversation",
            ),
            models.Index(
                fields=("started_at",),
                condition=~models.Q(error__in=("", CANCELLED)),
                name="model_calls_that_failed",
            ),
            models.Index(
                fields=("error", "run"),
                condition=~models.Q(error__in=("", CANCELLED)),
                name="model_calls_by_error",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.deployment}"


class ToolUse(CallRecord):
    """A call to a tool, on the server or the client (`location`). A hook's call has `iteration`
    0.
    """

    tool = models.CharField(max_length=LONGEST_NAME)
    location = models.CharField(max_length=10)
    has_failed = models.BooleanField()

    class Meta:
        verbose_name = "tool call"
        indexes = (
            models.Index(fields=("started_at",), name="tool_calls_by_age"),
            models.Index(fields=("run",), name="tool_calls_by_run"),
            models.Index(fields=("tool", "run"), name="tool_calls_by_tool"),
            models.Index(
                fields=("started_at",),
                condition=models.Q(has_failed=True),
                name="tool_calls_that_failed",
            ),
            models.Index(
                fields=("run",),
                condition=models.Q(has_failed=True),
                name="failed_tool_calls_by_run",
            ),
        )

    def __str__(self) -> str:
        return f"{self.application}: {self.tool}"


class UsageSum(models.Model):
    """Usage sums for one `name` in one dimension, over five minutes, an hour, a day or a week
    (UTC).

    `apps.insights.sums` defines the dimensions, and `apps.insights.histograms` the histograms.
    `cache_reports` is the number of calls that report the cached share of their input, and
    `cache_shares` the sum of these shares.
    """

    class Span(models.TextChoices):
        FIVE_MINUTES = "5min"
        HOUR = "hour"
        DAY = "day"
        WEEK = "week"

    dimension = models.CharField(max_length=LONGEST_DIMENSION)
    span = models.CharField(max_length=4, choices=Span)
    start = models.DateTimeField()
    name = models.CharField(max_length=LONGEST_NAME + LONGEST_VERSION)
    currency = models.CharField(max_length=3)
    runs = models.BigIntegerField(default=0)
    failed_runs = models.BigIntegerField(default=0)
    calls = models.BigIntegerField(default=0)
    errors = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    cached_tokens = models.BigIntegerField(default=0)
    created_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    reasoning_tokens = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=COST_DIGITS, decimal_places=COST_PLACES, default=0)
    unpriced = models.BigIntegerField(
        default=0, help_text="The number of calls to models that have no price."
    )
    cache_shares = models.FloatField(default=0)
    cache_reports = models.BigIntegerField(default=0)
    total_seconds = models.FloatField(default=0)
    seconds = models.JSONField(default=dict)
    first_text_seconds = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "usage"
        constraints = (
            models.UniqueConstraint(
                # In the order of the page's queries: a dimension over a time range.
                fields=("dimension", "span", "start", "name", "currency"),
                name="a_span_is_summed_up_once",
            ),
        )
        indexes = (models.Index(fields=("span", "start"), name="usage_sums_by_age"),)

    def __str__(self) -> str:
        return f"{self.dimension} {self.name}: {self.start}"


class SummedSpan(models.Model):
    """Records that the calls of an hour, day or week are included in `UsageSum`."""

    span = models.CharField(max_length=4, choices=UsageSum.Span)
    start = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("span", "start"), name="a_span_is_marked_once"),
        )

    def __str__(self) -> str:
        return f"{self.span} {self.start}"


AMOUNT: dict[str, Any] = {
    "max_digits": 14,
    "decimal_places": 6,
    "validators": [MinValueValidator(0)],
}


class Price(VersionedRow):
    """A deployment's price from a given day on. It overrides the service's list price."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="prices")
    valid_from = models.DateField(help_text="The first day on which the price applies, in UTC.")
    currency = models.CharField(
        max_length=3, default="USD", validators=[RegexValidator("^[A-Z]{3}$", "Such as USD.")]
    )
    input = models.DecimalField(
        **AMOUNT,
        default=0,
        help_text="The price for one million tokens.",
    )
    cached = models.DecimalField(
        **AMOUNT,
        null=True,
        blank=True,
        help_text=(
            "The price for one million tokens read from the service's cache. Leave "
            "empty for the input price."
        ),
    )
    created = models.DecimalField(
        **AMOUNT,
        null=True,
        blank=True,
        help_text=(
            "The price for one million tokens written to the service's cache. Leave "
            "empty for the input price."
        ),
    )
    output = models.DecimalField(
        **AMOUNT,
        default=0,
        help_text="The price for one million tokens.",
    )
    per_call = models.DecimalField(
        **AMOUNT,
        default=0,
        help_text="The price for each successful call.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("deployment", "-valid_from")
        constraints = (
            models.UniqueConstraint(fields=("deployment", "valid_from"), name="one_price_of_a_day"),
        )

    def __str__(self) -> str:
        return f"{self.deployment} from {self.valid_from}"
