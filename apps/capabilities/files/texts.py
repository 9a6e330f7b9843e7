"""The text of a file, whatever kind it is of, as far as it was wanted in a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from django.conf import settings

from apps.capabilities.files.desk import Desk
from apps.capabilities.registry import Key
from apps.documents.growing import Document
from apps.documents.problems import Unreadable
from apps.documents.reading import Bounds
from apps.errors import InvalidParameter
from apps.workspace.loading.files import Loaded

KEPT = 16_000_000
"""Characters of the texts of one run, and bytes of what is not read to its end, that are kept for the
next call that wants them; the newest is kept however large it is."""


@dataclass(slots=True)
class Texts:
    """Documents by what they are; what was not used for longest is read anew."""

    kept: dict[str, Document] = field(default_factory=dict)

    def get(self, file: Loaded) -> Document:
        key = f"{hashlib.sha256(file.content).hexdigest()} {file.type} {file.name}"
        found = self.kept.pop(key, None) or Document(file.content, file.name, file.type, bounds())
        self.kept[key] = found
        return found

    def tidy(self) -> None:
        """Called when one has grown."""
        used = sum(document.size for document in self.kept.values())
        while used > KEPT and len(self.kept) > 1:
            used -= self.kept.pop(next(iter(self.kept))).size


TEXTS = Key[Texts]("file_texts")


def bounds() -> Bounds:
    memory = int(settings.DOCUMENTS_MEMORY_MB) * 1024 * 1024
    return Bounds(float(settings.DOCUMENTS_SECONDS), memory)


async def document_of(
    desk: Desk, parameter: str, path: str, *, until: int | None = None
) -> Document:
    """The document with so many lines, or all without; as far as there was time for.

    Raises `InvalidParameter`.
    """
    file = await desk.load(parameter, path)
    texts = desk.opening.known.get_or_make(TEXTS, Texts)
    document = texts.get(file)
    try:
        await document.until(until)
    except Unreadable as error:
        raise InvalidParameter(parameter, f"{file.name!r} cannot be read: {error}") from error
    finally:
        texts.tidy()
    return document
