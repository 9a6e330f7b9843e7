"""Rows of calls for tests of aggregations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from apps.insights.models import ModelCall, ToolUse

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

COMMON: dict[str, Any] = {
    "application": "travel",
    "version": 1,
    "door": "gateway",
    "bucket": "user-7",
    "bucket_kind": "user",
    "iteration": 1,
    "started_at": NOON,
    "seconds": 1.0,
}


def model_call(**fields: Any) -> ModelCall:
    given = {"deployment": "gpt", "provider": "openai", "model": "gpt-4o", "finish_reason": "stop"}
    return ModelCall(**{**COMMON, **given, **fields})


def tool_use(**fields: Any) -> ToolUse:
    given = {"tool": "search", "location": "server", "has_failed": False}
    return ToolUse(**{**COMMON, **given, **fields})


def store(*rows: ModelCall | ToolUse) -> None:
    ModelCall.objects.bulk_create([row for row in rows if isinstance(row, ModelCall)])
    ToolUse.objects.bulk_create([row for row in rows if isinstance(row, ToolUse)])
