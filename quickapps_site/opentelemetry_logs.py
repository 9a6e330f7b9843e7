"""Records of the log leave the process where OpenTelemetry's own variables say, if asked for."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from opentelemetry._logs import SeverityNumber, set_logger_provider

from quickapps_site.tracing import NO_PACKAGES, SERVICE, exporters_of

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

logger = logging.getLogger(__name__)

VARIABLE = "OTEL_LOGS_EXPORTER"
NOT_EXPORTED = ("apps.payloads", "opentelemetry", "requests", "urllib3")
"""Loggers of what was said, and of the export itself, which must not cause another one."""


def set_up_opentelemetry_logs() -> None:
    """Once, at the start of the process, after Django has configured the log."""
    if "otlp" not in exporters_of(VARIABLE):
        return
    try:
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
    """Return the first of the four severities of a level."""
    return SeverityNumber(min(level // 10, 5) * 4 + 1)


class ExportHandler(logging.Handler):
    """Hands records to OpenTelemetry, the fields of a named event as attributes."""

    def __init__(self, provider: LoggerProvider) -> None:
        super().__init__()
        self.provider = provider

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.partition(".")[0] not in NOT_EXPORTED and record.name not in NOT_EXPORTED

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = getattr(record, "event", None)
            fields: dict[str, Any] = getattr(record, "fields", {}) if event else {}
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
        except Exception:  # noqa: BLE001 - as logging wants it
            self.handleError(record)
