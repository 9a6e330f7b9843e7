"""HTTP downloads of stored files: the requested range, headers and bytes."""

import re
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.core.files.storage import default_storage

from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import JOINER

PIECE_BYTES = 64 * 1024

_range = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes from `first` to before `end` of `size`."""

    first: int
    end: int
    size: int

    @property
    def status(self) -> int:
        return 200 if self.end - self.first == self.size else 206


def part_of(size: int, header: str) -> Part | None:
    """The part that a `Range` header asks for; None if the file has no such part."""
    first, last = range_bounds(header.strip(), size)
    return None if first > last and size else Part(first, last + 1, size)


def range_bounds(header: str, size: int) -> tuple[int, int]:
    """The first and the last byte; first > last for a part that does not exist."""
    asked = _range.fullmatch(header)
    if asked is None or asked.groups() == ("", ""):
        return 0, size - 1
    first, last = asked.groups()
    if not first:
        return max(0, size - int(last)), size - 1 if int(last) else -1
    if int(first) >= size:
        return size, size - 1
    return int(first), min(int(last), size - 1) if last else size - 1


def saved_name(path: str) -> str:
    """The name under which a browser saves the file: without marks that would show another ending."""
    text = unicodedata.normalize("NFC", path.rsplit("/", 1)[-1])
    kept = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c == JOINER)
    return kept or "file"


def headers_of(row: StoredFile, part: Part, *, is_shown: bool) -> dict[str, str]:
    """`is_shown`: browsers may display the file instead of saving it."""
    name = quote(saved_name(row.name), safe="")
    headers = {
        "Content-Length": str(part.end - part.first),
        "Content-Disposition": f"{'inline' if is_shown else 'attachment'}; filename*=UTF-8''{name}",
        "ETag": f'"{row.etag}"',
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
        "Accept-Ranges": "bytes",
    }
    if part.status == 206:
        headers["Content-Range"] = f"bytes {part.first}-{part.end - 1}/{part.size}"
    return headers


async def pieces(storage_name: str, part: Part) -> AsyncIterator[bytes]:
    opened = await sync_to_async(default_storage.open)(storage_name, "rb")
    left = part.end - part.first
    try:
        await sync_to_async(opened.seek)(part.first)
        while left:
            piece = await sync_to_async(opened.read)(min(PIECE_BYTES, left))
            if not piece:
                return
            left -= len(piece)
            yield piece
    finally:
        await sync_to_async(opened.close)()
