"""The to-do list of a conversation, as its newest answer left it."""

from collections.abc import Mapping
from typing import Any

from apps.capabilities.todo.capability import TODO
from apps.chat.branches import path
from apps.chat.models import Conversation
from apps.runs.history import unseal


def todo_of(state: Mapping[str, Any]) -> str:
    """The list in the state of an answer, "" for none."""
    found = unseal(state).get(TODO)
    return found if isinstance(found, str) else ""


def current_todo(conversation: Conversation) -> str:
    answers = (row for row in reversed(path(conversation)) if row.role == "assistant")
    return next((todo_of(row.state) for row in answers if row.state), "")
