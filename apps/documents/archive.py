"""Parts of the formats that are ZIP archives of XML, unpacked only as far as memory allows."""

from io import BytesIO
from posixpath import dirname, join, normpath
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from apps.documents.pages import PROTECTED, Unreadable

MOST_BYTES = 64 * 1024 * 1024
"""Of one unpacked part."""


class Archive:
    """Methods raise `Unreadable`, and KeyError for a part that is not there."""

    def __init__(self, content: BytesIO) -> None:
        self.file = ZipFile(content)

    def __contains__(self, name: str) -> bool:
        return name in self.file.NameToInfo

    def read(self, name: str) -> bytes:
        if self.file.getinfo(name).flag_bits & 1:
            raise Unreadable(PROTECTED)
        with self.file.open(name) as part:
            content = part.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise Unreadable(f"it has a part that unpacks to more than {MOST_BYTES // 2**20} MB.")
        return content

    def xml(self, name: str) -> etree._Element:
        """The root of a part; entities are not resolved, and nothing outside is loaded."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        return etree.fromstring(self.read(name), parser)


def beside(name: str, target: str) -> str:
    """The name of the part that another one refers to."""
    if target.startswith("/"):
        return normpath(unquote(target)).lstrip("/")
    return normpath(join(dirname(name), unquote(target)))
