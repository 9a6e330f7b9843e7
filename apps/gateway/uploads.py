"""The file of a multipart form."""

import asyncio
from collections.abc import AsyncIterable
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from apps.errors import BadRequest

OVERHEAD_BYTES = 16 * 1024
"""Bytes of a form beside its file."""
NOT_ONE_FILE = "Send one file, as a part with a file name of a body of type multipart/form-data."


async def uploaded(content_type: str, parts: AsyncIterable[bytes]) -> UploadedFile[Any]:
    """The one file of a form; the caller closes it. Raises `BadRequest`."""
    if not content_type.lower().startswith("multipart/form-data"):
        raise BadRequest(NOT_ONE_FILE)
    with SpooledTemporaryFile(settings.FILE_UPLOAD_MAX_MEMORY_SIZE) as body:
        size = 0
        async for part in parts:
            size += body.write(part)
        body.seek(0)
        # Reading a form takes a while: other answers go on meanwhile.
        return await asyncio.to_thread(read_form, content_type, body, size)


def read_form(content_type: str, body: Any, size: int) -> UploadedFile[Any]:
    """`body` is an open file. Raises `BadRequest`."""
    described = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(size)}
    handlers = [MemoryFileUploadHandler(), TemporaryFileUploadHandler()]
    try:
        _, files = MultiPartParser(described, body, handlers, "utf-8").parse()
    except (MultiPartParserError, RequestDataTooBig, SuspiciousOperation) as error:
        raise BadRequest(f"The form cannot be read: {error}") from error
    found: list[UploadedFile[Any]] = [file for name in files for file in files.getlist(name)]
    if len(found) != 1:
        for file in found:
            file.close()
        raise BadRequest(NOT_ONE_FILE)
    return found[0]
