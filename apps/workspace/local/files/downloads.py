"""Determines the range and the headers for HTTP downloads of stored files."""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from apps.workspace.local.files.paths import JOINER
from apps.workspace.local.models import StoredFile

_range = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class FilePart:
    """The bytes from `first` up to, but not including, `end` of a file of `size` bytes."""

    first: int
    end: int
    size: int

    @property
    def status(self) -> int:
        return 200 if self.end - self.first == self.size else 206


def part_of(size: int, header: str) -> FilePart | None:
    """Return the part of a file that a `Range` header requests, or None if the file has no such
    part.
    """
    first, last = range_bounds(header.strip(), size)
    return None if first > last and size else FilePart(first, last + 1, size)


def range_bounds(header: str, size: int) -> tuple[int, int]:
    """Return the positions of the first and the last requested byte. If the range cannot be
    satisfied, the first is greater than the last.
    """
    byte_range = _range.fullmatch(header)
    if byte_range is None or byte_range.groups() == ("", ""):
        return 0, size - 1
    first, last = byte_range.groups()
    if not first:
        return max(0, size - int(last)), size - 1 if int(last) else -1
    if int(first) >= size:
        return size, size - 1
    return int(first), min(int(last), size - 1) if last else size - 1


def saved_name(path: str) -> str:
    """Return the name under which browsers save a download. It has no characters that would
    disguise its extension.
    """
    text = unicodedata.normalize("NFC", path.rsplit("/", 1)[-1])
    kept = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c == JOINER)
    return kept or "file"


def headers_of(row: StoredFile, part: FilePart, *, is_shown: bool) -> dict[str, str]:
    """Return the headers for a download. If `is_shown` is True, browsers may display the file
    instead of saving it.
    """
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
