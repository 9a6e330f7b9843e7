"""How a record of the log is written: a line of text, or one JSON object."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, TextIO


class TextFormatter(logging.Formatter):
    """Time, level, logger and message; the time is put together once for all lines of a second."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self.second = -1
        self.time = ""

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info or record.exc_text or record.stack_info:
            return super().format(record)
        if (second := int(record.created)) != self.second:
            self.second, self.time = second, self.formatTime(record)[:-4]
        time = f"{self.time},{int(record.msecs):03d}"
        return f"{time} {record.levelname} {record.name} {record.getMessage()}"


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes each record to stderr at once, which flushes itself at the end of a line."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.stream.write(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - as logging wants it
            self.handleError(record)


class JsonFormatter(logging.Formatter):
    """The fields of a named event stand in the object itself, beside what every record has."""

    def format(self, record: logging.LogRecord) -> str:
        written: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        event = getattr(record, "event", None)
        if event is None:
            written["message"] = record.getMessage()
        else:
            written |= {"message": event, **getattr(record, "fields", {})}
        if record.exc_info:
            written["traceback"] = self.formatException(record.exc_info)
        return json.dumps(written, default=str, ensure_ascii=False)


class CutPayloads(logging.Filter):
    """Shortens what was said to `length` characters."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if len(text) > self.length:
            text = f"{text[: self.length]}… ({len(text)} characters)"
        record.msg, record.args = text, ()
        return True


def logging_of(
    *, root: str, own: str, form: str, payloads: bool, longest_payload: int
) -> dict[str, Any]:
    """Django's LOGGING. `own` is the level of what we log ourselves, `form` text or json."""
    shows_payloads = payloads and own == "DEBUG"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": TextFormatter},
            "json": {"()": JsonFormatter},
        },
        "filters": {"cut": {"()": CutPayloads, "length": longest_payload}},
        "handlers": {"console": {"()": LineHandler, "formatter": form}},
        "root": {"handlers": ["console"], "level": root},
        "loggers": {
            "apps": {"level": own},
            "quickapps_site": {"level": own},
            # Django's own handlers would write each of its lines once more, in a form of theirs.
            "django": {"level": "INFO", "handlers": []},
            "apps.payloads": {
                "level": "DEBUG" if shows_payloads else "CRITICAL",
                "filters": ["cut"],
            },
            # It logs ids of sessions and what servers sent; what went wrong is logged by us.
            "mcp.client": {"level": "CRITICAL"},
            # They log addresses, headers, bodies or session ids below this level.
            **{
                name: {"level": "WARNING"}
                for name in ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "mcp", "daphne")
            },
        },
    }
