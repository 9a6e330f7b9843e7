"""Converts usage reports to call records, and inserts them in batches on a database thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db import connection, models, transaction
from django.db.backends.base.operations import BaseDatabaseOperations as Ops

from apps import metrics
from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.insights import call_metrics
from apps.insights.meter import SERVER, CallEntry
from apps.insights.models import (
    COST_DIGITS,
    COST_PLACES,
    LONGEST_NAME,
    LONGEST_SAID,
    LONGEST_WORD,
    ModelCall,
    ToolUse,
)
from apps.insights.prices import PricedService, recent_services

MOST = models.BigIntegerField.MAX_BIGINT
DEAREST = Decimal(10 ** (COST_DIGITS - COST_PLACES) - 1)
COMMON = (
    *("run", "conversation", "application", "version", "door", "bucket", "bucket_kind"),
    *("team", "iteration", "started_at", "seconds"),
)
MODEL_COLUMNS = (
    *(*COMMON, "deployment", "provider", "model", "first_text_seconds", "finish_reason", "error"),
    *("purpose", "input_tokens", "cached_tokens", "created_tokens", "output_tokens"),
    *("reasoning_tokens", "cost", "currency", "said"),
)
TOOL_COLUMNS = (*COMMON, "tool", "location", "has_failed")


def write(entries: Sequence[CallEntry]) -> None:
    reports = [(one, one.report) for one in entries]
    asked = [(one, report) for one, report in reports if isinstance(report, ModelCallReport)]
    services = recent_services(text(report.deployment) for _, report in asked)
    # The attributes are looked up once, because each lookup takes as long as processing a column.
    ops = connection.ops
    calls = [row for one, report in asked for row in model_rows(one, report, services, ops)]
    tools = [
        tool_row(one, report, ops) for one, report in reports if isinstance(report, ToolCallReport)
    ]
    with transaction.atomic(savepoint=False):
        insert_rows(ModelCall, MODEL_COLUMNS, calls)
        insert_rows(ToolUse, TOOL_COLUMNS, tools)
    if metrics.is_on():  # Only written calls count, so a retry is not counted twice.
        call_metrics.count(
            map(name_columns(MODEL_COLUMNS), calls), map(name_columns(TOOL_COLUMNS), tools)
        )


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Sequence[Any]) -> None:
    if not rows:
        return
    # `bulk_create` takes ten times as long, and each request creates rows.
    names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
    statement = f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({places})"  # noqa: S608 - no values
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def name_columns(columns: Sequence[str]) -> Callable[[Sequence[Any]], Mapping[str, Any]]:
    return lambda row: dict(zip(columns, row, strict=True))


def model_rows(
    entry: CallEntry, report: ModelCallReport, services: Mapping[str, PricedService], ops: Ops
) -> Iterable[tuple[Any, ...]]:
    """Yield the values of one row per model in the report. Only the first row has durations."""
    service = services[text(report.deployment)]
    entries: Sequence[ModelUsage | None] = report.usage or (None,)
    for place, usage in enumerate(entries):
        is_first = place == 0
        seconds = report.seconds if is_first else None
        spent = service.spent(report, usage, at(entry.ended_at).date())
        yield (
            *common(entry, report.iteration, seconds, report.seconds, ops),
            text(report.deployment),
            service.provider,
            text(spent.model),
            report.first_text_seconds if is_first else None,
            text(report.finish_reason, LONGEST_WORD),
            text(report.error if is_first else "", LONGEST_WORD),
            report.purpose or None,
            *counts(usage),
            money(spent.cost, ops),
            spent.currency,
            text(report.said if is_first else "", LONGEST_SAID) or None,
        )


def tool_row(entry: CallEntry, report: ToolCallReport, ops: Ops) -> tuple[Any, ...]:
    return (
        *common(entry, report.iteration, report.seconds, report.seconds or 0.0, ops),
        text(report.tool),
        report.location,
        report.has_failed,
    )


def common(
    entry: CallEntry, iteration: int, seconds: float | None, duration: float, ops: Ops
) -> tuple[Any, ...]:
    """Return the values of the columns in `COMMON`."""
    run = entry.of
    return (
        run.run and run.run.hex,
        run.conversation and run.conversation.hex,
        text(run.application),
        run.version,
        run.door,
        text(run.bucket, 100),
        caller_kind(run.bucket, run.door),
        run.team,
        iteration,
        ops.adapt_datetimefield_value(at(entry.ended_at - duration)),
        seconds,
    )


@lru_cache(maxsize=4096)
def caller_kind(bucket: str, door: str) -> str:
    """Return the kind of a caller: `user`, `key`, `server`, `visitor`, or `dial` (DIAL Core)."""
    if door == "core":
        return "dial"
    kind = bucket.partition("-")[0]
    return kind if kind in ("user", "key", SERVER) else "visitor"


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@lru_cache(maxsize=4096)
def text(value: str, longest: int = LONGEST_NAME) -> str:
    """Truncate the text, and replace characters that PostgreSQL rejects."""
    cleaned = value.replace("\0", "\N{REPLACEMENT CHARACTER}")[:longest]
    return cleaned.encode(errors="replace").decode()


def counts(usage: ModelUsage | None) -> tuple[int | None, ...]:
    if usage is None:
        return (None,) * 5
    found = (usage.input, usage.cached, usage.created, usage.output, usage.reasoning)
    return tuple(None if count is None else min(max(count, 0), MOST) for count in found)


def money(cost: Decimal | None, ops: Ops) -> Any:
    if cost is None:
        return None
    return ops.adapt_decimalfield_value(min(cost, DEAREST), COST_DIGITS, COST_PLACES)
