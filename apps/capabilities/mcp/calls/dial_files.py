"""Finds arguments that are DIAL files, and grants the toolset access to them before a call."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from apps.capabilities.mcp.toolsets.bindings import ToolsetBinding
from apps.capabilities.registry import Opening
from apps.errors import InvalidParameter, ToolError

MARK = "dial_url"

_external = re.compile(r"https?:", re.IGNORECASE)


def file_parameters(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of parameters whose values are files or lists of files."""
    return frozenset(
        name
        for name, one in schema.get("properties", {}).items()
        if isinstance(one, Mapping) and (is_marked(one) or is_marked(one.get("items")))
    )


def is_marked(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get(MARK) is True


async def grant_files(
    names: frozenset[str], arguments: Mapping[str, Any], binding: ToolsetBinding, opening: Opening
) -> None:
    """Grant the toolset access to the files in the arguments.

    Raises `InvalidParameter` if a value is not a DIAL file, and `ToolError` or `FileRefused` if
    access cannot be granted.
    """
    named = [(name, url) for name in sorted(names) for url in urls_in(arguments.get(name))]
    if not named:
        return
    if not binding.toolset.workspace_id:
        problem = "Files cannot be shared because dial_toolset_id is not configured."
        raise ToolError(problem, is_lasting=True)
    paths = [dial_path(name, url, binding.endpoint.url) for name, url in named]
    await opening.workspace.grant(list(dict.fromkeys(paths)), binding.toolset.workspace_id)
    for path in paths:
        await opening.loader.distrust(path)


def urls_in(value: Any) -> Iterator[str]:
    for url in value if isinstance(value, list) else [value]:
        if isinstance(url, str) and url.strip():
            yield url.strip()


def dial_path(name: str, url: str, server: str) -> str:
    """Return the path of a DIAL file. `url` may be a path or a URL on the DIAL server. Raises
    `InvalidParameter` for other files.
    """
    parts = urlsplit(server)
    path = url.removeprefix(f"{parts.scheme}://{parts.netloc}/v1/").lstrip("/")
    if path.startswith("files/"):
        return path
    what = "an external URL" if _external.match(path) else "something else"
    raise InvalidParameter(
        name,
        f"Parameter `{name}` requires a DIAL file but received {what}. Use `file:data::` or "
        "`file:base64::` / `file:text::` with a parameter that accepts content, or the path of a "
        "file (files/…) here.",
    )
