"""The pages of a document that are wanted, and the error for one that cannot be read."""

from typing import Any


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
