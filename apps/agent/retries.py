"""A model that is asked again when its service could not begin to answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from apps.agent.backoff import Backoff
from apps.agent.model import Chunk, Model, ModelRequest
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

BACKOFF = Backoff(attempts=3, initial_delay=0.5, max_delay=8.0)
"""Three: what most SDKs do. Half a second passes a hiccup of a proxy; beyond eight nobody waits."""


@dataclass(frozen=True, slots=True)
class RetriedModel:
    """Asks `model` again after a transient failure, as long as nothing of an answer has come.

    Wrap only what may be asked twice: a model has no side effects, an application may have.
    """

    model: Model
    name: str
    backoff: Backoff = BACKOFF
    wait: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Chunk], None]:
        """Raises the last `ModelFailed`."""
        attempt = 0
        while True:
            attempt += 1
            has_begun = False
            try:
                async with aclosing(self.model.stream(request)) as batches:
                    async for batch in batches:
                        has_begun = has_begun or any(map(says_something, batch))
                        yield batch
                return
            except ModelFailed as failure:
                if has_begun or not failure.is_transient or attempt >= self.backoff.attempts:
                    raise
                seconds = self.backoff.pause(attempt, failure.retry_after)
                tell(self.name, attempt, self.backoff.attempts, failure, seconds)
            await self.wait(seconds)


def says_something(chunk: Chunk) -> bool:
    """Whether something of the answer is in it: services begin with a chunk that is empty."""
    return chunk.usage is not None or any(
        choice.finish_reason
        or (
            choice.delta is not None
            and (choice.delta.content or choice.delta.tool_calls or choice.delta.custom_content)
        )
        for choice in chunk.choices
    )


def tell(name: str, attempt: int, attempts: int, failure: ModelFailed, seconds: float) -> None:
    logger.warning(
        "Model call failed and is tried again: deployment=%s attempt=%d of %d reason=%s "
        "status=%s pause=%.3f",
        name,
        attempt,
        attempts,
        failure.reason,
        failure.status,
        seconds,
    )
