"""Files for programs, at DIAL's addresses. They belong to the key that is sent.

Callers from DIAL Core have their files in Core. Visitors without a key have none, because they
cannot be told apart.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile

from apps.accounts.authentication import authenticate
from apps.doors.consumer import Header
from apps.errors import (
    BadRequest,
    FileChanged,
    FileMissing,
    FileRefused,
    FileTooLarge,
    NotAuthenticated,
)
from apps.gateway.base import JSON, GatewayConsumer, error_body
from apps.gateway.file_metadata import MetadataQuery, describe, describe_folder, read_query
from apps.gateway.uploads import OVERHEAD_BYTES, uploaded
from apps.runs.failures import fault
from apps.workspace.local import files
from apps.workspace.local.downloads import Part, headers_of, part_of, pieces
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import check_name, write_path
from apps.workspace.stored_files import FileInfo

METADATA = "application/vnd.dial.metadata+json"
REFUSALS: dict[type[FileRefused], tuple[int, str]] = {
    FileMissing: (404, "file_missing"),
    FileChanged: (412, "file_changed"),
    FileTooLarge: (413, "too_large"),
}
NO_OWNER = "Files belong to a key; send one in the Api-Key header or as a bearer token."
FOLDER = "That is a folder; its files are listed under /v1/metadata/files/."


class FilesConsumer(GatewayConsumer):
    """`owner` is the bucket of the request's key."""

    owner: str

    async def answer(self) -> None:
        self.owner = (await authenticate(self.scope)).bucket
        if not self.owner:
            raise NotAuthenticated(NO_OWNER)
        await self.answer_owner()

    async def answer_owner(self) -> None:
        raise NotImplementedError

    def is_denial(self, error: Exception) -> bool:
        is_foreign = isinstance(error, FileRefused) and self.bucket != self.owner
        return is_foreign or super().is_denial(error)

    async def send_error(self, error: Exception) -> None:
        if not isinstance(error, FileRefused) or self.is_started:
            await super().send_error(error)
            return
        status, code = REFUSALS.get(type(error), (400, error.code))
        await self.send_json(status, error_body(fault(status, str(error), code), status))

    async def read(self, function: Callable[..., Any], path: str, *rest: object) -> Any:
        """Call a function of `files` as the reader of a path. Raises `FileMissing`."""
        reader = files.reader_of(self.owner, path)
        return await database_sync_to_async(function)(reader, path, *rest)

    @property
    def bucket(self) -> str:
        return str(self.scope["url_route"]["kwargs"]["bucket"])

    @property
    def name(self) -> str:
        return str(self.scope["url_route"]["kwargs"].get("name") or "")

    @property
    def path(self) -> str:
        return write_path(self.bucket, self.name)


class BucketConsumer(FilesConsumer):
    """`GET /v1/bucket`: where the files of the key are."""

    async def answer_owner(self) -> None:
        await self.send_json(200, {"bucket": self.owner})


