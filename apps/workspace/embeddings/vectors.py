"""Normalizes, joins and parses the vectors of texts."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import msgspec

from apps import lazy_numpy as np
from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embeddings, Vectors

MOST_DIMENSIONS = 16_384
MOST_TOKENS = 10**12
"""The highest plausible token count. Databases would reject larger numbers."""


def unit_rows(rows: Vectors) -> Vectors:
    """Scale each row to length 1. Rows of zeros remain unchanged."""
    # Lengths are computed in 64 bits, because the square of a large number overflows 32 bits.
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


def join_embeddings(parts: Sequence[Embeddings]) -> Embeddings:
    """Join the embeddings of several batches of texts. All vectors have the same dimension, because
    the same model computed them.
    """
    return Embeddings(
        parts[0].model,
        np.concatenate([part.vectors for part in parts]),
        tuple(share for part in parts for share in part.unknown_shares),
        sum(part.prompt_tokens for part in parts),
    )


def with_empty(embeddings: Embeddings, filled: Sequence[bool]) -> Embeddings:
    """Return the embeddings with rows of zeros added for texts without content. `filled` is True
    for each text that already has a row.
    """
    rows = np.zeros((len(filled), embeddings.vectors.shape[1]), np.float32)
    rows[np.array(filled, bool)] = embeddings.vectors
    return Embeddings(embeddings.model, rows, (0.0,) * len(filled), embeddings.prompt_tokens)


def empty(model: str, count: int) -> Embeddings:
    """Return embeddings for `count` texts without content. The rows have no columns, because the
    model's dimension is unknown.
    """
    return Embeddings(model, np.zeros((count, 0), np.float32), (0.0,) * count)


class EmbeddingItem(msgspec.Struct, gc=False):
    """An embedding in a response. `embedding` is a list of numbers, or 32-bit floats in base64."""

    embedding: list[float] | str
    index: int


class EmbeddingsAnswer(msgspec.Struct, gc=False):
    data: list[EmbeddingItem]
    usage: Any = None


def read_embeddings(body: bytes, count: int, model: str) -> Embeddings:
    """Return the embeddings in a response for `count` texts, in the order of the texts. Raises
    `ServiceFailed` if the response is invalid.
    """
    try:
        answer = msgspec.json.decode(body, type=EmbeddingsAnswer)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise not_understood("it does not match the embeddings API") from error
    return Embeddings(model, read_vectors(answer, count), (0.0,) * count, tokens_of(answer.usage))


def read_vectors(answer: EmbeddingsAnswer, count: int) -> Vectors:
    """Return the vectors in a parsed response. Raises `ServiceFailed` if the response is
    invalid.
    """
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
        raise not_understood("its vectors contain values that are not finite numbers")
    return unit_rows(vectors)


def read_vector(written: list[float] | str) -> Vectors:
    """Return a vector, given as a list of numbers or as base64 of 32-bit floats. Raises
    `ServiceFailed` if it is neither.
    """
    if isinstance(written, list):
        with np.errstate(over="ignore"):  # Overflow becomes infinity, which is rejected later.
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
        f"The response of the embeddings service is unreadable: {why}.", reason="answer"
    )
