"""Converts failed calls to Core to errors. The body of an error response is plain text, DIAL's
JSON, or empty.
"""

from apps.accounts.caller import Caller
from apps.errors import EgressRefused, ServiceFailed
from apps.workspace.egress.sdk_clients import (
    ConnectError,
    ConnectTimeout,
    DecodingError,
    InvalidURL,
    TimeoutException,
)
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.services.failures import mask_and_cut, message_in

SHOWN = 300
"""An error message includes up to this many characters of Core's message."""
MOST_ERROR_BYTES = 64 * 1024
"""Up to this many bytes of an error response are read."""
PASSING = frozenset({429, 502, 503, 504})
"""The status codes of temporary failures: the same request may succeed later."""


class CoreRefused(ServiceFailed):
    """Raised if the status is not 2xx. `details` is Core's message without the caller's secrets."""

    def __init__(self, call: str, status: int, details: str, retry_after: float | None) -> None:
        said = f": {details}" if details else "."
        super().__init__(f"DIAL Core returned status {status} for {call}{said}", status=status)
        self.details = self.said = details
        self.retry_after = retry_after


class CoreBroken(ServiceFailed):
    """Raised if the connection fails before or during the response."""


class CoreUnreachable(CoreBroken):
    """Raised if no connection was established, so Core did nothing."""


class AnswerTooLarge(ServiceFailed): ...


def details_of(body: bytes, caller: Caller) -> str:
    """Return one line about an error response for the log, without a proxy's HTML page and without
    the caller's secrets.
    """
    secrets = filter(None, (caller.credentials.api_key, caller.credentials.bearer))
    line = mask_and_cut(message_in(body), secrets)
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def connection_failure(error: Exception, seconds: float) -> ServiceFailed:
    match error:
        case EgressRefused():
            return ServiceFailed(str(error), reason="connection")
        case ConnectError() if problem := tls_problem(error):
            return ServiceFailed(f"DIAL Core cannot be reached. {problem}", reason="connection")
        case ConnectError() | ConnectTimeout():
            return CoreUnreachable("DIAL Core cannot be reached.", reason="connection")
        case TimeoutException():
            return timed_out(seconds)
        case DecodingError():
            return ServiceFailed("DIAL Core sent a compressed response.", reason="answer")
        case InvalidURL():
            return ServiceFailed("The setting DIAL_URL is not a valid URL.", reason="connection")
        case _:
            return CoreBroken(
                "DIAL Core disconnected before the end of its response.", reason="connection"
            )


def timed_out(seconds: float) -> ServiceFailed:
    return ServiceFailed(f"DIAL Core did not respond within {seconds:g} seconds.", reason="timeout")
