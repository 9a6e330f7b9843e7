"""Embeddings of a service that speaks OpenAI's embeddings API."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from apps.agent.backoff import Backoff
from apps.agent.surrogates import well_formed
from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embeddings

MOST_TEXTS = 64
MOST_CHARACTERS = 200_000
"""Of one request; OpenAI's limit is 300,000 tokens."""
USUAL_WINDOW = 8_000
"""Tokens of a text that most models read."""
TRANSIENT = frozenset({429, 500, 502, 503, 504})
BACKOFF = Backoff(attempts=3, initial_delay=0.5, max_delay=5.0)


class EmbeddingService(Protocol):
    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """The body of a 2xx answer. Raises `ServiceFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceEmbedder:
    """`model` is the model's name at the service, `window` the tokens of a text that it reads.

    `parameters` are sent with every request.
    """

    service: EmbeddingService
    model: str
    window: int = USUAL_WINDOW
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Raises `ServiceFailed`. A text without content, which services refuse, is not sent."""
        filled = [bool(text.strip()) for text in texts]
        cut = [shortened(well_formed(text), self.window) for text in texts if text.strip()]
        answers = [(await self.ask(batch), len(batch)) for batch in batches(cut)]
        # Reading takes tens of milliseconds, and the first time NumPy is imported.
        return await asyncio.to_thread(read_answers, answers, self.model, filled)

    async def ask(self, texts: Sequence[str]) -> bytes:
        """Repeated after passing failures: a text may be embedded twice. Raises `ServiceFailed`."""
        body = {**self.parameters, "model": self.model, "input": texts}
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self.service.ask({"encoding_format": "float", **body})
            except ServiceFailed as failure:
                pause = BACKOFF.pause(attempt, getattr(failure, "retry_after", None))
                if pause is None or not is_transient(failure):
                    raise
            await asyncio.sleep(pause)


def is_transient(failure: ServiceFailed) -> bool:
    return failure.status in TRANSIENT or failure.reason == "connection"


def shortened(text: str, most_tokens: int) -> str:
    """Cut to about that many tokens: three ASCII characters are one, and each other one is one."""
    if len(text) <= most_tokens:
        return text
    thirds = 0
    for place, character in enumerate(text):
        thirds += 1 if character.isascii() else 3
        if thirds > 3 * most_tokens:
            return text[:place]
    return text


def batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    starts, size = [0], 0
    for place, text in enumerate(texts):
        size += len(text)
        if place > starts[-1] and (size > MOST_CHARACTERS or place - starts[-1] == MOST_TEXTS):
            starts.append(place)
            size = len(text)
    return (texts[start:end] for start, end in pairwise([*starts, len(texts)]) if start < end)


def read_answers(
    answers: Sequence[tuple[bytes, int]], model: str, filled: Sequence[bool]
) -> Embeddings:
    """`answers` come with the number of their texts. Raises `ServiceFailed`."""
    from apps.workspace.embeddings.answers import not_understood, read_answer
    from apps.workspace.embeddings.vectors import empty, joined, with_empty

    parts = [read_answer(body, count, model) for body, count in answers]
    if len({part.vectors.shape[1] for part in parts}) > 1:
        raise not_understood("vectors of one model have different lengths")
    return with_empty(joined(parts), filled) if parts else empty(model, len(filled))
