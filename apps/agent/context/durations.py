"""Limits the number of turns for which tool results are sent to the model.

Only requests change. The results remain in the conversation, and users see them.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import msgspec

from apps.agent.injection import is_injected
from apps.agent.messages import ModelMessage, ToolCall

SHOWN_ONLY = "[The result was shown to the user and is not for the model.]"
"""The text that replaces a result with duration 0 in its own turn. Without any result, the model
would repeat the call.
"""


class Durations(msgspec.Struct, frozen=True):
    """The number of turns for which the results of each tool are sent: 1 means only in the turn of
    the call, 0 never, and None always. `default` applies to tools without a number of their own.
    """

    by_tool: Mapping[str, int | None] = {}
    default: int | None = None

    def of(self, tool: str) -> int | None:
        return self.by_tool.get(tool, self.default)

    def is_over(self, call: ToolCall, age: int) -> bool:
        """Return True if the call's result is no longer sent. `age` is the number of turns since
        the call.
        """
        duration = self.of(call.name)
        return duration is not None and 0 < age >= duration and not is_injected(call)

    def is_hidden(self, call: ToolCall) -> bool:
        return self.of(call.name) == 0 and not is_injected(call)


FOR_EVER = Durations()


def sent_within(messages: Sequence[ModelMessage], durations: Durations) -> Sequence[ModelMessage]:
    """Return the messages without expired tool results and their calls."""
    found: list[ModelMessage] = []
    gone: Set[str] = frozenset()
    hidden: Set[str] = frozenset()
    age = sum(message.role == "user" for message in messages)
    for message in messages:
        if message.role == "user":
            age -= 1
        if message.tool_calls:
            gone = {call.id for call in message.tool_calls if durations.is_over(call, age)}
            hidden = {call.id for call in message.tool_calls if durations.is_hidden(call)} - gone
            left = tuple(call for call in message.tool_calls if call.id not in gone)
            if not left:
                continue
            message = replace(message, tool_calls=left) if gone else message
        elif message.tool_call_id in gone:
            continue
        elif message.tool_call_id in hidden:
            message = replace(message, content=SHOWN_ONLY, attachments=())
        found.append(message)
    return found
