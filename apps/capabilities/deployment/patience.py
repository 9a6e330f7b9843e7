"""A model that may be silent only for so long, however long it talks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from apps.agent.model import Chunk, Model, ModelRequest
from apps.errors import ToolTimedOut


@dataclass(frozen=True, slots=True)
class PatientModel:
    """`name` is the tool's that waits."""

    model: Model
    name: str
    seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Chunk], None]:
        """Raises `ToolTimedOut`, and what the model raises."""
        async with aclosing(self.model.stream(request)) as batches:
            while True:
                try:
                    async with asyncio.timeout(self.seconds):
                        batch = await anext(batches, None)
                except TimeoutError:
                    raise ToolTimedOut(self.name, self.seconds) from None
                if batch is None:
                    return
                yield batch
