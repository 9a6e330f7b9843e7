"""Converts errors to the status, code and text of a response.

If the request did not cause the error, the log and the text contain the same reference.
"""

import logging
import secrets
from dataclasses import dataclass, replace

from django.utils.translation import gettext, gettext_noop

from apps.errors import (
    GENERIC,
    ApplicationBroken,
    ApplicationNotFound,
    BadRequest,
    BudgetSpent,
    ModelFailed,
    NotAuthenticated,
    PersonalKeyRefused,
    QuickAppError,
    RateLimitReached,
    ReadOnly,
    ServerStopping,
    ServiceFailed,
    TooManyRuns,
)
from apps.outages import RETRY_SECONDS, Outage, outage_of
from apps.runs.explanations import Explanation, error_text, model_explanation, service_explanation

logger = logging.getLogger(__name__)

RETRY = gettext_noop("Please try again later.")
PASSED_ON = frozenset({400, 401, 403, 404, 413, 422})
"""The status codes from model services that DIAL Core passes on to the client. DIAL Core retries or
replaces all others.
"""
TOO_MANY = 429
WITH_LIMITS = PASSED_ON | {TOO_MANY}
"""The status codes from model services that clients other than DIAL Core receive unchanged,
including rate limits.
"""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """The error of a failed request."""

    status: int
    text: str
    """The text for the user."""
    message: str
    """The text for the client's developer."""
    code: str
    upstream_type: str = ""
    """The model service's error type."""
    is_retryable: bool = False
    reference: str = ""
    """The reference that identifies the error in the log, or "" if the request caused the error."""
    retry_after: float | None = None  # in seconds


def unavailable(outage: Outage) -> RunFailure:
    return RunFailure(
        503,
        outage.translated,
        outage.text,
        outage.code,
        is_retryable=True,
        retry_after=RETRY_SECONDS,
    )


def failure(error: BaseException, passed_on: frozenset[int] = PASSED_ON) -> RunFailure:
    """Convert an error to a `RunFailure`, and log it unless the request caused it. `passed_on` are
    the status codes from model services that the client receives unchanged.
    """
    match cause := sole_error(error):
        case BadRequest():
            return replace(own_failure(cause), message=cause.message)
        case NotAuthenticated() | ApplicationNotFound() | PersonalKeyRefused():
            return own_failure(cause)
        case TooManyRuns() | RateLimitReached():
            # DIAL Core treats status 429 as a failure of the service.
            if TOO_MANY not in passed_on:
                return own_failure(cause, 500 if isinstance(cause, TooManyRuns) else 403)
            return replace(own_failure(cause), retry_after=cause.retry_after)
        case ServerStopping() | ReadOnly():
            retry_after = cause.retry_after
            return replace(own_failure(cause), is_retryable=True, retry_after=retry_after)
        case BudgetSpent():
            return budget_failure(cause, passed_on)
        case _:
            found = add_reference(resolve(cause, passed_on), reference_of(cause))
            log(found, error, cause)
            return found


def budget_failure(error: BudgetSpent, passed_on: frozenset[int]) -> RunFailure:
    """Return the failure for an exhausted budget. Its status is 429 if `passed_on` contains 429,
    otherwise 403.
    """
    found = own_failure(error, TOO_MANY if TOO_MANY in passed_on else 403)
    return replace(found, retry_after=error.retry_after)


def sole_error(error: BaseException) -> BaseException:
    """Return the only exception in an exception group, even a nested one, or the exception itself."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def fault(status: int, text: str, code: str) -> RunFailure:
    return RunFailure(status, text, text, code)


def own_failure(error: QuickAppError, status: int = 0) -> RunFailure:
    return fault(status or error.http_status, error_text(error), error.code)


def resolve(error: BaseException, passed_on: frozenset[int]) -> RunFailure:
    match error:
        case ModelFailed():
            return model_failure(error, passed_on)
        case ServiceFailed():
            return explain_failure(service_explanation(error), error.status, PASSED_ON)
        case QuickAppError():
            return own_failure(error)
        case _ if outage := outage_of(error):
            return unavailable(outage)
        case _:
            return fault(500, gettext(GENERIC), "500")


def model_failure(error: ModelFailed, passed_on: frozenset[int]) -> RunFailure:
    upstream = error.status
    if upstream is None and error.code.isascii() and error.code.isdigit():
        upstream = int(error.code)
    explanation = model_explanation(error, upstream)
    found = explain_failure(explanation, upstream, passed_on, error.code, error.kind)
    return replace(found, retry_after=error.retry_after) if found.status == TOO_MANY else found


def explain_failure(
    explanation: Explanation,
    upstream: int | None,
    passed_on: frozenset[int],
    code: str = "",
    upstream_type: str = "",
) -> RunFailure:
    status = upstream if upstream in passed_on else 500
    text = gettext(explanation.text)
    if explanation.is_retryable:
        text = f"{text} {gettext(RETRY)}"
    return RunFailure(
        status, text, text, code or str(status), upstream_type, explanation.is_retryable
    )


def reference_of(error: BaseException) -> str:
    """Return the reference that identifies the error in the log, or "" if the request caused the
    error. The first call creates the reference.
    """
    cause = sole_error(error)
    if isinstance(
        cause,
        BadRequest
        | NotAuthenticated
        | ApplicationNotFound
        | TooManyRuns
        | RateLimitReached
        | ServerStopping
        | ReadOnly
        | BudgetSpent,
    ):
        return ""
    return str(cause.__dict__.setdefault("reference", secrets.token_hex(4)))


def add_reference(found: RunFailure, reference: str) -> RunFailure:
    text = f"{found.text} (error reference: {reference})"
    return replace(found, text=text, message=text, reference=reference)


def log(found: RunFailure, error: BaseException, cause: BaseException) -> None:
    """Log the failure, with the traceback of `error` if the error is unexpected."""
    details: object = cause.problems if isinstance(cause, ApplicationBroken) else str(cause)
    said = cause.said if isinstance(cause, ModelFailed | ServiceFailed) else ""
    logger.error(
        "Request failed: reference=%s error=%s status=%d code=%s retryable=%s "
        "details=%r service_message=%r",
        found.reference,
        type(cause).__name__,
        found.status,
        found.code,
        found.is_retryable,
        details,
        said,
        exc_info=None if isinstance(cause, QuickAppError) else error,
    )
