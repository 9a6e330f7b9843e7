"""Updates the call metrics when call records are written rather than during the calls."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.agent.meter import BLOCKED, CANCELLED
from apps.metrics import OTHER, Instrument

MODEL = ("provider", "model")
DURATIONS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""The histogram buckets for durations in seconds: from the shortest noticeable duration to twice
the tool timeout.
"""
RATIOS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
MOST_MODELS = 200
"""The maximum number of models with separate time series. Services can report any model name."""

TURN_SECONDS = Instrument(
    "quickapps_turn_seconds", "The duration of model calls.", MODEL, DURATIONS
)
FIRST_TEXT_SECONDS = Instrument(
    "quickapps_first_text_seconds",
    "The time from a model call to its first text.",
    MODEL,
    DURATIONS,
)
CACHED_RATIO = Instrument(
    "quickapps_cached_ratio",
    "The share of a call's input that came from the service's cache.",
    MODEL,
    RATIOS,
)
MODEL_CALLS = Instrument("quickapps_model_calls", "Model calls by outcome.", (*MODEL, "outcome"))
TOKENS = Instrument(
    "quickapps_tokens",
    "Tokens by kind. Cached and created tokens are part of the input; reasoning tokens are part of the output.",
    (*MODEL, "kind"),
)
COST = Instrument("quickapps_cost", "Costs of calls with a price.", (*MODEL, "currency"))
UNPRICED_CALLS = Instrument(
    "quickapps_unpriced_calls", "Successful model calls without a price.", MODEL
)
TOOL_CALLS = Instrument("quickapps_tool_calls", "Tool calls by outcome.", ("location", "outcome"))
TOOL_SECONDS = Instrument(
    "quickapps_tool_seconds", "The duration of tool calls.", ("location",), DURATIONS
)

KINDS = ("input", "cached", "created", "output", "reasoning")
REASONS = frozenset({"timeout", "connection", BLOCKED, "stream", "answer", CANCELLED})
"""The error types with an outcome label of their own, in addition to HTTP status codes."""

Row = Mapping[str, Any]

_models: set[tuple[str, str]] = set()


def count(calls: Iterable[Row], uses: Iterable[Row]) -> None:
    """Add model calls and tool calls to the metrics. Rows map column names to values."""
    for call in calls:
        count_model_call(call)
    for use in uses:
        outcome = "failed" if use["has_failed"] else "done"
        TOOL_CALLS.add(1, use["location"], outcome)
        if use["seconds"] is not None:
            TOOL_SECONDS.add(use["seconds"], use["location"])


def count_model_call(row: Row) -> None:
    labels = labels_of(row["provider"], row["model"], has_failed=bool(row["error"]))
    # Further models that an application reports for one call are not counted as calls.
    if row["seconds"] is not None:
        MODEL_CALLS.add(1, *labels, outcome_of(row["error"]))
        TURN_SECONDS.add(row["seconds"], *labels)
        if row["cost"] is None and not row["error"]:
            UNPRICED_CALLS.add(1, *labels)
    if row["first_text_seconds"] is not None:
        FIRST_TEXT_SECONDS.add(row["first_text_seconds"], *labels)
    for kind in KINDS:
        if tokens := row[f"{kind}_tokens"]:
            TOKENS.add(tokens, *labels, kind)
    if row["input_tokens"] and row["cached_tokens"] is not None:
        CACHED_RATIO.add(row["cached_tokens"] / row["input_tokens"], *labels)
    if row["cost"] is not None:
        COST.add(float(row["cost"]), *labels, row["currency"])


def labels_of(provider: str, model: str, *, has_failed: bool) -> tuple[str, str]:
    """Return the labels for a model. Models that have never responded, and therefore may not exist,
    share the label `OTHER`.
    """
    labels = provider, model
    if labels in _models:
        return labels
    if has_failed or len(_models) >= MOST_MODELS:
        return provider, OTHER
    _models.add(labels)
    return labels


def outcome_of(error: str) -> str:
    """Return the outcome label for an error type. The set of labels is limited."""
    if not error:
        return "done"
    reason, _, status = error.partition(" ")
    if status.isdecimal() and 400 <= int(status) < 600:
        return f"status {status}"
    return reason if reason in REASONS else "failed"
