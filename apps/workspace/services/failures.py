"""Converts failures of model services to `ModelFailed`. No message contains keys or request bodies."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypedDict
from urllib.parse import quote, urlsplit

import msgspec

from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.sdk_clients import (
    ConnectError,
    ConnectTimeout,
    DecodingError,
    HTTPError,
    InvalidURL,
    NetworkError,
    RemoteProtocolError,
    TimeoutException,
)
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.egress.transport import UNREACHABLE, StreamedResponse

BROKEN = (NetworkError, RemoteProtocolError)
"""The errors raised when a connection cannot be opened or is interrupted. They are transient."""

TRANSIENT = frozenset({429, 500, 502, 503, 504, 529})
"""The status codes for too many requests, and for problems of a service or proxy (529: overloaded).
"""


CONTEXT_LENGTH = "context_length_exceeded"
"""OpenAI's error code for a request that exceeds the context window. Many services use it; others
describe the error only in the message.
"""
CODE_STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "content_filter": 400,
        CONTEXT_LENGTH: 400,
        "insufficient_quota": 429,
        "invalid_api_key": 401,
        "model_not_found": 404,
        "rate_limit_exceeded": 429,
        "server_error": 500,
    }
)
"""Maps error codes in a stream to the HTTP status codes that services return for the same error
before the answer begins.
"""
LASTING = frozenset({"insufficient_quota"})
"""The error codes for which a retry does not help, even though their HTTP status is transient."""
HINTS = {402: "its account has no credit"}
"""Explanations of status codes for operators."""
LONGEST_LOCATION = 200
LONGEST_MESSAGE = 1000
LONGEST_SAID = 500
"""Operators see up to this many characters of a service's message."""
MOST_READ = 5_000
"""Only this many characters of a service's message are read."""
SHORTEST_CREDENTIAL = 4
"""The minimum length in characters of a credential that is masked by value, because shorter texts
occur in many messages by chance.
"""
MASK = "…"
_secrets = re.compile(
    r"(?P<kept>\b(?:bearer|basic)\s+)\S{6,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_A-Za-z0-9*]{12,}"
    r"|(?P<name>\b(?:[\w-]*(?:api|access|secret)[-_]?key|[\w-]*token|password|secret)"
    r"[\"']?\s*[:=]\s*[\"']?)[^\s\"',;)}&]{6,}",
    re.IGNORECASE,
)
"""Matches credentials by their format. The service's own credentials are masked by value."""
_echo = re.compile(r"[\"']?\binput(?:_value)?[\"']?\s*[:=]\s*[\"'{\[].*", re.DOTALL)
"""Matches FastAPI-style validation errors, which repeat the request, including the text that users
wrote.
"""
_too_long = re.compile(
    r"prompt is too long"  # Anthropic
    r"|(exceeds?|maximum|available) (the )?(model'?s? )?(maximum )?context (length|window|size|limit)"
    r"|input token count .{0,40}exceeds"  # Gemini
    r"|too many (input )?tokens",
    re.IGNORECASE,
)
"""Matches messages from vLLM, llama.cpp, Ollama, Mistral and similar services about a request that
exceeds the context window.
"""


def read_error(body: bytes) -> Mapping[str, Any]:
    """Return the error object in the body of a response, or {} if there is none."""
    written = object_in(body) or {}
    error = written.get("error", written)
    return error if isinstance(error, Mapping) else {"message": error}


