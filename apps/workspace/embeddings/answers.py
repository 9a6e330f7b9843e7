"""Answers of OpenAI-compatible embedding services, of which nothing is taken on trust."""

import base64
import binascii
from typing import Any

import msgspec
import numpy as np

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.embeddings.vectors import Vectors, unit_rows

MOST_DIMENSIONS = 16_384
MOST_TOKENS = 10**12
"""A larger number is no count of tokens; databases would refuse it."""


class Item(msgspec.Struct, gc=False):
    """`embedding` is a list of numbers, or 32-bit floats in base64."""

    embedding: list[float] | str
    index: int


class EmbeddingsAnswer(msgspec.Struct, gc=False):
    data: list[Item]
    usage: Any = None


def read_answer(body: bytes, count: int, model: str) -> Embeddings:
    """The embeddings of `count` texts, in the order of the texts. Raises `ServiceFailed`."""
    try:
        answer = msgspec.json.decode(body, type=EmbeddingsAnswer)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise not_understood("it is not what the embeddings API describes") from error
    return Embeddings(model, read_vectors(answer, count), (0.0,) * count, tokens_of(answer.usage))


def read_vectors(answer: EmbeddingsAnswer, count: int) -> Vectors:
    """Raises `ServiceFailed`."""
    if sorted(item.index for item in answer.data) != list(range(count)):
        found = len(answer.data)
        raise not_understood(f"it has {found} vectors for {count} texts, or wrong indexes")
    rows = [read_vector(item.embedding) for item in sorted(answer.data, key=lambda i: i.index)]
    if len({len(row) for row in rows}) > 1:
        raise not_understood("its vectors have different lengths")
    if not 0 < len(rows[0]) <= MOST_DIMENSIONS:
        raise not_understood(f"its vectors have {len(rows[0])} dimensions")
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise not_understood("its vectors have members that are no finite numbers")
    return unit_rows(vectors)


def read_vector(written: list[float] | str) -> Vectors:
    """Raises `ServiceFailed`."""
    if isinstance(written, list):
        with np.errstate(over="ignore"):  # becomes infinite, which is refused
            return np.array(written, np.float32)
    try:
        return np.frombuffer(base64.b64decode(written, validate=True), "<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise not_understood("a vector is not base64 of 32-bit floats") from error


def tokens_of(usage: Any) -> int:
    found = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return found if type(found) is int and 0 <= found <= MOST_TOKENS else 0


def not_understood(why: str) -> ServiceFailed:
    return ServiceFailed(
        f"The answer of the embeddings service is not understood: {why}.", reason="answer"
    )
