"""Request headers that may be sent, and the `Retry-After` header of responses."""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from apps.accounts.sender_headers import OWN_REQUEST, is_own_host
from apps.datetimes import read_http_date

MARK = (OWN_REQUEST.encode(), b"1")
"""Sent to this site, so that it never takes a request of its own for one of a local program."""
TRANSPORT_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
)
"""Headers that only the HTTP client may set."""

_name = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_control = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def with_mark(headers: Sequence[tuple[bytes, bytes]], host: bytes) -> Sequence[tuple[bytes, bytes]]:
    """The headers of a request to a host, which may be this site."""
    name = host.decode("ascii")
    is_own = is_own_host(f"[{name}]" if ":" in name else name)
    return [*headers, MARK] if is_own else headers


def header_name_problem(name: str) -> str:
    """Why a header of that name cannot be sent; "" when it can."""
    if not _name.fullmatch(name):
        return f"{name!r} is not a name of an HTTP header."
    if name.lower() in TRANSPORT_HEADERS:
        return f"the header {name!r} is the HTTP client's own."
    return ""


def header_value_problem(value: str) -> str:
    """Why a header cannot have that value; "" when it can. The text does not repeat the value."""
    if _control.search(value):
        return "a header cannot contain line breaks or other control characters."
    return ""


def basic(username: str, password: str) -> str:
    """The Authorization header of HTTP Basic."""
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


TEMPORARY = frozenset({408, 425, 429})
"""4xx statuses that are not about the request itself."""


def is_lasting(status: int) -> bool:
    """Whether the same request would be refused again."""
    return status < 500 and status not in TEMPORARY


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now, at least 0; None when the header is missing or cannot be read."""
    written = headers.get("retry-after", "").strip()
    if written.isascii() and written.isdigit():
        return float(written) if len(written) < 10 else None
    moment = read_http_date(written)
    return None if moment is None else max(0.0, (moment - datetime.now(UTC)).total_seconds())