class FileConsumer(FilesConsumer):
    """`GET`, `PUT` and `DELETE /v1/files/{bucket}/{path}`."""

    methods = ("GET", "HEAD", "PUT", "DELETE")

    async def answer_owner(self) -> None:
        if self.name.endswith("/") or not self.name:
            raise BadRequest(FOLDER)
        match self.scope["method"]:
            case "PUT":
                await self.take()
            case "DELETE":
                await self.delete()
            case _:
                await self.show()

    # --- Out -----------------------------------------------------------------------------------

    async def show(self) -> None:
        await self.read_body(OVERHEAD_BYTES)  # from here on a client that goes away is noticed
        row: StoredFile = await self.read(files.find, self.path)
        wanted = etags_of(self.header(b"if-match"))
        if wanted and row.etag not in wanted:
            raise files.changed(self.path)
        known = self.header(b"if-none-match")
        if known and (known == "*" or row.etag in etags_of(known)):
            await self.start(304, [(b"etag", b'"%b"' % row.etag.encode())])
            await self.end()
            return
        part = part_of(row.size, self.header(b"range"))
        if part is None:
            size = b"bytes */%d" % row.size
            await self.respond(416, b"", [(b"content-range", size)])
            return
        await self.send_file(row, part)

    async def send_file(self, row: StoredFile, part: Part) -> None:
        if not await database_sync_to_async(default_storage.exists)(row.storage_name):
            raise files.missing(self.path)
        headers = {
            "Content-Type": row.content_type,
            "Content-Security-Policy": "sandbox; default-src 'none'",
            **headers_of(row, part, is_shown=False),
        }
        await self.start(part.status, encoded(headers))
        if self.scope["method"] != "HEAD":
            async for piece in pieces(row.storage_name, part):
                await self.write(piece)
        await self.end()

    # --- In ------------------------------------------------------------------------------------

    async def take(self) -> None:
        if self.bucket != self.owner:
            raise files.missing(self.path)
        check_name(self.name)
        if any(segment.endswith(".") for segment in self.name.split("/")):
            raise FileRefused("No part of the path of a file may end in a dot.")
        condition = condition_of(self.header(b"if-match"), self.header(b"if-none-match"))
        parts = self.body_parts(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT + OVERHEAD_BYTES)
        sent = await uploaded(self.header(b"content-type"), parts)
        written: FileInfo = await database_sync_to_async(store)(
            self.owner, self.name, sent, condition
        )
        etag = (b"etag", b'"%b"' % written.etag.encode())
        await self.respond(200, msgspec.json.encode(describe(written)), (*JSON, etag))

    async def delete(self) -> None:
        wanted = etags_of(self.header(b"if-match"))
        await database_sync_to_async(files.delete)(self.owner, self.path, wanted)
        await self.respond(200, b"")


class MetadataConsumer(FilesConsumer):
    """`GET /v1/metadata/files/{bucket}/{path}`: a file, or a folder with its entries."""

    async def answer_owner(self) -> None:
        query = read_query(self.scope["query_string"])
        found = await self.describe(query)
        if query.with_permissions:
            permissions = ["READ", "WRITE"] if self.bucket == self.owner else ["READ"]
            for entry in (found, *found.get("items", ())):
                entry["permissions"] = permissions
        is_named = METADATA in self.header(b"accept")
        kind = [(b"content-type", METADATA.encode())] if is_named else JSON[:1]
        await self.respond(200, msgspec.json.encode(found), (*kind, *JSON[1:]))

    async def describe(self, query: MetadataQuery) -> dict[str, Any]:
        """Raises `FileRefused`."""
        if self.name and not self.name.endswith("/"):
            try:
                return describe(await self.read(files.info, self.path))
            except FileMissing:
                pass  # DIAL's client leaves out the slash behind a folder
        folder = f"{self.path.removesuffix('/')}/"
        page = partial(files.listing_page, after=query.token, most=query.limit)
        entries, has_more = await self.read(page, folder, query.is_deep)
        return describe_folder(folder, entries, has_more=has_more)


def store(owner: str, name: str, sent: UploadedFile[Any], condition: files.Condition) -> FileInfo:
    """Store an upload and close it. Raises `FileRefused`."""
    with sent:
        return files.take(owner, name, sent, sent.content_type or "", condition)


def etags_of(header: str) -> frozenset[str]:
    """The tags of `If-Match`; none for `*`, which every file matches."""
    tags = (tag.strip().removeprefix("W/").strip('"') for tag in header.split(","))
    return frozenset() if header in ("", "*") else frozenset(tags)


def condition_of(match: str, none_match: str) -> files.Condition:
    """Raises `BadRequest`."""
    if none_match not in ("", "*"):
        raise BadRequest("If-None-Match: write * to create a file, or leave the header out.")
    return files.Condition(etags_of(match), is_new=none_match == "*")


def encoded(headers: Mapping[str, str]) -> list[Header]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
