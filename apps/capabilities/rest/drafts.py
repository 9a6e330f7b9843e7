"""A request while it is put together, and what may stand in its headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.capabilities.rest.addresses import Address

ACCEPT = (
    "application/json, application/xml, text/html, text/csv, text/json, text/xml, "
    "application/csv, text/markdown, text/plain; charset=utf-8"
)
TRANSPORT_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
)
"""What only the HTTP client itself may say."""

_name = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_control = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(slots=True)
class Draft:
    """What a call is going to send. Header names are kept in lower case."""

    method: str
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=lambda: {"accept": ACCEPT})
    body: dict[str, Any] = field(default_factory=dict)

    def url(self, address: Address) -> str:
        return address.url(self.path, self.query)

    def content(self) -> bytes | None:
        """JSON; a request that is expected to have a body has one even when nothing is in it."""
        if self.body or self.method in {"POST", "PUT"}:
            return msgspec.json.encode(self.body)
        return None

    def header_pairs(self) -> list[tuple[bytes, bytes]]:
        pairs = dict(self.headers)
        if self.content() is not None:
            pairs.setdefault("content-type", "application/json")
        return [
            (name.encode("ascii"), value.encode("utf-8", "replace"))
            for name, value in pairs.items()
        ]


def add_forwarded(draft: Draft, headers: Mapping[str, str]) -> None:
    """Pass the caller's own headers on; they never replace what the operator or a tool set."""
    for name, value in headers.items():
        if header_name_problem(name) or header_value_problem(value):
            continue
        draft.headers.setdefault(name.lower(), value.strip())


def header_name_problem(name: str) -> str:
    """Why a header of that name cannot be sent; "" when it can."""
    if not _name.fullmatch(name):
        return f"{name!r} is not a name of an HTTP header."
    if name.lower() in TRANSPORT_HEADERS:
        return f"the header {name!r} is the HTTP client's own."
    return ""


def header_value_problem(value: str) -> str:
    """Why a header cannot have that value; "" when it can. The value itself is not repeated."""
    if _control.search(value):
        return "a header cannot contain line breaks or other control characters."
    return ""
