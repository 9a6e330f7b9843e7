"""Resources in Core's buckets: their paths and listings, stored prompts, grants to read them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from apps.errors import FileChanged, FileRefused, ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, encoded
from apps.workspace.dial.failures import AnswerTooLarge, CoreRefused
from apps.workspace.dial.wire import mapping
from apps.workspace.stored_files import missing, shown

FILES = "files"
GRANT = "/v1/ops/resource/per-request-permissions/grant"
GRANT_REFUSED = frozenset({400, 401, 403})
"""401 answers keys other than the per-request keys that Core makes."""
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


@contextmanager
def reading(path: str, noun: str = "", most_bytes: int = 0) -> Iterator[None]:
    """Raises `FileMissing` for a path that Core refuses to read, `FileRefused` for a large body.

    `noun` names it in the message about more than `most_bytes`.
    """
    try:
        yield
    except AnswerTooLarge as error:
        raise FileRefused(
            f"{noun} has more than the {most_bytes:,} bytes that are possible."
        ) from error
    except CoreRefused as refusal:
        if refusal.status in NOT_YOURS:
            raise missing(path) from refusal
        raise


@contextmanager
def writing(path: str, *, is_new: bool = False) -> Iterator[None]:
    """Raises `FileChanged`, `FileRefused` for a path that Core refuses to write."""
    try:
        yield
    except CoreRefused as refusal:
        match refusal.status:
            case 412 if is_new:
                text = f"There is already a file {shown(path)}."
                raise FileChanged(text) from refusal
            case 412:
                text = f"{shown(path)} was changed meanwhile; read it again."
                raise FileChanged(text) from refusal
            case 400 | 403 | 404:
                text = f"{shown(path)} is no place that you may write to."
                raise FileRefused(text) from refusal
            case 413:
                raise FileRefused("The file is larger than DIAL Core accepts.") from refusal
            case _:
                raise


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


async def read_prompt(calls: Calls, path: str) -> str:
    """Raises `FileMissing`, `ServiceFailed`."""
    place = resource_path(calls.core, path, "prompts")
    with reading(path):
        written = mapping(await calls.get_json(f"/v1/{place}"))
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


async def find_home(calls: Calls) -> str:
    """The folder for new files. Raises `ServiceFailed`.

    Per-request keys have `appdata`, in the bucket of the person, who can so read new files.
    """
    place = calls.caller.appdata
    if not place:
        buckets = mapping(await calls.get_json("/v1/bucket"))
        place = str(buckets.get("appdata") or buckets.get("bucket") or "").strip("/")
    try:
        return f"{FILES}/{encoded(place)}/"
    except ValueError as error:
        raise ServiceFailed("DIAL Core names no bucket.", reason="answer") from error
