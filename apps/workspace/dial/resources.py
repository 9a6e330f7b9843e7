"""Resolves paths in Core's buckets, lists folders, reads prompts, and grants access to files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from apps.errors import FileChanged, FileRefused, ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, encode_path
from apps.workspace.dial.failures import AnswerTooLarge, CoreRefused
from apps.workspace.dial.wire import mapping
from apps.workspace.stored_files import display_path, missing

FILES = "files"
GRANT = "/v1/ops/resource/per-request-permissions/grant"
GRANT_REFUSED = frozenset({400, 401, 403})
"""The status codes with which Core rejects a grant. It sends 401 for keys that are not per-request
keys.
"""
PAGE = 1000
"""The number of entries per page of a listing, which is Core's maximum."""
NOT_YOURS = frozenset({400, 403, 404})
"""The status codes that are reported as a missing file. Core sends 400 for an invalid path."""


def resource_path(core: Core, path: str, kind: str = FILES) -> str:
    """Return the encoded path `{kind}/{bucket}/{name}` for a path or a URL on this Core. The path
    of a folder ends with a slash.

    Raises `FileMissing` for any other path or URL.
    """
    place = core.path_of(path) if "://" in path else path
    if place is None:
        raise missing(path)
    is_folder = place.endswith("/")
    try:
        found = encode_path(place.removesuffix("/"))
    except ValueError:
        raise missing(path) from None
    root, _, rest = found.partition("/")
    if root != kind or not rest or ("/" not in rest and not is_folder):
        raise missing(path)
    return f"{found}/" if is_folder else found


@contextmanager
def reading(path: str, noun: str = "", most_bytes: int = 0) -> Iterator[None]:
    """Convert Core's errors while a resource is read. Raises `FileMissing` if Core rejects the
    path, and `FileRefused` if the body is too large.

    `noun` is the word for the resource in the error message for a body of more than `most_bytes`.
    """
    try:
        yield
    except AnswerTooLarge as error:
        raise FileRefused(f"{noun} is too large; the limit is {most_bytes:,} bytes.") from error
    except CoreRefused as refusal:
        if refusal.status in NOT_YOURS:
            raise missing(path) from refusal
        raise


@contextmanager
def writing(path: str, *, is_new: bool = False) -> Iterator[None]:
    """Convert Core's errors while a file is written. Raises `FileChanged` for a conflict, and
    `FileRefused` if Core rejects the path.
    """
    try:
        yield
    except CoreRefused as refusal:
        match refusal.status:
            case 412 if is_new:
                text = f"The file {display_path(path)} already exists."
                raise FileChanged(text) from refusal
            case 412:
                text = f"{display_path(path)} was changed in the meantime; read it again."
                raise FileChanged(text) from refusal
            case 400 | 403 | 404:
                text = f"You don’t have permission to write to {display_path(path)}."
                raise FileRefused(text) from refusal
            case 413:
                raise FileRefused("The file is larger than DIAL Core accepts.") from refusal
            case _:
                raise


async def get_pages(
    calls: Calls, address: str, query: Mapping[str, str], most_pages: int
) -> tuple[list[Mapping[str, Any]], bool]:
    """Return the entries of a listing, and True if the listing is complete. Raises `ServiceFailed`
    if a call to Core fails.
    """
    found: list[Mapping[str, Any]] = []
    token, seen = "", set[str]()
    for _ in range(most_pages):
        parameters = {"limit": str(PAGE), **query, **({"token": token} if token else {})}
        page = mapping(await calls.get_json(address, parameters))
        found += flatten_folders(page.get("items"))
        token = page.get("nextToken") or ""
        if not token:
            return found, True
        if token in seen:
            break
        seen.add(token)
    return found, False


def flatten_folders(items: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the entries in a listing and in its folders."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            yield item
            yield from flatten_folders(item.get("items"))


async def read_prompt(calls: Calls, path: str) -> str:
    """Return the text of a prompt. Raises `FileMissing` if the caller cannot read it, and
    `ServiceFailed` if Core fails.
    """
    place = resource_path(calls.core, path, "prompts")
    with reading(path):
        written = mapping(await calls.get_json(f"/v1/{place}"))
    content = written.get("content")
    if not isinstance(content, str):
        raise ServiceFailed(f"The prompt {place} has no text.", reason="answer")
    return content


async def grant_reading(calls: Calls, paths: Sequence[str], receiver: str) -> None:
    """Allow a deployment (`receiver`) to read files until this request ends. Raises `FileRefused`
    if Core rejects the grant, and `ServiceFailed` if Core fails.
    """
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
                f"DIAL denies {receiver!r} access to {display_path(', '.join(places))}."
            ) from refusal
        raise


async def find_home(calls: Calls) -> str:
    """Return the path of the folder for new files. Raises `ServiceFailed` if a call to Core fails
    or Core reports no bucket.

    A per-request key has an `appdata` folder in the user's bucket, so that the user can read new
    files.
    """
    place = calls.caller.appdata
    if not place:
        buckets = mapping(await calls.get_json("/v1/bucket"))
        place = str(buckets.get("appdata") or buckets.get("bucket") or "").strip("/")
    try:
        return f"{FILES}/{encode_path(place)}/"
    except ValueError as error:
        raise ServiceFailed("DIAL Core returned no bucket.", reason="answer") from error
