"""Runs the embedding model all-MiniLM-L6-v2, which has six layers of BERT. A text's vector is the
mean of the outputs for its tokens.

Tokens of several texts pass through the dense layers as rows of one matrix. Attention handles each
text separately, so nothing is padded or masked.
"""

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from apps import lazy_numpy as np
from apps.workspace.embeddings.port import Vectors
from apps.workspace.embeddings.wordpiece import WordPiece

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The checksum of the file with the weights."""
LAYERS = 6
HEADS = 12
DIMENSION = 384
MOST_TOKENS = 256
"""The number of tokens to which a text is truncated, including its start and end tokens. The model
was trained on texts up to this length.
"""
EPSILON = 1e-12

Tensor = Vectors
"""A NumPy array of any shape."""


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
        """Normalize each row to mean 0 and variance 1, then scale and shift it, all in place."""
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
        rows /= np.sqrt(variance + np.float32(EPSILON))[:, None]
        rows *= self.weight
        rows += self.bias
        return rows


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of BERT. `projection` computes queries, keys and values in one matrix product,
    which is faster than three products.
    """

    projection: Dense
    output: Dense
    first_norm: Norm
    widening: Dense
    narrowing: Dense
    second_norm: Norm

    def __call__(self, rows: Tensor, texts: Sequence[slice]) -> Tensor:
        """Apply the layer to the tokens of several texts. Each slice in `texts` selects the rows of
        one text.
        """
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
        """Return the IDs of a text's tokens, or [] for a text without content."""
        ids = self.wordpiece.encode(text, MOST_TOKENS - 2)
        return [self.wordpiece.ids["[CLS]"], *ids, self.wordpiece.ids["[SEP]"]] if ids else []

    def unknown_share(self, ids: Sequence[int]) -> float:
        return ids.count(self.wordpiece.ids["[UNK]"]) / (len(ids) - 2) if ids else 0.0

    def vectors(self, encoded: Sequence[Sequence[int]]) -> Tensor:
        """Return one row of length 1 for each text, or a row of zeros for a text without tokens."""
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
    """Compute the scaled dot-product attention of one text. The rows of `projected` contain
    queries, keys and values.
    """
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
"""Coefficients from Abramowitz and Stegun, 7.1.26, that approximate erf with an error of at most
1.5e-7.
"""


def gelu(rows: Tensor) -> Tensor:
    """Compute `x * (1 + erf(x / sqrt(2))) / 2`, in place."""
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
    """Read the model from a folder. Raises `OSError`, and `ValueError` if the files do not belong
    to all-MiniLM-L6-v2.
    """
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


def read_weights(path: Path, sha256: str) -> Mapping[str, Tensor]:
    """Return the tensors of 32-bit floats in a safetensors file, by name.

    The tensors are views of the mapped file, which all processes share. Raises `OSError`, and
    `ValueError` if the file does not have the hash `sha256`.
    """
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise ValueError(f"{path.name} is not the expected file.")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # The file consists of eight bytes with the header's length, a JSON header, and the tensors.
    start = 8 + int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8:start])
    return {
        name: np.frombuffer(mapped, np.float32, size(entry), start + entry["data_offsets"][0])
        .reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }  # fmt: skip


def size(entry: Mapping[str, list[int]]) -> int:
    """Return the number of 32-bit floats in a tensor. `entry` describes the tensor in the file's
    header.
    """
    begin, end = entry["data_offsets"]
    return (end - begin) // 4
