"""What a model thinks before it answers or calls tools: read, kept for its next call, given back.

It is never part of an answer. Services that let a model think between its calls of tools want to
read what it thought with each of those calls again: DeepSeek refuses a conversation without it,
in later turns as well and if it was empty; vLLM, Kimi, GLM and OpenRouter answer better with it.
Others refuse a key that is not theirs (Groq), so it goes back under the name that it came with and
only to the deployment that it came from; a service that refuses it all the same is asked without.
Where no tools were called, nobody wants it back.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.messages import Message
from apps.agent.model import Delta
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

NAMES = ("reasoning_content", "reasoning", "thinking")
STATE = "model_reasoning"
"""The key in the state of a message that calls tools."""
DEPLOYMENT = "deployment"
"""Beside the thought; without it, a client of ours brought the thought and means this one."""
REFUSALS = frozenset({400, 422})


def thought_in(delta: Delta) -> tuple[str, str]:
    """A thought after its name; some services write it under two, some write nothing ("")."""
    written = [(name, getattr(delta, name)) for name in NAMES]
    texts = [(name, text) for name, text in written if isinstance(text, str)]
    return next((one for one in texts if one[1]), texts[0] if texts else ("", ""))


def kept(deployment: str, name: str, thoughts: str) -> dict[str, Any]:
    """The state to give back from; {} if the service has no name for thoughts."""
    return {STATE: {DEPLOYMENT: deployment, name: thoughts}} if name else {}


def given_back(message: Message, deployment: str) -> Message:
    """The message as the deployment wants to read it; clients may have written into its state."""
    found = message.state.get(STATE)
    if not isinstance(found, Mapping) or found.get(DEPLOYMENT, deployment) != deployment:
        return without(message)
    texts = {name: found[name] for name in NAMES if isinstance(found.get(name), str)}
    return replace(without(message), reasoning=texts)


async def forget(failure: ModelFailed, messages: Sequence[Message]) -> Sequence[Message] | None:
    """A recovery: the conversation without thoughts, if they may be what was refused."""
    if failure.status not in REFUSALS or not any(STATE in message.state for message in messages):
        return None
    logger.warning("The model's service may refuse thoughts that it is given back")
    return [without(message) for message in messages]


def without(message: Message) -> Message:
    if STATE not in message.state:
        return message
    state = {key: value for key, value in message.state.items() if key != STATE}
    return replace(message, state=state)
