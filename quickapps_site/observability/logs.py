"""Formats log records as lines of text or JSON objects."""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

from opentelemetry import trace

from apps import tracing

DATE_FORMAT = "%Y-%m-%d %H:%M:%S"
"""The date format of `%(asctime)s` in log formats that operators set."""
LEVEL_WIDTH = 9


class TextFormatter(logging.Formatter):
    """Formats a record as text: time, level, logger, request ID and message.

    The date is formatted only once per second.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(request)s %(message)s")
        self.second = -1
        self.time = ""

    def format(self, record: logging.LogRecord) -> str:
        request_id = tracing.request_id()
        request = f" [{request_id}]" if request_id else ""
        if record.exc_info or record.exc_text or record.stack_info:
            record.request = request
            return super().format(record)
        if (second := int(record.created)) != self.second:
            self.second, self.time = second, self.formatTime(record)[:-4]
        time = f"{self.time},{int(record.msecs):03d}"
        return f"{time} {record.levelname} {record.name}{request} {record.getMessage()}"


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes each record to stderr, which flushes itself after each line."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.stream.write(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - as `logging` requires
            self.handleError(record)


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object with the usual fields and any fields of a named event."""

    def format(self, record: logging.LogRecord) -> str:
        written: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        if request_id := tracing.request_id():
            written["request_id"] = request_id
        event = getattr(record, "event", None)
        if event is None:
            written["message"] = record.getMessage()
        else:
            written |= {"message": event, **getattr(record, "fields", {})}
        if record.exc_info:
            written["traceback"] = self.formatException(record.exc_info)
        return json.dumps(written, default=str, ensure_ascii=False)


class PercentFormatter(logging.Formatter):
    """Formats a record with an operator's `%`-style format."""

    def __init__(self, form: str) -> None:
        super().__init__(form, DATE_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        add_fields(record)
        return super().format(record)


class TemplateFormatter(logging.Formatter):
    """Formats a record with an operator's JSON template, in which each string is a `%`-style
    format.

    If no string contains the traceback, it is added under the key `traceback`.
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
        written = fill_template(self.template, values)
        if traceback and not self.shows_traceback:
            written["traceback"] = traceback
        return json.dumps(written, default=str, ensure_ascii=False)


def add_fields(record: logging.LogRecord) -> None:
    """Add attributes to a log record. Operators' formats can use them in addition to Python's own."""
    record.levelprefix = f"{record.levelname}:".ljust(LEVEL_WIDTH)
    record.request_id = tracing.request_id() or "-"
    span = trace.get_current_span().get_span_context()
    record.otelTraceID = trace.format_trace_id(span.trace_id) if span.is_valid else "0"
    record.otelSpanID = trace.format_span_id(span.span_id) if span.is_valid else "0"


def fill_template(template: Any, values: Mapping[str, Any]) -> Any:
    match template:
        case str():
            return template % values
        case dict():
            return {name: fill_template(value, values) for name, value in template.items()}
        case list():
            return [fill_template(value, values) for value in template]
        case _:
            return template


def formats_in(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for value in template.values() if isinstance(template, dict) else template:
            yield from formats_in(value)


def read_text_format(raw: str) -> str:
    """Return a text format unchanged. Raises `ValueError` if it cannot format a record."""
    try_out(PercentFormatter(raw))
    return raw


def read_json_template(raw: str) -> dict[str, Any]:
    """Parse a JSON template. Raises `ValueError` if it cannot format a record."""
    template = json.loads(raw)
    if not isinstance(template, dict):
        raise ValueError("It is not an object.")
    try_out(TemplateFormatter(template))
    return template


def try_out(formatter: logging.Formatter) -> None:
    try:
        formatter.format(logging.LogRecord("apps", logging.INFO, "", 1, "text", (), None))
    except (
        KeyError,
        TypeError,
    ) as error:  # An unknown field or an invalid conversion causes this.
        raise ValueError(f"It cannot write a record: {error!r}") from error


class CutPayloads(logging.Filter):
    """Truncates log records that contain requests or responses to `length` characters."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if len(text) > self.length:
            text = f"{text[: self.length]}… ({len(text)} characters)"
        record.msg, record.args = text, ()
        return True


def is_about_no_job(record: logging.LogRecord) -> bool:
    """Return False for Procrastinate's records of job outcomes, which QuickApps logs itself."""
    return not str(getattr(record, "action", "")).startswith("job_")


def remove_traceback_of_refusal(record: logging.LogRecord) -> bool:
    """Remove the traceback from a record about a rejected request (status 4xx). Return True."""
    if record.levelno < logging.ERROR:
        record.exc_info = record.exc_text = None
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
    """Return Django's LOGGING setting. `own` is the level of QuickApps's loggers, and `root` that
    of all others. `form` is `text` or `json`.

    Attributes that only operators' formats can show are not computed without such formats.
    """
    if not text_format and json_template is None:
        # Computing these values takes longer than writing the record.
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    text: dict[str, Any] = {"()": TextFormatter}
    if text_format:
        text = {"()": PercentFormatter, "form": text_format}
    as_json: dict[str, Any] = {"()": JsonFormatter}
    if json_template is not None:
        # A function, because `dictConfig` modifies a dictionary.
        as_json = {"()": lambda: TemplateFormatter(json_template)}
    shows_payloads = payloads and own == "DEBUG"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": text, "json": as_json},
        "filters": {
            "cut": {"()": CutPayloads, "length": longest_payload},
            # The class is given by name, because it needs Django, which is not set up yet.
            "outages": {"()": "quickapps_site.observability.outage_log.OutageFilter"},
            "other than jobs": {"()": lambda: is_about_no_job},
            "refusals": {"()": lambda: remove_traceback_of_refusal},
        },
        "handlers": {
            "console": {"()": LineHandler, "formatter": form, "filters": ["outages"]},
        },
        "root": {"handlers": ["console"], "level": root},
        "loggers": {
            "apps": {"level": own},
            "quickapps_site": {"level": own},
            # Django's own handlers would write each record a second time, in a different format.
            "django": {"level": "INFO", "handlers": []},
            "django.request": {"filters": ["refusals"]},
            "apps.payloads": {
                "level": "DEBUG" if shows_payloads else "CRITICAL",
                "filters": ["cut"],
            },
            # This logger logs session IDs and servers' responses. QuickApps logs the failures
            # itself.
            "mcp.client": {"level": "CRITICAL"},
            # Below this level, they log addresses, headers, bodies or session IDs.
            **{
                name: {"level": "WARNING"}
                for name in ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "mcp", "daphne")
            },
            "procrastinate": {"level": "WARNING"},
            "procrastinate.worker": {"filters": ["other than jobs"]},
        },
    }
