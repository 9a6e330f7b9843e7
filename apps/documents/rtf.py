"""Rich Text Format: its plain text."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from striprtf.striprtf import rtf_to_text

from apps.documents.pages import Part


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[Part]:
    # The format is ASCII; other characters are escapes, in encodings that it names itself.
    text = rtf_to_text(content.getvalue().decode("latin-1"), errors="replace")
    lines = (line.rstrip() for line in text.replace("\xa0", " ").splitlines())
    yield Part("\n".join(lines).strip())
