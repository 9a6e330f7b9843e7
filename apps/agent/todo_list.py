"""Counts the items of a Markdown to-do list, and creates the message that shows the list to the
model.
"""

import re
from typing import NamedTuple

from apps.agent.messages import ModelMessage

OPENING, CLOSING = "<todo_list>", "</todo_list>"
RULES = (
    "This is the to-do list of this conversation in its current state. Update it with the tool that "
    "wrote it. It is not a message from the user."
)

_item = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?=[ \t]|$)", re.MULTILINE)


class TodoCounts(NamedTuple):
    """The total number of items, and the number of finished items. Both include nested items."""

    items: int
    completed: int


def count_items(text: str) -> TodoCounts:
    marks: list[str] = _item.findall(text)
    return TodoCounts(len(marks), sum(mark in "xX" for mark in marks))


def todo_message(text: str) -> ModelMessage:
    """Return the message that shows the to-do list to the model. It is the last message of a
    request, because the list changes often and services cache the part of the request before it.
    """
    return ModelMessage("user", f"{OPENING}\n{text}\n{CLOSING}\n{RULES}")


def is_todo_message(message: ModelMessage) -> bool:
    return message.role == "user" and message.text.startswith(f"{OPENING}\n")
