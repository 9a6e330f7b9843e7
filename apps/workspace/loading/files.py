"""What was loaded, wherever it came from."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from apps.errors import FileRefused


@dataclass(frozen=True, slots=True)
class Loaded:
    """`path` is where it is stored, "" for what was fetched or came with its address.

    `charset` is the encoding of a text as the server called it that it came from, "" if none did.
    """

    name: str
    type: str
    content: bytes = field(repr=False)
    path: str = ""
    charset: str = ""


def check_size(size: int, limit: int) -> None:
    """Raises `FileRefused`."""
    if size > limit:
        raise FileRefused(f"The file has {size:,} bytes; at most {limit:,} are possible.")


def as_data(file: Loaded) -> str:
    """As DIAL's messages carry it: text as it is, everything else as base64."""
    if file.type.startswith("text/"):
        return file.content.decode("utf-8", "replace")
    return base64.b64encode(file.content).decode()
