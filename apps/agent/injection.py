"""Adds pairs of a tool call and its result to conversations, as if the model had made the call.

The calls' IDs are hashes of the content. They are the same in every request, so pairs from earlier
requests are recognized.
"""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import msgspec

from apps.agent.messages import Attachment, ModelMessage, ToolCall

LONGEST_ID = 40
"""The maximum length of a tool call ID. OpenAI rejects longer ones."""
DIGITS = 7
"""The number of hexadecimal digits in each of an ID's two hashes."""

Frequency = Literal["always", "append_if_changed", "refresh_if_changed"]
"""`always` adds a pair at the end of every request. `append_if_changed` and `refresh_if_changed`
add it only if the content has changed: the first at the end, the second in place of the old pair.
"""


@dataclass(frozen=True)
class Injection:
    """A tool call and its result to add to a conversation. If `content` is None, nothing is
    added.
    """

    tool: str
    arguments: Mapping[str, Any]
    content: str | None
    frequency: Frequency
    identity: str | None = None
    """A text that distinguishes the pair from the tool's other pairs, or None to use the arguments.
    """
    attachments: tuple[Attachment, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def prefix(self) -> str:
        """Return the prefix that the IDs of all versions of this pair have in common."""
        identity = arguments_text(self.arguments) if self.identity is None else self.identity
        return f"{prefix_of(self.tool)}{digest(identity)}_"

    @cached_property
    def first(self) -> tuple[ModelMessage, ModelMessage]:
        """Return the pair for a conversation that contains no earlier version of it."""
        content = self.content or ""
        return pair(self, f"{self.prefix}{digest(content)}", content)


def prefix_of(tool: str) -> str:
    """Return the prefix for the call IDs of the tool's pairs. Pairs with the frequency `always`
    have a different prefix.
    """
    length = LONGEST_ID - 2 * DIGITS - 2
    return f"{f'synth_{tool}'[:length]}_"


def inject(
    messages: Sequence[ModelMessage], injection: Injection, index: int | None = None
) -> Sequence[ModelMessage]:
    """Add the pair to the messages. If they already contain the pair, return the same object.

    The first version of a pair is inserted at `index`, or after the first question if `index` is
    None.
    """
    content = injection.content
    if content is None:
        return messages
    if injection.frequency == "always":
        return (*messages, *pair(injection, f"synth_{random.getrandbits(96):024x}", content))
    prefix = injection.prefix
    earlier = [
        index
        for index, message in enumerate(messages)
        if message.tool_calls
        for call in message.tool_calls
        if call.id.startswith(prefix)
    ]
    if not earlier:
        first = after_first_question(messages) if index is None else index
        return insert_pair(messages, first, injection, content, 0)
    newest = earlier[-1]
    if result_of(messages, newest) == content:
        return messages
    if injection.frequency == "refresh_if_changed":
        rest = [*messages[:newest], *messages[newest + 2 :]]
        return insert_pair(rest, newest, injection, content, 0)
    return insert_pair(messages, len(messages), injection, content, len(earlier))


def without_pairs(messages: Sequence[ModelMessage], tool: str) -> Sequence[ModelMessage]:
    """Return the messages without the tool's pairs, except those with the frequency `always`."""
    prefix = prefix_of(tool)
    return [message for message in messages if not is_of(message, prefix)]


def is_of(message: ModelMessage, prefix: str) -> bool:
    if message.tool_call_id is not None:
        return message.tool_call_id.startswith(prefix)
    return bool(message.tool_calls) and message.tool_calls[0].id.startswith(prefix)


def insert_pair(
    messages: Sequence[ModelMessage], index: int, injection: Injection, content: str, version: int
) -> Sequence[ModelMessage]:
    # Content can change and later change back. The version makes it a new pair.
    if version:
        new = pair(injection, f"{injection.prefix}{digest(f'{version} {content}')}", content)
    else:
        new = injection.first
    return (*messages[:index], *new, *messages[index:])


def pair(injection: Injection, call_id: str, content: str) -> tuple[ModelMessage, ModelMessage]:
    call = ToolCall(call_id, injection.tool, arguments_text(injection.arguments))
    result = ModelMessage(
        "tool",
        content,
        tool_call_id=call_id,
        attachments=injection.attachments,
        state=injection.state,
    )
    return ModelMessage("assistant", tool_calls=(call,)), result


def after_first_question(messages: Sequence[ModelMessage]) -> int:
    asked = (index for index, message in enumerate(messages) if message.role == "user")
    first = next(asked, None)
    return len(messages) if first is None else first + 1


def result_of(messages: Sequence[ModelMessage], index: int) -> str | None:
    """Return the text of the result that follows the call at `index`, or None."""
    ids = {call.id for call in messages[index].tool_calls}
    following = messages[index + 1 : index + 2]
    return following[0].text if following and following[0].tool_call_id in ids else None


def arguments_text(arguments: Mapping[str, Any]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def is_injected(call: ToolCall) -> bool:
    return call.id.startswith("synth_")


_of_one_request = re.compile(r"synth_[0-9a-f]{24}")


def is_permanent(message: ModelMessage) -> bool:
    """Return True if the message belongs to an injected pair that stays in the conversation, that
    is, a pair whose frequency is not `always`.
    """
    call_id = message.tool_call_id
    if call_id is None:
        call_id = message.tool_calls[0].id if message.tool_calls else ""
    return call_id.startswith("synth_") and not _of_one_request.fullmatch(call_id)
