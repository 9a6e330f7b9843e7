"""Reads plain text from Rich Text Format documents."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from striprtf.striprtf import rtf_to_text

from apps.documents.paged_text import PagePart


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    # The format is ASCII. Other characters are escaped, in encodings that the file declares.
    text = rtf_to_text(content.getvalue().decode("latin-1"), errors="replace")
    lines = (line.rstrip() for line in text.replace("\xa0", " ").splitlines())
    yield PagePart("\n".join(lines).strip())
