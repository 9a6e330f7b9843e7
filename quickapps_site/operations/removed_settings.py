"""Warns about environment variables that were settings in earlier versions."""

import os
from typing import Any

from django.core.checks import CheckMessage, Warning, register

REMOVED = (
    "ANSWER_MAX_CHARS",
    "APPLICATION_REQUESTS_PER_MINUTE",
    "APPLICATION_TOKENS_PER_MINUTE",
    "AUDIT",
    "BODY_SECONDS",
    "BREAKER_FAILURES",
    "BREAKER_OPEN_SECONDS",
    "BREAKER_WINDOW_SECONDS",
    "CASES_AT_ONCE",
    "CATALOG_MAX_AGE_SECONDS",
    "CA_CERTIFICATES_DIR",
    "CHAT_MAX_QUESTION_CHARS",
    "CHAT_UPLOAD_TYPES",
    "CORPUS_COMPARE_SECONDS",
    "CORPUS_DOCUMENTS",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_LOCK_SECONDS",
    "DATABASE_POOL_SIZE",
    "DATABASE_STATEMENT_SECONDS",
    "DATABASE_TRANSACTION_POOLING",
    "DEAD_END_CHECK",
    "DEMO_MODEL_DELAY_SECONDS",
    "DIAL_METADATA_CACHE_SECONDS",
    "DOCUMENTS_CACHE_MB",
    "DOCUMENTS_MEMORY_MB",
    "DOCUMENTS_SCANNED_PAGES",
    "DOCUMENTS_SECONDS",
    "FAILED_TURNS_MOST",
    "FALLBACK_SILENCE_SECONDS",
    "FILES_MAX_COUNT_PER_USER",
    "GATEWAY_MAX_BODY_BYTES",
    "HEADER_SECONDS",
    "HISTORY_DAYS",
    "HSTS",
    "HTTPS",
    "MAX_CONNECTIONS",
    "MEMORY_CACHE_MAX_BYTES",
    "METRICS",
    "MODEL_CALL_SECONDS",
    "MODEL_RETRY_SECONDS",
    "OAUTH_CLIENT_METADATA",
    "OPENAPI_DOCUMENT_MB",
    "OPENAPI_MAX_CHARACTERS",
    "PLATFORM_PROMPT",
    "PY_INTERPRETER_SANDBOX_MEMORY_MB",
    "PY_INTERPRETER_SANDBOX_PROCESSES",
    "PY_INTERPRETER_SANDBOX_SECONDS",
    "PY_INTERPRETER_SANDBOX_STATE_BYTES",
    "REQUEST_MAX_BODY_BYTES",
    "RUNS_PER_PROCESS",
    "RUN_LEASE_SECONDS",
    "SCHEDULES_PER_PERSON",
    "SCHEDULE_BUDGET_TOKENS",
    "SIGN_IN_FAILURES_PER_ADDRESS",
    "SUBSCRIPTION_SECRET_OVERLAP_HOURS",
    "TEXT_TOOLS",
    "TOOL_DISCOVERY_SECONDS",
    "TOOL_RESULT_CHARACTERS",
    "TOOL_RESULT_DURATION",
    "TRUSTED_PROXY_COUNT",
    "WEBHOOK_MAX_BODY_BYTES",
    "WEB_SEARCH_COMMAND",
)
"""The names of removed settings. docs/settings.md explains each removal and names the replacement.
"""


@register()
def removed_settings_are_not_set(**options: Any) -> list[CheckMessage]:
    hint = "Unset it. docs/settings.md lists the values that apply instead."
    return [
        Warning(f"{name} is set, but is no longer a setting.", hint=hint, id="quickapps.W006")
        for name in REMOVED
        if name in os.environ or f"{name}_FILE" in os.environ
    ]
