"""Exports log records with OpenTelemetry, if its environment variables configure this."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from opentelemetry._logs import SeverityNumber, set_logger_provider

from apps import tracing
from quickapps_site.observability.tracing import NO_PACKAGES, SERVICE, exporters_of

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

logger = logging.getLogger(__name__)

VARIABLE = "OTEL_LOGS_EXPORTER"
NOT_EXPORTED = ("apps.payloads", "opentelemetry", "requests", "urllib3")
"""Loggers whose records are not exported. `apps.payloads` logs users' content. The others log the
export itself, so each exported record would cause further records.
"""


def set_up_opentelemetry_logs() -> None:
    """Set up the export of logs, once at startup, after Django has configured logging."""
    if "otlp" not in exporters_of(VARIABLE):
        return
    try:
        # The packages are optional.
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    except ImportError:
        logger.warning(NO_PACKAGES, VARIABLE, "exported logs")
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", SERVICE)
    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(provider)
    logging.getLogger().addHandler(ExportHandler(provider))


def severity_of(level: int) -> SeverityNumber:
    """Return the lowest of the four OpenTelemetry severities for a Python logging level."""
    return SeverityNumber(min(level // 10, 5) * 4 + 1)


class ExportHandler(logging.Handler):
    """Sends records to OpenTelemetry, with the fields of a named event as attributes."""

    def __init__(self, provider: LoggerProvider) -> None:
        super().__init__()
        self.provider = provider

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.partition(".")[0] not in NOT_EXPORTED and record.name not in NOT_EXPORTED

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = getattr(record, "event", None)
            fields: dict[str, Any] = getattr(record, "fields", {}) if event else {}
            if request_id := tracing.request_id():
                fields = {"request_id": request_id, **fields}
            self.provider.get_logger(record.name).emit(
                timestamp=int(record.created * 1e9),
                severity_number=severity_of(record.levelno),
                severity_text=record.levelname,
                body=event or record.getMessage(),
                attributes={
                    name: value if isinstance(value, bool | int | float) else str(value)
                    for name, value in fields.items()
                },
                exception=record.exc_info[1] if record.exc_info else None,
            )
        except Exception:  # noqa: BLE001 - as `logging` requires
            self.handleError(record)
