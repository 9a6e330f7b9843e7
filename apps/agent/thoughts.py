"""What a model thinks before it calls tools, given back to it in its next calls.

It is never part of an answer. Services that let a model think between its calls of tools want to
read what it thought with each of those calls again: DeepSeek refuses a conversation without it,
in later turns as well and if it was empty; vLLM, Kimi, GLM and OpenRouter answer better with it.
Others refuse a key that is not theirs (Groq), so it goes back under the name that it came with and
only to the deployment that it came from; a service that refuses it all the same is asked without.
Where no tools were called, no service wants it back.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from apps.agent.messages import Message
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

REFUSALS = frozenset({400, 422})


async def own_thoughts(deployment: str, messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation without what other deployments thought: a step before each call."""
    return [
        message
        if message.thoughts is None or message.thoughts.deployment in ("", deployment)
        else replace(message, thoughts=None)
        for message in messages
    ]


async def forget(failure: ModelFailed, messages: Sequence[Message]) -> Sequence[Message] | None:
    """A recovery: the conversation without thoughts, if they may be what was refused."""
    if failure.status not in REFUSALS or all(message.thoughts is None for message in messages):
        return None
    logger.warning("The model's service may refuse thoughts that it is given back")
    return [replace(message, thoughts=None) for message in messages]
