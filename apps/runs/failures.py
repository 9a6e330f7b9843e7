"""The status, code and text of a failed request, for the gateway and the chat.

A failure on our side has a reference, which is in the log and in the text for the person.
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
    ServiceFailed,
    TooManyRuns,
)
from apps.outages import RETRY_SECONDS, Outage, outage_of
from apps.runs.error_texts import error_text
from apps.runs.explanations import Explanation, model_explanation, service_explanation

logger = logging.getLogger(__name__)

RETRY = gettext_noop("Please try again later.")
PASSED_ON = frozenset({400, 401, 403, 404, 413, 422})
"""The statuses that DIAL Core relays as they are; others it would retry or replace."""
TOO_MANY = 429
WITH_LIMITS = PASSED_ON | {TOO_MANY}
"""For other clients, which can wait for a limit of the model's service to pass."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a request failed: `text` for the person, `message` for the client's log.

    `code` and `kind` are for programs; `reference` is "" where the request itself is at fault;
    `retry_after` are the seconds of a service's limit.
    """

    status: int
    text: str
    message: str
    code: str
    kind: str
    is_retryable: bool = False
    reference: str = ""
    retry_after: float | None = None


def unavailable(outage: Outage) -> Failure:
    return Failure(
        503,
        outage.translated,
        outage.text,
        outage.code,
        "runtime_error",
        is_retryable=True,
        retry_after=RETRY_SECONDS,
    )


def failure(error: BaseException, passed_on: frozenset[int] = PASSED_ON) -> Failure:
    """The failure of an error of the request, or of another one, which is logged.

    `passed_on` are the statuses of a model's service that become ours.
    """
    match cause := sole_error(error):
        case BadRequest():
            return replace(own_failure(cause), message=cause.message)
        case NotAuthenticated() | ApplicationNotFound() | PersonalKeyRefused():
            return own_failure(cause)
        case TooManyRuns() | RateLimitReached():
            if TOO_MANY not in passed_on:  # Core takes 429 for a fault of the service
                return own_failure(cause, 500 if isinstance(cause, TooManyRuns) else 403)
            return replace(own_failure(cause), retry_after=cause.retry_after)
        case BudgetSpent():
            return budget_failure(cause, passed_on)
        case _:
            found = referenced(resolve(cause, passed_on), reference_of(cause))
            log(found, error, cause)
            return found


def budget_failure(error: BudgetSpent, passed_on: frozenset[int]) -> Failure:
    """DIAL Core takes 429 for a broken upstream, so its callers get another status."""
    found = own_failure(error, TOO_MANY if TOO_MANY in passed_on else 403)
    return replace(found, kind=error.code, retry_after=error.retry_after)


def sole_error(error: BaseException) -> BaseException:
    """The error itself; of a group with a single member, that member."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def fault(status: int, text: str, code: str) -> Failure:
    return Failure(status, text, text, code, kind_of(status))


def own_failure(error: QuickAppError, status: int = 0) -> Failure:
    return fault(status or error.http_status, error_text(error), error.code)


def kind_of(status: int) -> str:
    if status == TOO_MANY:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "runtime_error"


def resolve(error: BaseException, passed_on: frozenset[int]) -> Failure:
    match error:
        case ModelFailed():
            return model_failure(error, passed_on)
        case ServiceFailed():
            return explained(service_explanation(error), error.status, PASSED_ON)
        case QuickAppError():
            return own_failure(error)
        case _ if outage := outage_of(error):
            return unavailable(outage)
        case _:
            return fault(500, gettext(GENERIC), "500")


def model_failure(error: ModelFailed, passed_on: frozenset[int]) -> Failure:
    upstream = error.status
    if upstream is None and error.code.isascii() and error.code.isdigit():
        upstream = int(error.code)
    known = model_explanation(error, upstream)
    found = explained(known, upstream, passed_on, error.code, error.kind)
    return replace(found, retry_after=error.retry_after) if found.status == TOO_MANY else found


def explained(
    known: Explanation,
    upstream: int | None,
    passed_on: frozenset[int],
    code: str = "",
    kind: str = "",
) -> Failure:
    status = upstream if upstream in passed_on else 500
    text = gettext(known.text)
    if known.is_retryable:
        text = f"{text} {gettext(RETRY)}"
    return Failure(
        status, text, text, code or str(status), kind or kind_of(status), known.is_retryable
    )


def reference_of(error: BaseException) -> str:
    """The reference that the error has or gets; "" for an error of the request itself."""
    cause = sole_error(error)
    if isinstance(
        cause,
        BadRequest
        | NotAuthenticated
        | ApplicationNotFound
        | TooManyRuns
        | RateLimitReached
        | BudgetSpent,
    ):
        return ""
    return str(cause.__dict__.setdefault("reference", secrets.token_hex(4)))


def referenced(found: Failure, reference: str) -> Failure:
    text = f"{found.text} (error reference: {reference})"
    return replace(found, text=text, message=text, reference=reference)


def log(found: Failure, error: BaseException, cause: BaseException) -> None:
    """Log the failure, with the traceback of an unexpected error."""
    details: object = cause.problems if isinstance(cause, ApplicationBroken) else str(cause)
    said = cause.said if isinstance(cause, ModelFailed | ServiceFailed) else ""
    logger.error(
        "Request failed: reference=%s error=%s status=%d code=%s retryable=%s details=%r said=%r",
        found.reference,
        type(cause).__name__,
        found.status,
        found.code,
        found.is_retryable,
        details,
        said,
        exc_info=None if isinstance(cause, QuickAppError) else error,
    )
