"""Builds a REST tool's HTTP request from a call's arguments."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.capabilities.rest.operations import Operation
from apps.capabilities.rest.url_templates import path_values
from apps.capabilities.wrappers.value_texts import value_text
from apps.errors import InvalidParameter
from apps.manifest.toolsets.rest_parameters import ParameterPlace
from apps.workspace.egress.headers import header_name_problem, header_value_problem

ACCEPT = (
    "application/json, application/xml, text/html, text/csv, text/json, text/xml, "
    "application/csv, text/markdown, text/plain; charset=utf-8"
)


@dataclass(slots=True)
class RequestDraft:
    """An HTTP request under construction. Header names are in lower case."""

    method: str
    path: dict[str, str] = field(default_factory=dict, repr=False)
    query: dict[str, str] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=lambda: {"accept": ACCEPT}, repr=False)
    body: dict[str, Any] = field(default_factory=dict, repr=False)
    credentials: set[str] = field(default_factory=set, repr=False)
    """The secrets in the request. They are redacted in the response."""

    def content(self) -> bytes | None:
        """Return the body as JSON, or None. `POST` and `PUT` always have a body."""
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


def fill_draft(draft: RequestDraft, operation: Operation, arguments: Mapping[str, Any]) -> None:
    """Add the arguments that are not None to the request. Raises `InvalidParameter` if a value
    cannot be sent.
    """
    in_path = {
        place.key: name for name, place in operation.positions.items() if place.type == "url"
    }
    draft.path = path_values(operation.address, arguments, in_path)
    for name, place in operation.positions.items():
        value = arguments.get(name)
        if value is not None and place.type != "url":
            add_value(draft, name, place, value)


def add_value(draft: RequestDraft, name: str, place: ParameterPlace, value: Any) -> None:
    match place.type:
        case "query":
            # A list is joined with commas, unless JSON is required. An object is always sent as
            # JSON.
            is_joined = isinstance(value, list) and place.encoding == "text"
            draft.query[place.key] = (
                ",".join(map(value_text, value)) if is_joined else value_text(value)
            )
        case "header":
            text = value_text(value).strip()
            if problem := header_value_problem(text):
                raise InvalidParameter(name, problem)
            draft.headers[place.key.lower()] = text
        case _:
            # As in DIAL's own implementation, `text` means a JSON-encoded string within the JSON.
            is_text = isinstance(value, dict | list) and place.encoding == "text"
            draft.body[place.key] = value_text(value) if is_text else value


def add_forwarded(draft: RequestDraft, headers: Mapping[str, str], wanted: Collection[str]) -> None:
    """Add the caller's headers whose lower-case names are in `wanted`. Existing headers take
    precedence.
    """
    for name, value in headers.items():
        if name.lower() not in wanted or header_name_problem(name) or header_value_problem(value):
            continue
        draft.headers.setdefault(name.lower(), value.strip())
