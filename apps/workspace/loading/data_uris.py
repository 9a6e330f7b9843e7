"""Files that are written out in their own address."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from urllib.parse import unquote_to_bytes

from apps.errors import FileRefused
from apps.workspace.loading.files import Loaded, check_size

_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


def read_data_uri(uri: str, limit: int) -> Loaded:
    """Raises `FileRefused`, never with any of the data."""
    head, comma, payload = uri[len("data:") :].partition(",")
    kind, *options = (word.strip().lower() for word in head.split(";"))
    if not comma:
        raise FileRefused("A data: URI has no comma before its data.")
    is_base64 = "base64" in options
    # Percent-encoding takes at most three characters for a byte, base64 at least four for three.
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
