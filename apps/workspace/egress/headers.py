"""Checks headers before they are sent, and parses the `Retry-After` header of responses."""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from apps.accounts.own_requests import OWN_REQUEST, is_own_host
from apps.datetimes import read_http_date

MARK = (OWN_REQUEST.encode(), b"1")
"""The header of requests that this site sends to itself, so that they do not count as requests from
a local program.
"""
TRANSPORT_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
)
"""The headers that only the HTTP client may set."""

_name = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_control = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def with_mark(headers: Sequence[tuple[bytes, bytes]], host: bytes) -> Sequence[tuple[bytes, bytes]]:
    """Return the request's headers, with `MARK` added if `host` is this site."""
    name = host.decode("ascii")
    is_own = is_own_host(f"[{name}]" if ":" in name else name)
    return [*headers, MARK] if is_own else headers


def header_name_problem(name: str) -> str:
    """Return the reason why a header with this name cannot be sent, or "" if it can."""
    if not _name.fullmatch(name):
        return f"{name!r} is not a valid HTTP header name."
    if name.lower() in TRANSPORT_HEADERS:
        return f"the header {name!r} is set by the HTTP client."
    return ""


def header_value_problem(value: str) -> str:
    """Return the reason why a header cannot have this value, or "" if it can. The reason does not
    contain the value.
    """
    if _control.search(value):
        return "a header cannot contain line breaks or other control characters."
    return ""


def basic(username: str, password: str) -> str:
    """Return the value of the Authorization header for HTTP Basic authentication."""
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


TEMPORARY = frozenset({408, 425, 429})
"""The 4xx status codes of errors that the request itself did not cause."""


def is_lasting(status: int) -> bool:
    """Return True if a service that returns this status would reject the same request again."""
    return status < 500 and status not in TEMPORARY


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the number of seconds to wait before a retry, or None if the header is missing or
    invalid.
    """
    written = headers.get("retry-after", "").strip()
    if written.isascii() and written.isdigit():
        return float(written) if len(written) < 10 else None
    moment = read_http_date(written)
    return None if moment is None else max(0.0, (moment - datetime.now(UTC)).total_seconds())
