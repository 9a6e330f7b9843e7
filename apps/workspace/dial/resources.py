"""Resources in Core's buckets: their paths and listings, stored prompts, grants to read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from apps.errors import FileRefused, ServiceFailed
from apps.workspace.dial.calls import Calls, mapping
from apps.workspace.dial.core import Core, encoded
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.port import FileInfo, FolderInfo, missing, shown

FILES = "files"
GRANT = "/v1/ops/resource/per-request-permissions/grant"
GRANT_REFUSED = frozenset({400, 401, 403})
"""401 answers keys other than the per-request keys that Core makes."""
UNKNOWN_TYPE = "application/octet-stream"
PAGE = 1000
"""Entries of one page; Core's maximum."""
NOT_YOURS = frozenset({400, 403, 404})
"""Statuses that are reported as a missing file; Core answers 400 to an impossible path."""


def resource_path(core: Core, path: str, kind: str = FILES) -> str:
    """`{kind}/{bucket}/{name}`, encoded, of a path or an address on this Core; a folder keeps its slash.

    Raises `FileMissing`.
    """
    place = core.path_of(path) if "://" in path else path
    if place is None:
        raise missing(path)
    is_folder = place.endswith("/")
    try:
        found = encoded(place.removesuffix("/"))
    except ValueError:
        raise missing(path) from None
    root, _, rest = found.partition("/")
    if root != kind or not rest or ("/" not in rest and not is_folder):
        raise missing(path)
    return f"{found}/" if is_folder else found


def refusal_of(refusal: CoreRefused, path: str) -> Exception:
    """The error to raise for a path that Core refused to read."""
    return missing(path) if refusal.status in NOT_YOURS else refusal


async def get_pages(
    calls: Calls, address: str, query: Mapping[str, str], most_pages: int
) -> tuple[list[Mapping[str, Any]], bool]:
    """The entries of a listing, and whether these are all of them. Raises `ServiceFailed`."""
    found: list[Mapping[str, Any]] = []
    token, seen = "", set[str]()
    for _ in range(most_pages):
        asked = {"limit": str(PAGE), **query, **({"token": token} if token else {})}
        page = mapping(await calls.get_json(address, asked))
        found += flattened(page.get("items"))
        token = page.get("nextToken") or ""
        if not token:
            return found, True
        if token in seen:
            break
        seen.add(token)
    return found, False


def flattened(items: Any) -> Iterator[Mapping[str, Any]]:
    """All entries, with those inside of folders."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            yield item
            yield from flattened(item.get("items"))


def file_info(item: Mapping[str, Any], path: str) -> FileInfo:
    # Core leaves out fields that it could tell only by opening the file.
    url, size = item.get("url"), item.get("contentLength")
    return FileInfo(
        path=url if isinstance(url, str) and url.startswith(f"{FILES}/") else path,
        content_type=str(item.get("contentType") or UNKNOWN_TYPE),
        size=size if isinstance(size, int) else 0,
        etag=plain_etag(str(item.get("etag") or "")),
        updated_at=moment(item.get("updatedAt")),
    )


def entry(item: Mapping[str, Any]) -> FileInfo | FolderInfo | None:
    url = item.get("url")
    if not isinstance(url, str) or not url.startswith(f"{FILES}/"):
        return None
    if item.get("nodeType") == "FOLDER":
        return FolderInfo(f"{url.rstrip('/')}/")
    return file_info(item, url)


def plain_etag(written: str) -> str:
    """Without the quotes and the `W/` that proxies add in headers."""
    return written.strip().removeprefix("W/").strip('"')


def moment(milliseconds: Any) -> datetime | None:
    if not isinstance(milliseconds, (int, float)) or isinstance(milliseconds, bool):
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None


async def read_prompt(calls: Calls, path: str) -> str:
    """Raises `FileMissing`, `ServiceFailed`."""
    place = resource_path(calls.core, path, "prompts")
    try:
        written = mapping(await calls.get_json(f"/v1/{place}"))
    except CoreRefused as refusal:
        raise refusal_of(refusal, path) from refusal
    content = written.get("content")
    if not isinstance(content, str):
        raise ServiceFailed(f"The prompt {place} has no text.", reason="answer")
    return content


async def grant_reading(calls: Calls, paths: Sequence[str], receiver: str) -> None:
    """Let a deployment read files while this request lasts. Raises `FileRefused`, `ServiceFailed`."""
    places = list(dict.fromkeys(resource_path(calls.core, path) for path in paths))
    if not places:
        return
    body = {
        "resourcePermissions": [{"url": place, "permissions": ["READ"]} for place in places],
        "receiver": receiver,
    }
    try:
        await calls.send("POST", GRANT, json=body)
    except CoreRefused as refusal:
        if refusal.status == 404:
            raise missing(", ".join(places)) from refusal
        if refusal.status in GRANT_REFUSED:
            raise FileRefused(
                f"DIAL does not let {receiver!r} read {shown(', '.join(places))}."
            ) from refusal
        raise