def object_in(body: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in a body, or None if there is none. Some services put the object into
    a list.
    """
    try:
        written = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if isinstance(written, list) and len(written) == 1:
        written = written[0]
    return written if isinstance(written, Mapping) else None


def is_filled(value: Any) -> bool:
    """Return True if the JSON value contains anything other than empty values. Some services send
    an empty error together with text.
    """
    if not value:  # This is by far the most frequent case.
        return False
    if isinstance(value, Mapping):
        return any(map(is_filled, value.values()))
    if isinstance(value, list):
        return any(map(is_filled, value))
    return bool(value.strip() if isinstance(value, str) else value)


def message_in(body: bytes) -> str:
    """Return the message in an error's body as one line for operators, without HTML or credentials."""
    if object_in(body) is not None:
        return message_of(read_error(body))
    text = body.decode("utf-8", "replace")
    return "" if text.lstrip().startswith("<") else tidy_message(text)


def message_of(error: Mapping[str, Any]) -> str:
    said = error.get("message") or error.get("display_message") or error.get("detail")
    return tidy_message(said) if isinstance(said, str) and not said.lstrip().startswith("<") else ""


def tidy_message(text: str) -> str:
    """Return the text as one line of printable characters, without parts that look like a
    credential or repeat the request.

    Must be called before `mask_and_cut`, because a truncated credential would not be recognized.
    """
    printable = "".join(c if c.isprintable() else " " for c in text[:MOST_READ])
    line = " ".join(printable.split())
    return _echo.sub("…", _secrets.sub(_masked, line))


def _masked(found: re.Match[str]) -> str:
    return f"{found['kept'] or found['name'] or ''}{MASK}"


def mask_and_cut(text: str, credentials: Iterable[str]) -> str:
    """Return the text with these credentials masked, truncated to `LONGEST_SAID` characters.

    The longest credential is masked first, because it may contain other credentials.
    """
    for one in sorted(credentials, key=len, reverse=True):
        if len(one) >= SHORTEST_CREDENTIAL:
            text = text.replace(one, MASK).replace(quote(one, safe=""), MASK)
    return text if len(text) <= LONGEST_SAID else f"{text[: LONGEST_SAID - 1]}…"


def failure_of_refusal(answer: StreamedResponse, body: bytes, said: str = "") -> ModelFailed:
    """Return the failure for a response whose status is not 2xx. `said` is the explanation in the
    log, by default a hint about the status.
    """
    headers = answer.header_texts()
    hint = HINTS.get(answer.status, "") or redirection(answer.status, headers)
    said = said or hint
    return ModelFailed(
        f"The model's service returned status {answer.status}{f': {said}' if said else '.'}",
        status=answer.status,
        is_transient=answer.status in TRANSIENT,
        retry_after=retry_after(headers),
        said=": ".join(filter(None, (hint, message_in(body)))),
        **details(read_error(body)),
    )


def redirection(status: int, headers: Mapping[str, str]) -> str:
    """Return a note about a redirect, which is not followed, or "" for any other status."""
    if not 300 <= status < 400:
        return ""
    place = redirect_target(headers.get("location", ""))
    return f"it redirects{f' to {place}' if place else ''}, which is not followed"


def redirect_target(location: str) -> str:
    """Return the target of a redirect without credentials, or "" if it is not a valid URL."""
    try:
        parts = urlsplit(location)
        netloc = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    place = parts._replace(netloc=netloc, query="", fragment="").geturl()
    return tidy_message(place)[:LONGEST_LOCATION]


def failure_in_stream(payload: bytes, statuses: Mapping[str, int] | None = None) -> ModelFailed:
    """Return the failure for an error that arrived as an event in the stream. `statuses` maps types
    of errors to HTTP status codes.

    The event may contain parts of the answer, so only the error's message is used.
    """
    error = read_error(payload)
    found = details(error)
    status = (statuses or {}).get(found["kind"]) or status_of_code(found["code"])
    return ModelFailed(
        "The model's service aborted its response with an error.",
        status=status,
        is_transient=status in TRANSIENT and found["code"] not in LASTING,
        retry_after=None,
        reason="stream",
        said=message_of(error),
        **found,
    )


def failure_of_connection(error: Exception) -> ModelFailed:
    """Return the failure for a request that could not be sent, or whose response did not arrive."""
    if isinstance(error, EgressRefused):
        return ModelFailed(str(error), reason="connection", is_blocked=True)
    if isinstance(error, InvalidURL):
        return ModelFailed("The URL of the model's service is not valid.", reason="connection")
    if isinstance(error, DecodingError):
        return ModelFailed(
            "The model's service sent a compressed response that was not requested.",
            reason="unreadable",
        )
    if problem := tls_problem(error):
        return ModelFailed(f"The model's service cannot be reached. {problem}", reason="connection")
    detail = str(error) if isinstance(error, HTTPError) else ""
    if isinstance(error, TimeoutException):
        # After a connection is open, a timeout is not transient: the service has already used
        # the whole timeout.
        return ModelFailed(
            f"The model's service timed out. {detail}".rstrip(),
            reason="timeout",
            is_transient=isinstance(error, ConnectTimeout),
        )
    what = "cannot be reached" if isinstance(error, ConnectError) else "disconnected"
    # The pool's own message says the same.
    text = f"The model's service {what}. {'' if detail == UNREACHABLE else detail}"
    return ModelFailed(text.rstrip(), reason="connection", is_transient=isinstance(error, BROKEN))


def failure_of_break(error: Exception | None = None) -> ModelFailed:
    """Return the failure for an answer that was interrupted."""
    if isinstance(error, TimeoutException):
        return failure_of_connection(error)
    return ModelFailed(
        "The model's service disconnected before the end of its response.",
        reason="stream",
        is_transient=isinstance(error, BROKEN),
    )


def failure_of_empty_answer() -> ModelFailed:
    """Return the failure for an answer that has neither content nor a finish reason."""
    return ModelFailed(
        "The model's service sent an empty response without a finish reason.", reason="unreadable"
    )


class ErrorDetails(TypedDict):
    code: str
    kind: str
    display: str


def details(body: Mapping[str, Any]) -> ErrorDetails:
    """Return the `code`, `kind` and `display` for `ModelFailed` from an error object. Values that
    are not text become "".
    """
    code = CONTEXT_LENGTH if says_too_long(clean_text(body.get("message"))) else body.get("code")
    return {
        "code": str(code) if isinstance(code, (str, int)) else "",
        "kind": clean_text(body.get("type")),
        "display": clean_text(body.get("display_message")),
    }


def says_too_long(message: str) -> bool:
    return bool(_too_long.search(message[:LONGEST_MESSAGE]))


def clean_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def status_of_code(code: str) -> int | None:
    """Return the HTTP status for an error code, or None. Some services send the status as the code."""
    if code in CODE_STATUSES:
        return CODE_STATUSES[code]
    return int(code) if code.isascii() and code.isdigit() and len(code) == 3 else None
