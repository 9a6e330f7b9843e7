"""For how many turns a model is sent the results of its tools.

A filter of what is sent: the conversation keeps the results, and people are shown them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.agent.messages import Message

SHOWN_ONLY = "[The result was shown to the person and is not for the model.]"
"""Stands for a result of the duration 0 until the turn is over: without a result to its call, a
model would call again."""


def sent_within(messages: Sequence[Message], durations: Mapping[str, int]) -> Sequence[Message]:
    """The messages without results whose time is over, and without the calls that led to them.

    `durations` are turns by the name of a tool: 1 is the turn of the call, 0 never. Results of
    other tools stay.
    """
    if not durations:
        return messages
    ages, age = [0] * len(messages), 0
    for place in reversed(range(len(messages))):
        ages[place] = age
        age += messages[place].role == "user"
    found: list[Message] = []
    gone: set[str] = set()
    hidden: set[str] = set()
    for message, age in zip(messages, ages, strict=True):
        if message.tool_calls:
            gone = {call.id for call in message.tool_calls if is_over(durations, call.name, age)}
            hidden = {c.id for c in message.tool_calls if age == 0 == durations.get(c.name)}
            message = without_calls(message, gone) if gone else message
            if gone and not message.tool_calls:
                continue
        elif message.tool_call_id in gone:
            continue
        elif message.tool_call_id in hidden:
            message = replace(message, content=SHOWN_ONLY, attachments=())
        found.append(message)
    return found


def is_over(durations: Mapping[str, int], tool: str, age: int) -> bool:
    return age > 0 and age >= durations.get(tool, age + 1)


def without_calls(message: Message, gone: set[str]) -> Message:
    return replace(message, tool_calls=tuple(c for c in message.tool_calls if c.id not in gone))
