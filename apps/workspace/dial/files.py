"""Reads and writes files in Core's storage with the caller's permissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from django.conf import settings

from apps.errors import FileChanged, FileRefused, ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import encode_path
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.file_infos import (
    UNKNOWN_TYPE,
    file_info,
    file_or_folder,
    info_of_content,
    written_info,
)
from apps.workspace.dial.resources import find_home, get_pages, reading, resource_path, writing
from apps.workspace.dial.wire import DialFile, mapping
from apps.workspace.loading.files import check_download_size
from apps.workspace.stored_files import FileContent, FileInfo, FolderInfo, display_path, missing

PUBLIC = "public"
"""The bucket of published files. Operators have approved these files."""
MOST_PAGES = 20
"""Up to this many pages of a listing are read, because a model cannot use more than 20,000 entries.
"""


@dataclass(frozen=True, slots=True)
class DialFileStore:
    """Files in Core's storage. Methods raise `ServiceFailed` if a call to Core fails.

    A conditional write to a file that was deleted in the meantime succeeds: Core ignores the `etag`
    and creates the file again.
    """

    calls: Calls

    async def home(self) -> str:
        return await self.calls.once("home", partial(find_home, self.calls))

    async def is_own(self, path: str) -> bool:
        """Return True if the path is in the caller's bucket or in `PUBLIC`. Return False for any
        other path, or if Core does not report the caller's bucket.
        """
        try:
            return bucket_of(path) in {PUBLIC, bucket_of(await self.home())}
        except ServiceFailed:
            return False

    async def info(self, path: str) -> FileInfo:
        place = self.file_path(path)
        with reading(path):
            found = mapping(await self.calls.get_json(f"/v1/metadata/{place}"))
        if found.get("nodeType") == "FOLDER":
            raise missing(path)
        return file_info(found, place)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        place = self.file_path(path)
        most = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT if limit is None else limit
        with reading(path, f"The file {display_path(path)}", most):
            answer = await self.calls.get(f"/v1/{place}", most_bytes=most, seconds=seconds())
        return FileContent(info_of_content(place, answer), answer.body)

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        try:
            quoted = encode_path(name.replace("%", "%25"))  # A plain name may look encoded.
        except ValueError as error:
            raise FileRefused(f"A file can’t be named {display_path(name)}.") from error
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
        check_download_size(len(content), settings.DEFAULT_FILE_LOADING_SIZE_LIMIT)
        place = self.file_path(path)
        condition = {"If-None-Match": "*"} if is_new else {}
        if etag is not None:
            condition = {"If-Match": etag}
        file = DialFile(content, content_type or UNKNOWN_TYPE)
        with writing(path, is_new=is_new):
            answer = await self.calls.send(
                "PUT", f"/v1/{place}", headers=condition, seconds=seconds(), file=file
            )
        return written_info(place, answer, len(content), content_type)

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        place = resource_path(self.calls.core, f"{folder.rstrip('/')}/")
        query = {"recursive": "true"} if is_deep else {}
        try:
            found, is_all = await get_pages(self.calls, f"/v1/metadata/{place}", query, MOST_PAGES)
        except CoreRefused as refusal:
            if refusal.status == 404:
                return []  # A folder exists only while it has entries.
            with reading(folder):
                raise
        if not is_all:
            raise FileRefused(
                f"The folder {display_path(folder)} has too many entries to be listed."
            )
        entries = {one.path: one for item in found if (one := file_or_folder(item)) is not None}
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
            if is_conflict(refusal):
                raise FileChanged(
                    f"The file {display_path(destination)} already exists."
                ) from refusal
            if refusal.status == 404 or "not exist" in refusal.details:
                raise missing(source) from refusal
            with writing(destination):
                raise

    async def delete(self, path: str) -> None:
        try:
            await self.calls.send("DELETE", f"/v1/{self.file_path(path)}")
        except CoreRefused as refusal:
            if refusal.status == 404:
                raise missing(path) from refusal
            with writing(path):
                raise

    def file_path(self, path: str) -> str:
        """Return the encoded path of a file. Raises `FileMissing` if the path is invalid or is the
        path of a folder.
        """
        place = resource_path(self.calls.core, path)
        if place.endswith("/"):
            raise missing(path)
        return place


def bucket_of(path: str) -> str:
    """Return the bucket in a path such as `files/{bucket}/…`."""
    return unquote(f"{path}//".split("/")[1])


def is_conflict(refusal: CoreRefused) -> bool:
    # Some versions of Core report an existing destination only in the message.
    return refusal.status in (409, 412) or "already exists" in refusal.details


def seconds() -> float:
    """Return the time limit for the transfer of one file."""
    return float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS)
