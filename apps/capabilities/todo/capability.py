"""One to-do list for each conversation, which the model keeps and the person sees ticked.

It travels in the state of the answers, so that it needs no row and belongs to whoever has the
conversation.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from apps.agent.events import TodoChanged
from apps.agent.messages import Message
from apps.agent.surrogates import well_formed
from apps.agent.todo_list import counts_of, todo_message
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, Key, Open, Opening
from apps.capabilities.wrappers.internal import (
    internal_tool,
    parameters,
    show_result,
    text_parameter,
)
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest

TOOL_NAME = "manage-todo"
TODO = "todo_list"
"""The key of the state with the list."""
MOST_CHARACTERS = 10_000
DESCRIPTION = """\
Keeps the one to-do list of this conversation, which the person sees beside it. Write it before work \
of several steps, and again after each step: a list replaces the whole one before it. Items are \
Markdown with checkboxes, "- [ ] open" and "- [x] done", indented below others where they are parts \
of them. An empty text removes the list. You are told the list as it stands each time."""
EMPTY = "There is no to-do list."
PARAMETERS = parameters(
    {
        "operation": text_parameter(
            "`write` replaces the list, `read` tells it.", enum=("write", "read")
        ),
        "text": text_parameter("The whole list, for `write`."),
    },
    "operation",
)


@dataclass(slots=True)
class Todo:
    """The list of one run's conversation, "" for none."""

    text: str


LIST = Key[Todo]("to-do list")


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.todo if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    spec = (TOOL_NAME, DESCRIPTION, PARAMETERS)
    # Written twice, a list is the same.
    tool = internal_tool(manifest, spec, manage, "To-do list", is_repeatable=True)

    def open_todo(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        todo = opening.known[LIST] = Todo(stored_list(opening))
        keep(opening, todo)

        async def tell(messages: Sequence[Message]) -> Sequence[Message]:
            return [*messages, todo_message(todo.text)] if todo.text else messages

        return nullcontext(Contribution((tool.bind(opening),), view=(tell,)))

    return open_todo


def stored_list(opening: Opening) -> str:
    # The state comes from the client, which may have written anything into it.
    found = opening.state.get(TODO)
    return well_formed(found[:MOST_CHARACTERS]) if isinstance(found, str) else ""


def keep(opening: Opening, todo: Todo) -> None:
    if todo.text:
        opening.saved[TODO] = todo.text
    else:
        opening.saved.pop(TODO, None)


async def manage(opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`."""
    todo = opening.known[LIST]
    if invocation.arguments["operation"] == "write":
        todo.text = read_text(invocation.arguments.get("text"))
        keep(opening, todo)
        opening.emit(TodoChanged(todo.text))
    items, completed = counts_of(todo.text)
    counted = f"{items} {'item' if items == 1 else 'items'}, {completed} completed."
    show_result(invocation, f"{todo.text or EMPTY}\n\n{counted}")
    if invocation.arguments["operation"] == "write":
        return ToolResult(counted, "text/plain")
    return ToolResult(f"{counted}\n\n{todo.text}" if todo.text else EMPTY)


def read_text(text: object) -> str:
    """Raises `InvalidParameter`."""
    if not isinstance(text, str):
        raise InvalidParameter("text", "it is missing. Write the whole list, or an empty text.")
    if len(text) > MOST_CHARACTERS:
        problem = f"it has {len(text):,} characters; at most {MOST_CHARACTERS:,} are possible."
        raise InvalidParameter("text", f"{problem} Leave out what is done.")
    return well_formed(text.strip("\n").rstrip())


todo = Capability("todo", frozenset({"features.todo"}), prepare)
