"""The text of a file, whatever kind it is of, and its lines."""

from __future__ import annotations

import hashlib
import re
from functools import partial

from django.conf import settings

from apps.capabilities.files.desk import Desk
from apps.documents.problems import Unreadable
from apps.documents.reading import Bounds, read_document
from apps.errors import InvalidParameter
from apps.workspace.loading.files import Loaded
from apps.workspace.loading.once import Once

KEPT_CHARACTERS = 16_000_000
"""Of the texts of one run that are kept for the next call that wants them."""
KNOWN = "file_texts"

_line_end = re.compile(r"\r\n|\n|\r")


async def text_of(desk: Desk, parameter: str, path: str) -> str:
    """Raises `InvalidParameter`."""
    file = await desk.load(parameter, path)
    empty: Once[str] = Once(KEPT_CHARACTERS, len)
    texts: Once[str] = desk.opening.known.setdefault(KNOWN, empty)
    key = f"{hashlib.sha256(file.content).hexdigest()} {file.type} {file.name}"
    return await texts.get(key, partial(extract, parameter, file))


async def extract(parameter: str, file: Loaded) -> str:
    bounds = Bounds(
        float(settings.DOCUMENTS_SECONDS), int(settings.DOCUMENTS_MEMORY_MB) * 1024 * 1024
    )
    try:
        return await read_document(
            file.content, name=file.name, media_type=file.type, bounds=bounds
        )
    except Unreadable as error:
        raise InvalidParameter(parameter, f"{file.name!r} cannot be read: {error}") from error


def lines_of(text: str) -> list[str]:
    """Without their ends; one that ends the text begins no further line."""
    lines = _line_end.split(text)
    return lines[:-1] if not lines[-1] else lines
