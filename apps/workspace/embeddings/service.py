"""Requests embeddings from a service through OpenAI's embeddings API."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from apps.agent.backoff import Backoff
from apps.agent.surrogates import well_formed
from apps.errors import ServiceFailed
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.embeddings.vectors import (
    empty,
    join_embeddings,
    not_understood,
    read_embeddings,
    with_empty,
)

MOST_TEXTS = 64
MOST_CHARACTERS = 200_000
"""The maximum number of characters in a request. OpenAI's limit is 300,000 tokens."""
USUAL_WINDOW = 8_000
"""A text is truncated to this many tokens if the deployment sets no limit. Most models accept this
many.
"""
TRANSIENT = frozenset({429, 500, 502, 503, 504})
BACKOFF = Backoff(attempts=3, initial_delay=0.5, max_delay=5.0)


class EmbeddingService(Protocol):
    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """Send a request, and return the body of the response. Raises `ServiceFailed` unless the
        status is 2xx.
        """
        ...


@dataclass(frozen=True, slots=True)
class ServiceEmbedder:
    """An embedder that calls a service."""

    service: EmbeddingService
    model: str
    """The service's name for the model."""
    window: int = USUAL_WINDOW
    """The number of tokens to which each text is truncated."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are added to every request."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts. Texts without content get vectors of zeros and are not sent, because
        services reject them. Raises `ServiceFailed` if all attempts fail.
        """
        filled = [bool(text.strip()) for text in texts]
        cut = [shorten_to_tokens(well_formed(text), self.window) for text in texts if text.strip()]
        answers = [(await self.ask(batch), len(batch)) for batch in batches(cut)]
        # Parsing takes tens of milliseconds, and the first call imports NumPy.
        return await asyncio.to_thread(read_answers, answers, self.model, filled)

    async def ask(self, texts: Sequence[str]) -> bytes:
        """Send texts to the service, and retry after temporary failures. Raises `ServiceFailed` if
        all attempts fail.
        """
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
    is_broken = failure.reason == "connection" and not tls_problem(failure)
    return failure.status in TRANSIENT or is_broken


def shorten_to_tokens(text: str, most_tokens: int) -> str:
    """Truncate a text to about `most_tokens` tokens. Three ASCII characters count as one token; any
    other character counts as one token.
    """
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
    """Parse the responses of a service. Each item of `answers` contains the body of a response, and
    the number of texts in its request. Raises `ServiceFailed` if a response is invalid.
    """
    parts = [read_embeddings(body, count, model) for body, count in answers]
    if len({part.vectors.shape[1] for part in parts}) > 1:
        raise not_understood("vectors of one model have different lengths")
    return with_empty(join_embeddings(parts), filled) if parts else empty(model, len(filled))
