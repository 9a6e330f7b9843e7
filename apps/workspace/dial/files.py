"""Files in Core's storage, read and written with the caller's rights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from django.conf import settings

from apps.errors import FileChanged, FileRefused, ServiceFailed
from apps.workspace.dial.calls import Calls, CoreResponse, decoded, mapping
from apps.workspace.dial.core import encoded
from apps.workspace.dial.failures import AnswerTooLarge, CoreRefused
from apps.workspace.dial.resources import (
    FILES,
    UNKNOWN_TYPE,
    entry,
    file_info,
    get_pages,
    plain_etag,
    refusal_of,
    resource_path,
)
from apps.workspace.dial.wire import File
from apps.workspace.loading.files import check_size
from apps.workspace.port import FileContent, FileInfo, FolderInfo, missing, shown

MOST_PAGES = 20
"""Of a listing: a model has no use for more than twenty thousand entries."""


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


@dataclass(frozen=True, slots=True)
class DialFiles:
    """Raises `ServiceFailed` when Core cannot be asked.

    Core ignores the `etag` of a file that was deleted meanwhile, and writes it anew.
    """

    calls: Calls

    async def home(self) -> str:
        return await self.calls.once("home", partial(find_home, self.calls))

    async def info(self, path: str) -> FileInfo:
        place = self.file_path(path)
        try:
            found = mapping(await self.calls.get_json(f"/v1/metadata/{place}"))
        except CoreRefused as refusal:
            raise refusal_of(refusal, path) from refusal
        if found.get("nodeType") == "FOLDER":
            raise missing(path)
        return file_info(found, place)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        place = self.file_path(path)
        most = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT if limit is None else limit
        try:
            answer = await self.calls.get(f"/v1/{place}", most_bytes=most, seconds=seconds())
        except AnswerTooLarge as error:
            raise FileRefused(
                f"The file {shown(path)} has more than the {most:,} bytes that are possible."
            ) from error
        except CoreRefused as refusal:
            raise refusal_of(refusal, path) from refusal
        return FileContent(info_of_content(place, answer), answer.body)

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        try:
            quoted = encoded(name.replace("%", "%25"))  # a plain name may look encoded
        except ValueError as error:
            raise FileRefused(f"A file cannot be named {shown(name)}.") from error
        return await self.write(f"{await self.home()}{quoted}", content, content_type)

    async def write(
        self,
        path: str,
        content: bytes,
        content_type: str,
        *,
        etag: str | None = None,
        is_new: bool = False,
    ) -> FileInfo:
        check_size(len(content), settings.DEFAULT_FILE_LOADING_SIZE_LIMIT)
        place = self.file_path(path)
        condition = {"If-None-Match": "*"} if is_new else {}
        if etag is not None:
            condition = {"If-Match": etag}
        try:
            answer = await self.calls.send(
                "PUT",
                f"/v1/{place}",
                headers=condition,
                seconds=seconds(),
                file=File(content, content_type or UNKNOWN_TYPE),
            )
        except CoreRefused as refusal:
            refuse_writing(refusal, path, is_new=is_new)
        return written_info(place, answer, len(content), content_type)

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        place = resource_path(self.calls.core, f"{folder.rstrip('/')}/")
        query = {"recursive": "true"} if is_deep else {}
        try:
            found, is_all = await get_pages(self.calls, f"/v1/metadata/{place}", query, MOST_PAGES)
        except CoreRefused as refusal:
            if refusal.status == 404:
                return []  # a folder exists only while it has entries
            raise refusal_of(refusal, folder) from refusal
        if not is_all:
            raise FileRefused(f"The folder {shown(folder)} has too many entries to be listed.")
        entries = {one.path: one for item in found if (one := entry(item)) is not None}
        if is_deep:
            entries = {path: one for path, one in entries.items() if isinstance(one, FileInfo)}
        return [entries[path] for path in sorted(entries)]

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        await self.transfer("copy", source, destination, overwrite=overwrite)

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        await self.transfer("move", source, destination, overwrite=overwrite)

    async def transfer(
        self, operation: str, source: str, destination: str, *, overwrite: bool
    ) -> None:
        body = {
            "sourceUrl": self.file_path(source),
            "destinationUrl": self.file_path(destination),
            "overwrite": overwrite,
        }
        if body["sourceUrl"] == body["destinationUrl"]:
            await self.info(source)
            return
        try:
            await self.calls.send(
                "POST", f"/v1/ops/resource/{operation}", json=body, seconds=seconds()
            )
        except CoreRefused as refusal:
            if is_taken(refusal):
                raise FileChanged(f"There is already a file {shown(destination)}.") from refusal
            if refusal.status == 404 or "not exist" in refusal.details:
                raise missing(source) from refusal
            refuse_writing(refusal, destination)

    async def delete(self, path: str) -> None:
        try:
            await self.calls.send("DELETE", f"/v1/{self.file_path(path)}")
        except CoreRefused as refusal:
            if refusal.status == 404:
                raise missing(path) from refusal
            refuse_writing(refusal, path)

    def file_path(self, path: str) -> str:
        """Raises `FileMissing`, also for a folder."""
        place = resource_path(self.calls.core, path)
        if place.endswith("/"):
            raise missing(path)
        return place


def refuse_writing(refusal: CoreRefused, path: str, *, is_new: bool = False) -> NoReturn:
    match refusal.status:
        case 412 if is_new:
            raise FileChanged(f"There is already a file {shown(path)}.") from refusal
        case 412:
            raise FileChanged(f"{shown(path)} was changed meanwhile; read it again.") from refusal
        case 400 | 403 | 404:
            raise FileRefused(f"{shown(path)} is no place that you may write to.") from refusal
        case 413:
            raise FileRefused("The file is larger than DIAL Core accepts.") from refusal
        case _:
            raise refusal


def is_taken(refusal: CoreRefused) -> bool:
    # Some Cores tell only in the message that the destination exists.
    return refusal.status in (409, 412) or "already exists" in refusal.details


def info_of_content(place: str, answer: CoreResponse) -> FileInfo:
    return FileInfo(
        path=place,
        content_type=answer.headers.get("content-type") or UNKNOWN_TYPE,
        size=len(answer.body),
        etag=plain_etag(answer.headers.get("etag", "")),
        updated_at=None,
    )


def written_info(place: str, answer: CoreResponse, size: int, content_type: str) -> FileInfo:
    # Fields that Core leaves out are as they were sent.
    told = decoded(answer.body)
    sent = {"contentLength": size, "contentType": content_type, "etag": answer.headers.get("etag")}
    return file_info({**sent, **(told if isinstance(told, dict) else {})}, place)


def seconds() -> float:
    """Time limit for the transfer of one file."""
    return float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS)
