"""How a record of the log is written: a line of text, or one JSON object."""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

from opentelemetry import trace

DATE_FORMAT = "%Y-%m-%d %H:%M:%S"
"""The format of `asctime` in formats of the operator."""
LEVEL_WIDTH = 9


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


class PercentFormatter(logging.Formatter):
    """Writes text in the operator's format."""

    def __init__(self, form: str) -> None:
        super().__init__(form, DATE_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        add_fields(record)
        return super().format(record)


class TemplateFormatter(logging.Formatter):
    """Writes the operator's JSON object, in which each text is a format.

    A traceback that the template does not show is added as `traceback`.
    """

    def __init__(self, template: Mapping[str, Any]) -> None:
        super().__init__(datefmt=DATE_FORMAT)
        self.template = template
        self.shows_traceback = any("%(exc_text)" in form for form in formats_in(template))

    def format(self, record: logging.LogRecord) -> str:
        add_fields(record)
        traceback = self.formatException(record.exc_info) if record.exc_info else ""
        values = {
            **vars(record),
            "message": record.getMessage(),
            "asctime": self.formatTime(record, self.datefmt),
            "exc_text": traceback,
        }
        written = filled(self.template, values)
        if traceback and not self.shows_traceback:
            written["traceback"] = traceback
        return json.dumps(written, default=str, ensure_ascii=False)


def add_fields(record: logging.LogRecord) -> None:
    """Add the fields that a format may name in addition to those of every record."""
    record.levelprefix = f"{record.levelname}:".ljust(LEVEL_WIDTH)
    span = trace.get_current_span().get_span_context()
    record.otelTraceID = trace.format_trace_id(span.trace_id) if span.is_valid else "0"
    record.otelSpanID = trace.format_span_id(span.span_id) if span.is_valid else "0"


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    match template:
        case str():
            return template % values
        case dict():
            return {name: filled(value, values) for name, value in template.items()}
        case list():
            return [filled(value, values) for value in template]
        case _:
            return template


def formats_in(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for value in template.values() if isinstance(template, dict) else template:
            yield from formats_in(value)


def read_text_format(raw: str) -> str:
    """Raises `ValueError` for a format that cannot write every record."""
    try_out(PercentFormatter(raw))
    return raw


def read_json_template(raw: str) -> dict[str, Any]:
    """Raises `ValueError` for a template that cannot write every record."""
    template = json.loads(raw)
    if not isinstance(template, dict):
        raise ValueError("It is not an object.")
    try_out(TemplateFormatter(template))
    return template


def try_out(formatter: logging.Formatter) -> None:
    try:
        formatter.format(logging.LogRecord("apps", logging.INFO, "", 1, "text", (), None))
    except (KeyError, TypeError) as error:  # a field that no record has, or a wrong conversion
        raise ValueError(f"It cannot write a record: {error!r}") from error


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
    *,
    root: str,
    own: str,
    form: str,
    payloads: bool,
    longest_payload: int,
    text_format: str = "",
    json_template: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Django's LOGGING. `own` is the level of what we log ourselves, `form` text or json."""
    text: dict[str, Any] = {"()": TextFormatter}
    if text_format:
        text = {"()": PercentFormatter, "form": text_format}
    as_json: dict[str, Any] = {"()": JsonFormatter}
    if json_template is not None:
        # A function, because `dictConfig` changes what it finds in a dictionary.
        as_json = {"()": lambda: TemplateFormatter(json_template)}
    shows_payloads = payloads and own == "DEBUG"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": text, "json": as_json},
        "filters": {
            "cut": {"()": CutPayloads, "length": longest_payload},
            # By name: it needs Django, which is not set up yet.
            "outages": {"()": "quickapps_site.outage_log.OutageFilter"},
        },
        "handlers": {
            "console": {"()": LineHandler, "formatter": form, "filters": ["outages"]},
        },
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
