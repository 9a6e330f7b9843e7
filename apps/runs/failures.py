"""What is told to whom when a request ends badly.

Both doors ask here: the gateway takes the status and the code, the page takes the text. What went
wrong on our side carries a reference that stands in the log as well, so that a person can name it.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db import InterfaceError, OperationalError

from apps.errors import (
    GENERIC,
    ApplicationBroken,
    ApplicationNotFound,
    BadRequest,
    DeploymentNotFound,
    FileRefused,
    ModelFailed,
    NotAuthenticated,
    QuickAppError,
    ServiceFailed,
)

logger = logging.getLogger(__name__)

RETRY = "Please try again later."
LONGEST_UPSTREAM_TEXT = 500
PASSED_ON = frozenset({400, 401, 403, 404, 413, 422})
"""The statuses that DIAL Core relays as they are; others it would retry or replace."""
TOO_MANY = 429
WITH_LIMITS = PASSED_ON | {TOO_MANY}
"""For everybody else: a client that is told of a limit of the model's service can wait."""


class Known(NamedTuple):
    text: str
    is_retryable: bool = False


NOT_FOUND = Known(
    "The AI model configured in this application could not be found. "
    "Please contact your administrator."
)
REJECTED = Known(
    "The request was rejected as invalid by the AI model service. "
    "Please contact your administrator."
)
TOO_LONG = Known(
    "The request exceeds the maximum context length of the AI model. "
    "Please shorten your messages and try again."
)
BY_CODE = {
    "content_filter": Known(
        "The request was blocked by the content management policy. Please rephrase your message."
    ),
    "context_length_exceeded": TOO_LONG,
    "truncate_prompt_error": TOO_LONG,
}
BY_STATUS = {
    400: REJECTED,
    401: Known(
        "Authentication failed when accessing the AI model. Please contact your administrator."
    ),
    403: Known(
        "You don't have permission to use the AI model configured in this application. "
        "Please contact your administrator."
    ),
    404: NOT_FOUND,
    409: Known("The AI model service reported a temporary conflict.", True),
    413: Known(
        "The request payload is too large. Please reduce the size of your message or attachments."
    ),
    422: REJECTED,
    429: Known("The request was rate-limited by the AI model service.", True),
}
BROKEN = Known("The AI model service encountered an internal error.", True)
BY_REASON = {
    "timeout": Known("The request to the AI model service timed out.", True),
    "connection": Known(
        "Could not connect to the AI model service. "
        "Please check connectivity or contact your administrator."
    ),
    "stream": Known("The AI model service failed while responding.", True),
}
SERVICE_BY_STATUS = {
    401: Known(
        "Authentication failed when accessing a required service. "
        "Please contact your administrator."
    ),
    403: Known(
        "You don't have permission to access a required service. Please contact your administrator."
    ),
    404: Known(
        "A required service or resource could not be found. Please contact your administrator."
    ),
    429: Known("A required service is currently rate-limiting requests.", True),
}
SERVICE_BROKEN = Known("A required service encountered an internal error.", True)
SERVICE_ODD_STATUS = Known(
    "An unexpected HTTP error occurred. Please try again or contact your administrator."
)
SERVICE_BY_REASON = {
    "timeout": Known("A request to a required service timed out.", True),
    "connection": Known("A network error occurred while contacting a required service.", True),
    "answer": Known("An HTTP error occurred. Please try again or contact your administrator."),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """How a request failed: `text` for the person, `message` for the client's log.

    `code` and `kind` are for programs; `reference` is "" where the request itself is at fault;
    `retry_after` are the seconds that a service named whose limit is passed on.
    """

    status: int
    text: str
    message: str
    code: str
    kind: str
    is_retryable: bool = False
    reference: str = ""
    retry_after: float | None = None


AWAY = "The service cannot reach its database. Please try again in a moment."
DATABASE_AWAY = Failure(
    503,
    AWAY,
    AWAY,
    "database_unavailable",
    "runtime_error",
    is_retryable=True,
    retry_after=1.0,
)


def failure(error: BaseException, passed_on: frozenset[int] = PASSED_ON) -> Failure:
    """Resolve an error and log it under its reference; statuses of a model may be `passed_on`."""
    cause = the_one(error)
    if isinstance(cause, BadRequest):
        return fault(400, str(cause), cause.message, cause.code)
    if isinstance(cause, NotAuthenticated):
        return fault(401, str(cause), str(cause), cause.code)
    if isinstance(cause, ApplicationNotFound):
        return fault(404, str(cause), str(cause), cause.code)
    found = referenced(resolve(cause, passed_on), reference_of(cause))
    log(found, error, cause)
    return found


def the_one(error: BaseException) -> BaseException:
    """The error itself; of a group with a single member, that member."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def fault(status: int, text: str, message: str, code: str) -> Failure:
    return Failure(status, text, message, code, kind_of(status))


def kind_of(status: int) -> str:
    if status == TOO_MANY:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "runtime_error"


def resolve(error: BaseException, passed_on: frozenset[int]) -> Failure:
    match error:
        case ModelFailed():
            return model_failure(error, passed_on)
        case ServiceFailed():
            return service_failure(error)
        case DeploymentNotFound():
            return Failure(404, str(error), str(error), error.code, kind_of(404))
        case FileRefused():
            return Failure(400, str(error), str(error), error.code, kind_of(400))
        case QuickAppError():
            return Failure(500, str(error), str(error), error.code, kind_of(500))
        case OperationalError() | InterfaceError():
            return DATABASE_AWAY
        case _:
            return Failure(500, GENERIC, GENERIC, "500", kind_of(500))


def model_failure(error: ModelFailed, passed_on: frozenset[int]) -> Failure:
    upstream = error.status
    if upstream is None and error.code.isascii() and error.code.isdigit():
        upstream = int(error.code)
    found = told(known_failure(error, upstream), upstream, passed_on, error.code, error.kind)
    return replace(found, retry_after=error.retry_after) if found.status == TOO_MANY else found


def service_failure(error: ServiceFailed) -> Failure:
    return told(known_service_failure(error), error.status, PASSED_ON)


def told(
    known: Known,
    upstream: int | None,
    passed_on: frozenset[int],
    code: str = "",
    kind: str = "",
) -> Failure:
    status = upstream if upstream in passed_on else 500
    text = f"{known.text} {RETRY}" if known.is_retryable else known.text
    return Failure(
        status, text, text, code or str(status), kind or kind_of(status), known.is_retryable
    )


def known_service_failure(error: ServiceFailed) -> Known:
    if error.reason in SERVICE_BY_REASON:
        return SERVICE_BY_REASON[error.reason]
    if error.status is not None and error.status >= 500:
        return SERVICE_BROKEN
    return SERVICE_BY_STATUS.get(error.status or 0, SERVICE_ODD_STATUS)


def known_failure(error: ModelFailed, status: int | None) -> Known:
    """The upstream's own words come first, then its code, its status, and how it broke off."""
    said = error.display.strip()
    if said:
        return Known(shortened(said))
    if error.code in BY_CODE:
        return BY_CODE[error.code]
    if status is not None and status >= 500:
        return BROKEN
    if status in BY_STATUS:
        return BY_STATUS[status]
    return BY_REASON.get(error.reason, Known(GENERIC))


def shortened(text: str) -> str:
    if len(text) <= LONGEST_UPSTREAM_TEXT:
        return text
    return text[: LONGEST_UPSTREAM_TEXT - 1] + "…"


def reference_of(error: BaseException) -> str:
    """By what an error is found in the log, always the same; "" for one of the request itself."""
    cause = the_one(error)
    if isinstance(cause, BadRequest | NotAuthenticated | ApplicationNotFound):
        return ""
    return str(cause.__dict__.setdefault("reference", secrets.token_hex(4)))


def referenced(found: Failure, reference: str) -> Failure:
    text = f"{found.text} (error reference: {reference})"
    return replace(found, text=text, message=text, reference=reference)


def log(found: Failure, error: BaseException, cause: BaseException) -> None:
    """Tell the operator; what nobody expected comes with its traceback."""
    details: object = cause.problems if isinstance(cause, ApplicationBroken) else str(cause)
    logger.error(
        "Request failed: reference=%s error=%s status=%d code=%s retryable=%s details=%r",
        found.reference,
        type(cause).__name__,
        found.status,
        found.code,
        found.is_retryable,
        details,
        exc_info=None if isinstance(cause, QuickAppError) else error,
    )
