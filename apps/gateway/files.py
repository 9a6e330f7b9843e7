"""Serves the files of API clients at DIAL's URLs.

Files belong to the API key with which they were uploaded. Callers from DIAL Core have their files
in Core, not here. Clients without a key have none, because they cannot be distinguished.
"""

import asyncio
from collections.abc import AsyncIterable, Callable, Mapping
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from apps.accounts.authentication import authenticate
from apps.catalog.application_uploads import reader_for
from apps.doors.consumer import JSON
from apps.doors.refusals import Header
from apps.errors import BadRequest, FileMissing, FileRefused, NotAuthenticated
from apps.gateway.base import GatewayConsumer
from apps.gateway.file_metadata import (
    MetadataQuery,
    describe_entry,
    describe_folder,
    read_metadata_query,
)
from apps.runs.failures import own_failure
from apps.workspace.local.files import files
from apps.workspace.local.files.downloads import FilePart, headers_of, part_of
from apps.workspace.local.files.file_threads import on_file_thread
from apps.workspace.local.files.paths import check_name, write_path
from apps.workspace.local.files.readers import FileReader
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile
from apps.workspace.stored_files import FileInfo

METADATA = "application/vnd.dial.metadata+json"
NO_OWNER = "Files need an API key. Send one in the Api-Key header or as a bearer token."
FOLDER = "This is a folder. Its files are listed under /v1/metadata/files/."
OVERHEAD_BYTES = 16 * 1024
"""The maximum number of bytes in an upload's form, excluding its file."""
NOT_ONE_FILE = "Send one file, as a part with a file name, in a body of type multipart/form-data."


class FilesConsumer(GatewayConsumer):
    """The base class of the file endpoints. `owner` is the bucket of the caller's key."""

    owner: str
    reader: FileReader

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        self.owner, self.reader = caller.bucket, reader_for(caller)
        if not self.owner:
            raise NotAuthenticated(NO_OWNER)
        await self.answer_owner()

    async def answer_owner(self) -> None:
        raise NotImplementedError

    def is_denial(self, error: Exception) -> bool:
        is_foreign = isinstance(error, FileRefused) and self.bucket != self.owner
        return is_foreign or super().is_denial(error)

    async def send_error(self, error: Exception) -> None:
        # An error that the caller has caused has no error reference. In a run, the application
        # causes the same error.
        if isinstance(error, FileRefused) and not self.is_started:
            await self.send_failure(own_failure(error))
        else:
            await super().send_error(error)

    async def read(self, function: Callable[..., Any], path: str, *rest: object) -> Any:
        """Call a function of `apps.workspace.local.files` with the caller as the reader. Raises
        `FileMissing` if there is no such file.
        """
        return await database_sync_to_async(function)(self.reader, path, *rest)

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
    """Serves `GET /v1/bucket`, which returns the name of the bucket that contains the key's files."""

    async def answer_owner(self) -> None:
        await self.send_json(200, {"bucket": self.owner})


class FileConsumer(FilesConsumer):
    """Serves `GET`, `PUT` and `DELETE /v1/files/{bucket}/{path}`."""

    methods = ("GET", "HEAD", "PUT", "DELETE")

    async def answer_owner(self) -> None:
        if self.name.endswith("/") or not self.name:
            raise BadRequest(FOLDER)
        match self.scope["method"]:
            case "PUT":
                await self.receive_file()
            case "DELETE":
                await self.delete()
            case _:
                await self.show()

    # --- Out -----------------------------------------------------------------------------------

    async def show(self) -> None:
        await self.read_body(OVERHEAD_BYTES)  # From here on, disconnects are detected.
        row: StoredFile = await self.read(files.find_stored, self.path)
        wanted = etags_of(self.header(b"if-match"))
        if wanted and row.etag not in wanted:
            raise files.file_changed(self.path)
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

    async def send_file(self, row: StoredFile, part: FilePart) -> None:
        if not await on_file_thread(storage().exists, row.storage_name):
            raise files.missing(self.path)
        headers = {
            "Content-Type": row.content_type,
            "Content-Security-Policy": "sandbox; default-src 'none'",
            **headers_of(row, part, is_shown=False),
        }
        await self.start(part.status, encode_headers(headers))
        if self.scope["method"] != "HEAD":
            async for piece in storage().part(row.storage_name, part.first, part.end):
                await self.write(piece)
        await self.end()

    # --- In ------------------------------------------------------------------------------------

    async def receive_file(self) -> None:
        if self.bucket != self.owner:
            raise files.missing(self.path)
        check_name(self.name)
        if any(segment.endswith(".") for segment in self.name.split("/")):
            raise FileRefused("A segment of the path ends with a dot. Use a different name.")
        condition = condition_of(self.header(b"if-match"), self.header(b"if-none-match"))
        parts = self.body_parts(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT + OVERHEAD_BYTES)
        sent = await uploaded_file(self.header(b"content-type"), parts)
        written = await on_file_thread(store, self.owner, self.name, sent, condition)
        etag = (b"etag", b'"%b"' % written.etag.encode())
        await self.respond(200, msgspec.json.encode(describe_entry(written)), (*JSON, etag))

    async def delete(self) -> None:
        wanted = etags_of(self.header(b"if-match"))
        await on_file_thread(files.delete, self.owner, self.path, wanted)
        await self.respond(200, b"")


