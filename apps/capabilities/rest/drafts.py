"""A request while it is put together, and what may stand in its headers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.capabilities.rest.addresses import Address
from apps.workspace.egress.headers import header_name_problem, header_value_problem

ACCEPT = (
    "application/json, application/xml, text/html, text/csv, text/json, text/xml, "
    "application/csv, text/markdown, text/plain; charset=utf-8"
)


@dataclass(slots=True)
class Draft:
    """What a call is going to send. Header names are kept in lower case.

    `credentials` are the texts in it that no answer may repeat.
    """

    method: str
    path: dict[str, str] = field(default_factory=dict, repr=False)
    query: dict[str, str] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=lambda: {"accept": ACCEPT}, repr=False)
    body: dict[str, Any] = field(default_factory=dict, repr=False)
    credentials: set[str] = field(default_factory=set, repr=False)

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


def add_forwarded(draft: Draft, headers: Mapping[str, str], wanted: Collection[str]) -> None:
    """Pass the wanted headers of the caller's on (names in lower case).

    They never replace what the operator or a tool set.
    """
    for name, value in headers.items():
        if name.lower() not in wanted or header_name_problem(name) or header_value_problem(value):
            continue
        draft.headers.setdefault(name.lower(), value.strip())
