"""What the operator reads of a run: named events with fields, never what was said.

A line of text has the fields behind the name; a formatter of JSON finds them in the record.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

payloads = logging.getLogger("apps.payloads")
"""What was said, for an operator who asked for it; silent in any other installation."""


def record(
    logger: logging.Logger,
    event: str,
    *,
    level: int = logging.INFO,
    traceback: BaseException | None = None,
    **fields: object,
) -> None:
    """Log an event; `traceback` is the error whose one comes with it.

    The record is made here: asking where in the code it was made costs more than writing it, and
    neither form of the log tells it.
    """
    if not logger.isEnabledFor(level):
        return
    told = {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in fields.items()
    }
    text = " ".join([f"{name}={written(value)}" for name, value in told.items()])
    error = None if traceback is None else (type(traceback), traceback, traceback.__traceback__)
    entry = logging.LogRecord(logger.name, level, "", 0, "%s: %s", (event, text), error)
    entry.event, entry.fields = event, told
    logger.handle(entry)


def written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)) or "-"
    text = str(value)
    return text if text.isprintable() and " " not in text and text else repr(text)


def payload(what: str, content: Callable[[], str]) -> None:
    """Log what was said, which is put together only if somebody reads it."""
    if payloads.isEnabledFor(logging.DEBUG):
        payloads.debug("[payload] %s: %s", what, content())
