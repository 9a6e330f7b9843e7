"""Where in a request each argument goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from apps.capabilities.rest.addresses import Address, path_values
from apps.capabilities.rest.drafts import Draft
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InvalidParameter
from apps.manifest.parameters import ParameterPlace
from apps.workspace.egress.headers import header_value_problem


@dataclass(frozen=True, slots=True)
class Places:
    """The places of an operation's parameters, by parameter name."""

    path: Mapping[str, str]
    """Placeholder → the parameter that fills it."""
    others: tuple[tuple[str, ParameterPlace], ...]

    def fill(self, draft: Draft, address: Address, arguments: Mapping[str, Any]) -> None:
        """Put the arguments into the draft; None is left out. Raises `InvalidParameter`."""
        draft.path = path_values(address, arguments, self.path)
        for name, place in self.others:
            value = arguments.get(name)
            if value is not None:
                put(draft, name, place, value)


def read_places(places: Mapping[str, ParameterPlace]) -> Places:
    return Places(
        path={place.key: name for name, place in places.items() if place.type == "url"},
        others=tuple((name, place) for name, place in places.items() if place.type != "url"),
    )


def put(draft: Draft, name: str, place: ParameterPlace, value: Any) -> None:
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
    """A list or an object is sent as JSON text inside the JSON, as the reference backend does.

    With the encoding `json` it is sent as what it is.
    """
    if isinstance(value, dict | list) and encoding == "text":
        return msgspec.json.encode(value).decode()
    return value