class MetadataConsumer(FilesConsumer):
    """Serves `GET /v1/metadata/files/{bucket}/{path}`. The response describes a file, or a folder
    and its contents.
    """

    async def answer_owner(self) -> None:
        query = read_metadata_query(self.scope["query_string"])
        found = await self.describe(query)
        if query.with_permissions:
            permissions = ["READ", "WRITE"] if self.bucket == self.owner else ["READ"]
            for entry in (found, *found.get("items", ())):
                entry["permissions"] = permissions
        is_named = METADATA in self.header(b"accept")
        kind = [(b"content-type", METADATA.encode())] if is_named else JSON[:1]
        await self.respond(200, msgspec.json.encode(found), (*kind, *JSON[1:]))

    async def describe(self, query: MetadataQuery) -> dict[str, Any]:
        """Return the metadata of the file or folder in the URL. Raises `FileRefused` if the caller
        cannot read it.
        """
        if self.name and not self.name.endswith("/"):
            try:
                return describe_entry(await self.read(files.info, self.path))
            except FileMissing:
                pass  # DIAL's client omits the slash at the end of a folder.
        folder = f"{self.path.removesuffix('/')}/"
        page = partial(files.listing_page, after=query.token, most=query.limit)
        entries, has_more = await self.read(page, folder, query.is_deep)
        return describe_folder(folder, entries, has_more=has_more)


def store(owner: str, name: str, sent: UploadedFile[Any], condition: files.Condition) -> FileInfo:
    """Store an uploaded file, and close it. Raises `FileRefused` if the file is rejected or the
    condition is not met.
    """
    with sent:
        return files.take(owner, name, sent, sent.content_type or "", condition)


def etags_of(header: str) -> frozenset[str]:
    """Return the entity tags in an `If-Match` header. For `*`, which matches any file, return an
    empty set.
    """
    tags = (tag.strip().removeprefix("W/").strip('"') for tag in header.split(","))
    return frozenset() if header in ("", "*") else frozenset(tags)


def condition_of(match: str, none_match: str) -> files.Condition:
    """Return the condition for writing a file, from the headers `If-Match` and `If-None-Match`.
    Raises `BadRequest` if `If-None-Match` is anything but `*`.
    """
    if none_match not in ("", "*"):
        raise BadRequest("If-None-Match: use * to create a file, or leave the header out.")
    return files.Condition(etags_of(match), is_new=none_match == "*")


def encode_headers(headers: Mapping[str, str]) -> list[Header]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


async def uploaded_file(content_type: str, parts: AsyncIterable[bytes]) -> UploadedFile[Any]:
    """Return the only file of a form, which the caller must close. Raises `BadRequest` if the form
    is invalid or does not have exactly one file.
    """
    if not content_type.lower().startswith("multipart/form-data"):
        raise BadRequest(NOT_ONE_FILE)
    with SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE) as body:
        size = 0
        async for part in parts:
            size += body.write(part)
        body.seek(0)
        # Parsing a form is slow, so it must not block the event loop.
        return await asyncio.to_thread(read_form, content_type, body, size)


def read_form(content_type: str, body: Any, size: int) -> UploadedFile[Any]:
    """Parse the form in the open file `body`, and return its only file. Raises `BadRequest` if the
    form is invalid or does not have exactly one file.
    """
    described = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(size)}
    handlers = [MemoryFileUploadHandler(), TemporaryFileUploadHandler()]
    try:
        _, parts = MultiPartParser(described, body, handlers, "utf-8").parse()
    except (MultiPartParserError, RequestDataTooBig, SuspiciousOperation) as error:
        raise BadRequest(f"The form cannot be read: {error}") from error
    found: list[UploadedFile[Any]] = [file for name in parts for file in parts.getlist(name)]
    if len(found) != 1:
        for file in found:
            file.close()
        raise BadRequest(NOT_ONE_FILE)
    return found[0]
