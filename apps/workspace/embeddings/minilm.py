"""The model all-MiniLM-L6-v2: six layers of BERT, the mean of whose outputs is a text's vector.

Tokens of several texts go through the dense layers as rows of one matrix, and each text through
attention by itself, so nothing is padded or masked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from apps.workspace.embeddings.built_in import DIMENSION
from apps.workspace.embeddings.weights import Tensor, read_weights
from apps.workspace.embeddings.wordpiece import WordPiece

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the file with the weights."""
LAYERS = 6
HEADS = 12
MOST_TOKENS = 256
"""Of a text, with the one that begins and the one that ends it; the model was trained on no more."""
EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Dense:
    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        result: Tensor = rows @ self.weight.T
        result += self.bias
        return result


@dataclass(frozen=True, slots=True)
class Norm:
    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Each row with the mean 0 and the variance 1, then scaled and moved; in place."""
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
        rows /= np.sqrt(variance + np.float32(EPSILON))[:, None]
        rows *= self.weight
        rows += self.bias
        return rows


@dataclass(frozen=True, slots=True)
class Layer:
    """`projection` makes queries, keys and values in one product, which is quicker than three."""

    projection: Dense
    output: Dense
    first_norm: Norm
    widening: Dense
    narrowing: Dense
    second_norm: Norm

    def __call__(self, rows: Tensor, texts: Sequence[slice]) -> Tensor:
        """`texts` tell which rows belong to each text."""
        projected = self.projection(rows)
        attended = np.concatenate([attention(projected[text]) for text in texts])
        rows = self.first_norm(rows + self.output(attended))
        return self.second_norm(rows + self.narrowing(gelu(self.widening(rows))))


@dataclass(frozen=True, slots=True)
class MiniLM:
    wordpiece: WordPiece
    words: Tensor
    positions: Tensor
    norm: Norm
    layers: Sequence[Layer]

    def encode(self, text: str) -> list[int]:
        """The ids of a text's tokens; [] for a text without content."""
        ids = self.wordpiece.encode(text, MOST_TOKENS - 2)
        return [self.wordpiece.ids["[CLS]"], *ids, self.wordpiece.ids["[SEP]"]] if ids else []

    def unknown_share(self, ids: Sequence[int]) -> float:
        return ids.count(self.wordpiece.ids["[UNK]"]) / (len(ids) - 2) if ids else 0.0

    def vectors(self, encoded: Sequence[Sequence[int]]) -> Tensor:
        """One row of unit length for each text; zeros for a text without tokens."""
        vectors = np.zeros((len(encoded), DIMENSION), np.float32)
        if filled := [at for at, ids in enumerate(encoded) if ids]:
            vectors[filled] = self.means([encoded[at] for at in filled])
        return vectors

    def means(self, encoded: Sequence[Sequence[int]]) -> Tensor:
        ends = np.cumsum([0, *map(len, encoded)])
        texts = [slice(start, end) for start, end in pairwise(ends)]
        places = np.concatenate([self.positions[: len(ids)] for ids in encoded])
        rows = self.norm(self.words[np.concatenate(encoded)] + places)
        for layer in self.layers:
            rows = layer(rows, texts)
        means = np.stack([rows[text].mean(axis=0) for text in texts])
        unit: Tensor = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


def attention(projected: Tensor) -> Tensor:
    """Scaled dot-product attention of one text, whose rows are queries, keys and values."""
    count = len(projected)
    by_head = projected.reshape(count, 3, HEADS, -1).transpose(1, 2, 0, 3)
    queries, keys, values = by_head
    scores: Tensor = queries @ keys.transpose(0, 2, 1)
    scores *= np.float32(keys.shape[-1] ** -0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    np.divide(scores, scores.sum(axis=-1, keepdims=True), out=scores)
    result: Tensor = (scores @ values).transpose(1, 0, 2).reshape(count, -1)
    return result


ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
"""Abramowitz and Stegun, 7.1.26: erf with an error of at most 1.5e-7."""


def gelu(rows: Tensor) -> Tensor:
    """`x * (1 + erf(x / sqrt(2))) / 2`, in place."""
    size = np.abs(rows)
    size *= np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    tail = t * np.float32(ERF[0])
    for factor in ERF[1:]:
        tail += np.float32(factor)
        tail *= t
    size *= size
    np.negative(size, out=size)
    tail *= np.exp(size, out=size)  # 1 - erf(|x| / sqrt(2))
    # x/2 * (1 + erf) is x - x/2 * tail for positive x, and x/2 * tail for negative x.
    tail *= rows
    tail *= np.float32(0.5)
    np.maximum(rows, 0, out=rows)
    rows -= np.abs(tail, out=tail)
    return rows


def read_model(folder: Path) -> MiniLM:
    """Raises `OSError`, and `ValueError` for files that are not those of the model."""
    weights = read_weights(folder / "model.safetensors", SHA256)
    words = (folder / "vocab.txt").read_text("utf-8").splitlines()
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    return MiniLM(
        WordPiece({word: at for at, word in enumerate(words)}),
        weights["embeddings.word_embeddings.weight"],
        weights["embeddings.position_embeddings.weight"][:MOST_TOKENS] + kind,
        Norm(*parameters(weights, "embeddings.LayerNorm")),
        tuple(read_layers(weights)),
    )


def read_layers(weights: Mapping[str, Tensor]) -> Iterator[Layer]:
    for number in range(LAYERS):
        place = f"encoder.layer.{number}"
        projections = [
            parameters(weights, f"{place}.attention.self.{name}")
            for name in ("query", "key", "value")
        ]
        yield Layer(
            Dense(*map(np.concatenate, zip(*projections, strict=True))),
            Dense(*parameters(weights, f"{place}.attention.output.dense")),
            Norm(*parameters(weights, f"{place}.attention.output.LayerNorm")),
            Dense(*parameters(weights, f"{place}.intermediate.dense")),
            Dense(*parameters(weights, f"{place}.output.dense")),
            Norm(*parameters(weights, f"{place}.output.LayerNorm")),
        )


def parameters(weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
