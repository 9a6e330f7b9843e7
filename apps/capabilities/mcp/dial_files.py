"""Parameters that hold files of DIAL's: the toolset is let read them before it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from apps.capabilities.mcp.lines import Line
from apps.capabilities.registry import Opening
from apps.errors import InvalidParameter, ToolError

MARK = "dial_url"
ROOT = "files/"
NOWHERE = "Files cannot be shared because dial_toolset_id is not configured."

_external = re.compile(r"https?:", re.IGNORECASE)


def marked(schema: Mapping[str, Any]) -> frozenset[str]:
    """The names of the parameters that hold files, or lists of files."""
    return frozenset(
        name
        for name, one in schema.get("properties", {}).items()
        if isinstance(one, Mapping) and (is_marked(one) or is_marked(one.get("items")))
    )


def is_marked(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get(MARK) is True


async def grant_files(
    names: frozenset[str], arguments: Mapping[str, Any], line: Line, opening: Opening
) -> None:
    """Raises `InvalidParameter`, `ToolError`, `FileRefused`."""
    named = [(name, url) for name in sorted(names) for url in urls_in(arguments.get(name))]
    if not named:
        return
    if not line.toolset.kept_as:
        error = ToolError(NOWHERE)
        error.is_lasting = True
        raise error
    paths = [read_path(name, url, line.endpoint.url) for name, url in named]
    await opening.workspace.grant(list(dict.fromkeys(paths)), line.toolset.kept_as)


def urls_in(value: Any) -> Iterator[str]:
    for url in value if isinstance(value, list) else [value]:
        if isinstance(url, str) and url.strip():
            yield url.strip()


def read_path(name: str, url: str, server: str) -> str:
    """The path of a file of DIAL's, whose own addresses are the same as paths.

    Raises `InvalidParameter`.
    """
    parts = urlsplit(server)
    path = url.removeprefix(f"{parts.scheme}://{parts.netloc}/v1/").lstrip("/")
    if path.startswith(ROOT):
        return path
    what = "an external URL" if _external.match(path) else "something else"
    raise InvalidParameter(
        name,
        f"Parameter `{name}` requires a DIAL file but received {what}. Use `file:data::` or "
        "`file:base64::` / `file:text::` with a parameter that takes content, or the path of a "
        "file (files/…) here.",
    )
