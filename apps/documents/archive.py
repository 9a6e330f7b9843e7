"""Reads the parts of ZIP archives such as .docx files, each up to a memory limit."""

import unicodedata
from io import BytesIO
from posixpath import dirname, join, normpath
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from apps.documents.paged_text import PROTECTED, UnreadableDocument
from apps.documents.zip_names import READ_AS, named_entries

MOST_BYTES = 64 * 1024 * 1024
"""The maximum size of a decompressed archive part, in bytes."""


class Archive:
    """A ZIP archive. Its methods raise `UnreadableDocument` if the archive is damaged, and KeyError
    if a part is missing.
    """

    def __init__(self, content: BytesIO) -> None:
        self.file = ZipFile(content)
        self.entries = dict(named_entries(self.file, READ_AS))

    def __contains__(self, name: str) -> bool:
        return unicodedata.normalize("NFC", name) in self.entries

    def read(self, name: str) -> bytes:
        entry = self.entries[unicodedata.normalize("NFC", name)]
        if entry.flag_bits & 1:
            raise UnreadableDocument(PROTECTED)
        with self.file.open(entry) as part:
            content = part.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UnreadableDocument(
                f"part of it is too large when unpacked; the limit is {MOST_BYTES // 2**20} MB."
            )
        return content

    def xml(self, name: str) -> etree._Element:
        """Parse the XML part with this name, and return its root element. Entities are not
        resolved, and no external resource is loaded.
        """
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        return etree.fromstring(self.read(name), parser)


def resolve_name(name: str, target: str) -> str:
    """Resolve `target`, a path relative to the archive part `name`, to the name of a part."""
    if target.startswith("/"):
        return normpath(unquote(target)).lstrip("/")
    return normpath(join(dirname(name), unquote(target)))
