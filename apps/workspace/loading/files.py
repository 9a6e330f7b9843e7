"""Defines loaded files and the limits for loading them, and parses data: URIs."""

import base64
import hashlib
import mimetypes
import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from apps.documents.encodings import best_encoding
from apps.documents.process import Bounds
from apps.errors import FileRefused

DOCUMENT_SECONDS = 30.0
"""The timeout in seconds for extracting a document's text in a separate process."""
DOCUMENT_BYTES = 512 * 1024 * 1024
"""The memory limit of the process that extracts a document's text, in bytes."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file that has been loaded."""

    name: str
    type: str
    content: bytes = field(repr=False)
    path: str = ""
    """The path in the storage, or "" for a fetched file or a data: URI."""
    charset: str = ""
    """The encoding that the server declared for a text file, or ""."""
    version: str = ""
    """A string that changes with the content of a stored file, or "" for other files."""


def document_bounds(owner: str) -> Bounds:
    return Bounds(DOCUMENT_SECONDS, DOCUMENT_BYTES, owner=owner)


def check_download_size(size: int, limit: int) -> None:
    """Raise `FileRefused` if the size exceeds the limit. Both are in bytes."""
    if size > limit:
        raise FileRefused(f"The file is {size:,} bytes; the limit is {limit:,}.")


def as_data(file: LoadedFile) -> str:
    """Return the file's content for the `data` field of a DIAL attachment: plain text for a text
    file, base64 for any other type.
    """
    if file.type.startswith("text/"):
        return file.content.decode(best_encoding(file.content), "replace")
    return base64.b64encode(file.content).decode()


_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


def read_data_uri(uri: str, limit: int) -> LoadedFile:
    """Parse a data: URI. Raises `FileRefused` if it is invalid or its data exceeds `limit` bytes.
    The message does not quote the data.
    """
    head, comma, payload = uri[len("data:") :].partition(",")
    kind, *options = (word.strip().lower() for word in head.split(";"))
    if not comma:
        raise FileRefused("A data: URI has no comma before its data.")
    is_base64 = "base64" in options
    # Checked before decoding: percent-encoding takes up to 3 characters per byte, and base64
    # takes 4 characters for 3 bytes.
    check_download_size(len(payload) * 3 // 4 - 2 if is_base64 and "%" not in payload else 0, limit)
    check_download_size(-(-len(payload) // 3), limit)
    content = unquote_to_bytes(payload)
    if is_base64:
        try:
            content = base64.b64decode(content, validate=True)
        except ValueError as error:
            raise FileRefused("The data of a data: URI is not valid base64.") from error
    check_download_size(len(content), limit)
    kind = kind or "text/plain"
    if not _media_type.fullmatch(kind):
        raise FileRefused("A data: URI does not begin with a media type.")
    name = f"attachment-{hashlib.sha256(content).hexdigest()[:16]}"
    return LoadedFile(f"{name}{mimetypes.guess_extension(kind) or '.bin'}", kind, content)
