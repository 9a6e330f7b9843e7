"""What DIAL's interpreter answered, as an execution."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from apps.capabilities.interpreter.dial.client import ExecutionAnswer
from apps.capabilities.interpreter.engines import Execution, Produced
from apps.capabilities.interpreter.media import TEXTS, is_shown


def execution_of(answer: ExecutionAnswer) -> Execution:
    display = merged(answer.display or ())
    produced: list[Produced] = []
    notes: list[str] = []
    for kind, data in display.items():
        if kind in TEXTS:
            continue
        try:
            produced.append(Produced("", kind, content_of(kind, data)))
        except (binascii.Error, ValueError):
            notes.append(f"The displayed {kind} is damaged and was left out.")
    return Execution(
        "SUCCESS" if answer.status.upper() == "SUCCESS" else "FAILURE",
        text_of(answer.result),
        answer.stdout or "",
        answer.stderr or "",
        display,
        tuple(produced),
        tuple(notes),
    )


def merged(items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The kinds that are shown; of several of one kind the last."""
    return {
        kind: data
        for item in items
        for kind, data in item.items()
        if kind in TEXTS or is_shown(kind)
    }


def text_of(result: str | Mapping[str, Any] | None) -> str:
    """A result of several kinds is told by its texts."""
    if isinstance(result, Mapping):
        return "\n".join(str(data) for kind, data in result.items() if kind in TEXTS)
    return result or ""


def content_of(kind: str, data: Any) -> bytes:
    """Raises `ValueError` for an image that is not base64."""
    if kind.startswith("image/"):
        return base64.b64decode("".join(str(data).split()), validate=True)
    return data.encode() if isinstance(data, str) else msgspec.json.encode(data)
