"""Defines a conversation's to-do list, which the model maintains and the page shows.

The list is part of each answer's state, so it needs no database row.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from apps.agent.events import TodoChanged
from apps.agent.messages import ModelMessage
from apps.agent.surrogates import well_formed
from apps.agent.todo_list import count_items, todo_message
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, Key, Open, Opening
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    show_result,
    text_parameter,
)
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest

TOOL_NAME = "manage-todo"
TODO = "todo_list"
"""The key for the to-do list in the conversation's state."""
MOST_CHARACTERS = 10_000
DESCRIPTION = """Stores the one to-do list of this conversation, which the user sees next to it. Write it \
before work with several steps, and again after each step: a list replaces the whole previous \
one. Items are Markdown with checkboxes, "- [ ] open" and "- [x] done", indented below another \
item if they are parts of it. An empty text removes the list. Each result has the current list."""
EMPTY = "There is no to-do list."
PARAMETERS = parameters(
    {
        "operation": text_parameter(
            "`write` replaces the list, `read` returns it.", enum=("write", "read")
        ),
        "text": text_parameter("The complete new list. Required for `write`."),
    },
    "operation",
)


@dataclass(slots=True)
class TodoTools:
    """The to-do list of a run's conversation, in Markdown."""

    text: str


LIST = Key[TodoTools]("to-do list")


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.todo if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    # Writing the same list twice changes nothing.
    declared = PlatformTool(
        TOOL_NAME, DESCRIPTION, PARAMETERS, gettext_lazy("To-do list"), "read-only"
    )
    tool = internal_tool(manifest, declared, manage)

    def open_todo(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        todo = opening.findings[LIST] = TodoTools(stored_list(opening))
        store_list(opening, todo)

        async def append_list(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
            return [*messages, todo_message(todo.text)] if todo.text else messages

        return nullcontext(Contribution((tool.bind(opening),), view=(append_list,)))

    return open_todo


def stored_list(opening: Opening) -> str:
    # The state comes from the client and is untrusted.
    found = opening.conversation.state.get(TODO)
    return well_formed(found[:MOST_CHARACTERS]) if isinstance(found, str) else ""


def store_list(opening: Opening, todo: TodoTools) -> None:
    if todo.text:
        opening.conversation.saved[TODO] = todo.text
    else:
        opening.conversation.saved.pop(TODO, None)


async def manage(opening: Opening, invocation: Invocation) -> ToolResult:
    """Read or replace the to-do list. Raises `InvalidParameter` if the new list is invalid."""
    todo = opening.findings[LIST]
    if invocation.arguments["operation"] == "write":
        todo.text = read_text(invocation.arguments.get("text"))
        store_list(opening, todo)
        opening.emit(TodoChanged(todo.text))
    items, completed = count_items(todo.text)
    counted = f"{items} {'item' if items == 1 else 'items'}, {completed} completed."
    show_result(invocation, f"{todo.text or EMPTY}\n\n{counted}")
    if invocation.arguments["operation"] == "write":
        return ToolResult(counted, "text/plain")
    return ToolResult(f"{counted}\n\n{todo.text}" if todo.text else EMPTY)


def read_text(text: object) -> str:
    """Return the to-do list in the arguments. Raises `InvalidParameter` if it is missing or too
    long.
    """
    if not isinstance(text, str):
        raise InvalidParameter("text", "it is missing. Write the whole list, or an empty string.")
    if len(text) > MOST_CHARACTERS:
        problem = f"it has {len(text):,} characters; the limit is {MOST_CHARACTERS:,}."
        raise InvalidParameter("text", f"{problem} Leave out finished items.")
    return well_formed(text.strip("\n").rstrip())


todo = Capability("todo", frozenset({"features.todo"}), prepare)
