"""As much of a text as a result has room for."""

from __future__ import annotations

from apps.capabilities.wrappers.fences import fenced


def block(text: str, language: str, most_bytes: int, notice: str) -> str:
    """The text in a code block, in less than `most_bytes` of UTF-8.

    Of one that is too long, the notice and its beginning, to the end of a line.
    """
    whole = fenced(text, language)
    if size(whole) < most_bytes:
        return whole
    lead = f"{notice}\n\n"
    room = most_bytes - 1 - size(lead) - (size(whole) - size(text))
    head = beginning(text, room)
    return f"{lead}{fenced(head, language)}" if head else clipped(notice, most_bytes - 1)


def beginning(text: str, most_bytes: int) -> str:
    """Whole lines, or a part of the first one where that is longer; "" where there is no room."""
    head = clipped(text, most_bytes)
    lines, newline, _ = head.rpartition("\n")
    return lines if newline and lines.strip() else head


def clipped(text: str, most_bytes: int) -> str:
    if most_bytes <= 0:
        return ""
    return text[:most_bytes].encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
