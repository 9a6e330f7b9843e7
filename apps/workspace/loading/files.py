"""A loaded file, its limits, and files that are spelled out in a data: URI."""

import base64
import hashlib
import mimetypes
import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from django.conf import settings

from apps.documents.encodings import best_encoding
from apps.documents.process import Bounds
from apps.errors import FileRefused


@dataclass(frozen=True, slots=True)
class Loaded:
    """`path` is where it is stored, "" for a fetched file or a data: URI.

    `charset` is the encoding of a text as its server named it, "" if it did not. `version` tells
    one content of a stored file from another, "" for others.
    """

    name: str
    type: str
    content: bytes = field(repr=False)
    path: str = ""
    charset: str = ""
    version: str = ""


def document_bounds(owner: str) -> Bounds:
    return Bounds(
        float(settings.DOCUMENTS_SECONDS),
        int(settings.DOCUMENTS_MEMORY_MB) * 1024 * 1024,
        owner=owner,
    )


def check_size(size: int, limit: int) -> None:
    """Raises `FileRefused`."""
    if size > limit:
        raise FileRefused(f"The file has {size:,} bytes; at most {limit:,} are possible.")


def as_data(file: Loaded) -> str:
    """The `data` of an attachment in DIAL's messages: plain text, or base64 for other types."""
    if file.type.startswith("text/"):
        return file.content.decode(best_encoding(file.content), "replace")
    return base64.b64encode(file.content).decode()


_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


def read_data_uri(uri: str, limit: int) -> Loaded:
    """Raises `FileRefused`, whose text repeats none of the data."""
    head, comma, payload = uri[len("data:") :].partition(",")
    kind, *options = (word.strip().lower() for word in head.split(";"))
    if not comma:
        raise FileRefused("A data: URI has no comma before its data.")
    is_base64 = "base64" in options
    # Before decoding: percent-encoding takes at most 3 characters a byte, base64 4 for 3 bytes.
    check_size(len(payload) * 3 // 4 - 2 if is_base64 and "%" not in payload else 0, limit)
    check_size(-(-len(payload) // 3), limit)
    content = unquote_to_bytes(payload)
    if is_base64:
        try:
            content = base64.b64decode(content, validate=True)
        except ValueError as error:
            raise FileRefused("The data of a data: URI is not valid base64.") from error
    check_size(len(content), limit)
    kind = kind or "text/plain"
    if not _media_type.fullmatch(kind):
        raise FileRefused("A data: URI does not begin with a media type.")
    name = f"attachment-{hashlib.sha256(content).hexdigest()[:16]}"
    return Loaded(f"{name}{mimetypes.guess_extension(kind) or '.bin'}", kind, content)
