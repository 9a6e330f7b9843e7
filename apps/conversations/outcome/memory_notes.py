"""Lists the memories that an answer has read or changed.

The list is built from the tool calls in the answer's state, because an application can hide its
steps.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from apps.agent.messages import ModelMessage
from apps.capabilities.wrappers.value_texts import one_line
from apps.runs.history import expand

ACTIONS = {
    "search_memories": "recalled",
    "search_memory": "recalled",
    "store_memory": "stored",
    "update_memory": "changed",
    "forget_memory": "forgotten",
    "delete_all_memories": "deleted",
}
"""Maps the names of memory tools to the actions that the list shows."""
MOST = 50
CHARACTERS = 300
"""A memory's text is truncated to this many characters. The memory page shows the whole text."""

_memory = re.compile(
    r"^(?:\d+\.|Stored:|Changed:|Forgotten:) "
    r'("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*") \(id \d+',
    re.MULTILINE,
)
"""Matches a line of a tool result that contains a memory as JSON."""
_all_deleted = re.compile(r"^All memories .* deleted\.")


def memory_notes(state: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the `action` and `text` of each distinct memory, in the order of the tool calls.
    `state` is the answer's state.
    """
    found = dict.fromkeys(read_notes(state))
    return [{"action": action, "text": text} for action, text in islice(found, MOST)]


def read_notes(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names: dict[str, str] = {}
    for message in expand([ModelMessage("assistant", state=state)]):
        names |= {call.id: call.name for call in message.tool_calls}
        action = ACTIONS.get(names.get(message.tool_call_id or "", ""))
        if message.role != "tool" or action is None:
            continue
        if action == "deleted":
            if _all_deleted.match(message.text):
                yield action, ""
            continue
        for quoted in _memory.findall(message.text):
            yield action, one_line(json.loads(quoted), CHARACTERS)
