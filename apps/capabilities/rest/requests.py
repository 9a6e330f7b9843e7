"""The request of an operation: which fields it has, and how arguments fill it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.capabilities.rest.addresses import Address, path_values
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InvalidParameter
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import RestAuthorization
from apps.manifest.parameters import ParameterPlace
from apps.manifest.secrets import Credential
from apps.workspace.egress.headers import header_name_problem, header_value_problem

ACCEPT = (
    "application/json, application/xml, text/html, text/csv, text/json, text/xml, "
    "application/csv, text/markdown, text/plain; charset=utf-8"
)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a service; `name` is the model's name for it, `function` the operator's.

    `places`: parameter name → its place in the request. `credentials`: parameter name → constant,
    which the model and stages are not told of. `headers` are sent with every tool of the toolset,
    `forwarded` names headers of the caller that are passed on; both in lower case.
    """

    name: str
    function: str
    method: str
    address: Address
    places: Mapping[str, ParameterPlace]
    authorization: RestAuthorization | None
    attachment: ResponseAsAttachment
    most_seconds: float
    most_bytes: int
    headers: Mapping[str, Credential] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    forwarded: frozenset[str] = frozenset()


@dataclass(slots=True)
class RequestDraft:
    """A request while it is put together; header names are in lower case.

    `credentials` are the texts in it that are hidden where the response repeats them.
    """

    method: str
    path: dict[str, str] = field(default_factory=dict, repr=False)
    query: dict[str, str] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=lambda: {"accept": ACCEPT}, repr=False)
    body: dict[str, Any] = field(default_factory=dict, repr=False)
    credentials: set[str] = field(default_factory=set, repr=False)

    def content(self) -> bytes | None:
        """JSON; `POST` and `PUT` have a body even without fields."""
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


def fill(draft: RequestDraft, operation: Operation, arguments: Mapping[str, Any]) -> None:
    """Put the arguments into the draft; None is left out. Raises `InvalidParameter`."""
    in_path = {place.key: name for name, place in operation.places.items() if place.type == "url"}
    draft.path = path_values(operation.address, arguments, in_path)
    for name, place in operation.places.items():
        value = arguments.get(name)
        if value is not None and place.type != "url":
            add_value(draft, name, place, value)


def add_value(draft: RequestDraft, name: str, place: ParameterPlace, value: Any) -> None:
    match place.type:
        case "query":
            draft.query[place.key] = query_text(value, place.encoding)
        case "header":
            text = as_text(value).strip()
            if problem := header_value_problem(text):
                raise InvalidParameter(name, problem)
            draft.headers[place.key.lower()] = text
        case _:
            draft.body[place.key] = body_value(value, place.encoding)


def query_text(value: Any, encoding: str) -> str:
    """A list is joined by commas unless it is to be JSON; an object always is JSON."""
    if isinstance(value, list) and encoding == "text":
        return ",".join(map(as_text, value))
    return as_text(value)


def body_value(value: Any, encoding: str) -> Any:
    """With the encoding `text`, as in the reference backend, JSON text inside the JSON."""
    if isinstance(value, dict | list) and encoding == "text":
        return msgspec.json.encode(value).decode()
    return value


def add_forwarded(draft: RequestDraft, headers: Mapping[str, str], wanted: Collection[str]) -> None:
    """Pass on the caller's `wanted` headers (names in lower case) that nothing else has set."""
    for name, value in headers.items():
        if name.lower() not in wanted or header_name_problem(name) or header_value_problem(value):
            continue
        draft.headers.setdefault(name.lower(), value.strip())
