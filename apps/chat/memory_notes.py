"""What an answer has read of the memories of its person, and written, for the line under it.

It is read from the calls of tools that stand in the state of the answer, so that it is there
whatever stages an application shows.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from apps.agent.messages import Message
from apps.capabilities.wrappers.texts import one_line
from apps.runs.history import expand

ACTIONS = {
    "search_memories": "recalled",
    "search_memory": "recalled",
    "store_memory": "stored",
    "update_memory": "changed",
    "forget_memory": "forgotten",
    "delete_all_memories": "deleted",
}
"""By the name of the tool."""
MOST = 50
CHARACTERS = 300
"""Of one memory; all of it is on the page of memories."""

_memory = re.compile(
    r"^(?:\d+\.|Stored:|Changed:|Forgotten:) "
    r'("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*") \(id \d+',
    re.MULTILINE,
)
"""The content of a memory, as JSON, in a line of a result."""
_all_deleted = re.compile(r"^All memories .* deleted\.")


def memory_notes(state: Mapping[str, Any]) -> list[dict[str, str]]:
    """An `action` of `ACTIONS` and a `text` for each memory, in the order of the calls, each once."""
    found = dict.fromkeys(read_notes(state))
    return [{"action": action, "text": text} for action, text in islice(found, MOST)]


def read_notes(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names: dict[str, str] = {}
    for message in expand([Message("assistant", state=state)]):
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
