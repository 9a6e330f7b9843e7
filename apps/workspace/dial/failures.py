"""Failures of calls to Core. Its refusals are plain text, DIAL's JSON, or empty."""

from apps.accounts.caller import Caller
from apps.errors import EgressRefused, ServiceFailed
from apps.workspace.egress.sdk_clients import (
    ConnectError,
    ConnectTimeout,
    DecodingError,
    InvalidURL,
    TimeoutException,
)
from apps.workspace.services.failures import message_in, without_credentials

SHOWN = 300
"""Characters of Core's message that are repeated."""
MOST_ERROR_BYTES = 64 * 1024
"""Read of an answer that is not 2xx."""
PASSING = frozenset({429, 502, 503, 504})
"""Temporary statuses: the same request may succeed later."""


class CoreRefused(ServiceFailed):
    """An answer that is not 2xx; `details` is Core's message without the caller's secrets."""

    def __init__(self, call: str, status: int, details: str, retry_after: float | None) -> None:
        said = f": {details}" if details else "."
        super().__init__(f"DIAL Core answered {call} with status {status}{said}", status=status)
        self.details = self.said = details
        self.retry_after = retry_after


class CoreBroken(ServiceFailed):
    """The connection failed, before an answer or in the middle of it."""


class CoreUnreachable(CoreBroken):
    """No connection was made, so nothing was done."""


class AnswerTooLarge(ServiceFailed): ...


def details_of(body: bytes, caller: Caller) -> str:
    """One line for the log, without a proxy's HTML page and the caller's secrets."""
    secrets = filter(None, (caller.api_key, caller.bearer))
    line = without_credentials(message_in(body), secrets)
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def connection_failure(error: Exception, seconds: float) -> ServiceFailed:
    match error:
        case EgressRefused():
            return ServiceFailed(str(error), reason="connection")
        case ConnectError() | ConnectTimeout():
            return CoreUnreachable("DIAL Core cannot be reached.", reason="connection")
        case TimeoutException():
            return timed_out(seconds)
        case DecodingError():
            return ServiceFailed("DIAL Core sent a packed answer.", reason="answer")
        case InvalidURL():
            return ServiceFailed("The setting DIAL_URL is no address.", reason="connection")
        case _:
            return CoreBroken("DIAL Core broke off its answer.", reason="connection")


def timed_out(seconds: float) -> ServiceFailed:
    return ServiceFailed(f"DIAL Core did not answer within {seconds:g} seconds.", reason="timeout")
