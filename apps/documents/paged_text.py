"""Defines the parts of a document's text, the selection of pages, and the error for unreadable
documents.
"""

from typing import Any, NamedTuple

PROTECTED = "it is protected by a password."


class PagePart(NamedTuple):
    """A part of a document's text."""

    text: str
    mark: str = ""
    """The line that precedes a page in the whole text, or "" if the part continues a page or the
    format has no pages.
    """
    page: int = 0
    """The number of the page, slide, sheet or chapter, from 1, or 0 if the format has none."""
    title: str = ""

    @property
    def marked(self) -> str:
        return "\n".join(filter(None, (self.mark, self.text)))

    def shortened(self, most: int) -> "PagePart":
        """Return the part, truncated so that its mark and text together have up to `most`
        characters.
        """
        if len(self.marked) <= most:
            return self
        room = most - len(self.mark) - 1 if self.mark else most
        return self._replace(text=self.text[: max(room, 0)], mark=self.mark[:most])


class UnreadableDocument(Exception):
    """Raised if a document cannot be read. The message completes a sentence that begins with the
    document's name.
    """


def requested_pages(order: dict[str, Any], count: int, noun: str) -> range:
    """Return the numbers of the requested pages, from 1, and store `count`, the number of all
    pages, in `order["total"]`.

    `noun` is the word for the pages in messages. Raises `UnreadableDocument` if none of the
    requested pages exists.
    """
    order["total"] = count
    if not order["pages"]:
        return range(1, count + 1)
    first, after = order["pages"]
    found = range(max(first, 1), min(after, count + 1))
    if not found:
        raise UnreadableDocument(f"it has {count:,} {noun}s.")
    return found
