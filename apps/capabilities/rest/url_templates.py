"""Fills the placeholders in REST tool URLs. Arguments cannot change the structure of the path."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from apps.capabilities.wrappers.value_texts import value_text
from apps.errors import InvalidParameter
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.urls import read_url

_placeholder = re.compile(r"\{([^{}/?#]+)\}")


@dataclass(frozen=True, slots=True)
class ToolAddress:
    """The parsed URL of an operation."""

    trust: Trust
    origin: str
    segments: tuple[tuple[str, ...], ...]
    """The parts of each path segment. Parts with odd indices are placeholder names."""
    query: tuple[tuple[str, str], ...]
    """The query parameters in the manifest's URL: each decoded name with its encoded `name=value`.
    """

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(key for parts in self.segments for key in parts[1::2])

    def url(self, path: Mapping[str, str], query: Mapping[str, str]) -> str:
        """Return the full URL. Parameters in `query` override those in the manifest's URL."""
        segments = "/".join(map("".join, (filled_parts(parts, path) for parts in self.segments)))
        pairs = [text for name, text in self.query if name not in query]
        pairs += [
            f"{percent_encoded(name)}={percent_encoded(value)}" for name, value in query.items()
        ]
        return f"{self.origin}{segments}{'?' if pairs else ''}{'&'.join(pairs)}"


def read_address(url: str) -> ToolAddress:
    """Parse the URL of an operation. Raises `AddressInvalid` if it is invalid.

    A URL that begins with `/` refers to this site.
    """
    address = read_url(url)
    parts = address.parts
    pairs = [pair for pair in parts.query.split("&") if pair]
    return ToolAddress(
        trust=address.trust,
        origin=address.origin,
        segments=tuple(
            tuple(_placeholder.split(segment)) for segment in (parts.path or "/").split("/")
        ),
        query=tuple((unquote(pair.partition("=")[0].replace("+", " ")), pair) for pair in pairs),
    )


def filled_parts(parts: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        percent_encoded(values[piece]) if index % 2 else piece for index, piece in enumerate(parts)
    )


def path_values(
    address: ToolAddress, arguments: Mapping[str, object], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the placeholder values. `names` maps placeholders to argument names.

    Raises `InvalidParameter` for a value that would change the path: an empty value, a list, an
    object, or `.` or `..` as a whole segment.
    """
    values: dict[str, str] = {}
    for key in address.placeholders:
        name = names[key]
        value = arguments.get(name)
        if isinstance(value, dict | list):
            raise InvalidParameter(name, "it is part of a URL; pass a string or a number.")
        text = value_text(value)
        if not text:
            raise InvalidParameter(name, "it is part of a URL and must not be empty.")
        values[key] = text
    for parts in address.segments:
        if len(parts) > 1 and unquote("".join(filled_parts(parts, values))) in {".", ".."}:
            raise InvalidParameter(names[parts[1]], "'.' and '..' are not allowed here.")
    return values


def percent_encoded(text: str) -> str:
    return quote(text, safe="", errors="replace")
