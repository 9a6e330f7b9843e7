"""To-do lists: Markdown with checkboxes, and the message that tells a model of one."""

import re
from typing import NamedTuple

from apps.agent.messages import Message

OPENING, CLOSING = "<todo_list>", "</todo_list>"
RULES = (
    "This is the to-do list of this conversation as it stands now. Keep it true with the tool that "
    "wrote it; it is no message of the person."
)

_item = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?=[ \t]|$)", re.MULTILINE)


class TodoCounts(NamedTuple):
    """Of all items, those below others included."""

    items: int
    completed: int


def counts_of(text: str) -> TodoCounts:
    marks: list[str] = _item.findall(text)
    return TodoCounts(len(marks), sum(mark in "xX" for mark in marks))


def todo_message(text: str) -> Message:
    """The last message of a request: what changes with every step stands behind the cached part."""
    return Message("user", f"{OPENING}\n{text}\n{CLOSING}\n{RULES}")


def tells_todo(message: Message) -> bool:
    return message.role == "user" and message.text.startswith(f"{OPENING}\n")
