"""A model that is asked again when its service could not begin to answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from apps.agent.assembly import Assembly
from apps.agent.backoff import Backoff
from apps.agent.model import Model, ModelRequest
from apps.agent.replies import receive
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

BACKOFF = Backoff(attempts=3, initial_delay=0.5, max_delay=8.0)
"""Three: what most SDKs do. Half a second passes a hiccup of a proxy; beyond eight nobody waits."""
ONCE = replace(BACKOFF, attempts=1)
"""For what may have side effects."""


@dataclass(frozen=True, slots=True)
class Persistence:
    """Asks again after a transient failure, as long as nothing of an answer has come.

    Only for what may be asked twice: a model has no side effects, an application may have.
    """

    backoff: Backoff = BACKOFF
    wait: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def receive(
        self, model: Model, request: ModelRequest, assembly: Assembly, name: str
    ) -> None:
        """Feed the assembly everything that the model answers. Raises the last `ModelFailed`."""
        attempt = 0
        while True:
            attempt += 1
            try:
                await receive(model, request, assembly)
                return
            except ModelFailed as failure:
                pause = self.backoff.pause(attempt, failure.retry_after)
                if pause is None or assembly.has_begun or not failure.is_transient:
                    raise
                logger.warning(
                    "Model call failed and is tried again: deployment=%s attempt=%d of %d "
                    "reason=%s status=%s pause=%.3f",
                    name,
                    attempt,
                    self.backoff.attempts,
                    failure.reason,
                    failure.status,
                    pause,
                )
            await self.wait(pause)
