"""The pieces of a document, the pages that are wanted, and the error for one that cannot be read."""

from typing import Any, NamedTuple

PROTECTED = "it is protected by a password."


class Part(NamedTuple):
    """A piece of the text of a document.

    `mark` is the line that tells readers of the whole text where a page begins, "" inside of one.
    `page` is the number of the page, slide, sheet or chapter, from 1, and 0 where there are none;
    `title` its own name, "" for none.
    """

    text: str
    mark: str = ""
    page: int = 0
    title: str = ""

    @property
    def marked(self) -> str:
        return "\n".join(filter(None, (self.mark, self.text)))

    def shortened(self, most: int) -> "Part":
        """The part with at most so many characters of its marked text."""
        if len(self.marked) <= most:
            return self
        room = most - len(self.mark) - 1 if self.mark else most
        return self._replace(text=self.text[: max(room, 0)], mark=self.mark[:most])


class Unreadable(Exception):
    """The text continues a sentence that names the document: "it is …"."""


def wanted_pages(order: dict[str, Any], count: int, noun: str) -> range:
    """The numbers of the wanted pages, from 1; `order["total"]` is set to the number of all.

    Raises `Unreadable` when there is none of the wanted ones.
    """
    order["total"] = count
    if not order["pages"]:
        return range(1, count + 1)
    first, after = order["pages"]
    found = range(max(first, 1), min(after, count + 1))
    if not found:
        raise Unreadable(f"it has {count:,} {noun}s.")
    return found
