"""Weights of a model in a file of the safetensors format."""

import hashlib
import json
import mmap
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[np.float32]


def read_weights(path: Path, sha256: str) -> Mapping[str, Tensor]:
    """Every tensor of 32-bit floats, by name.

    They are views of the mapped file, which all processes share. Raises `OSError`, and
    `ValueError` for a file with another hash.
    """
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise ValueError(f"{path.name} is not the file that is expected.")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # Eight bytes with the length of a JSON header, the header, and the tensors one after another.
    start = 8 + int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8:start])
    return {
        name: np.frombuffer(mapped, np.float32, size(entry), start + entry["data_offsets"][0])
        .reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }  # fmt: skip


def size(entry: Mapping[str, list[int]]) -> int:
    """The number of floats."""
    begin, end = entry["data_offsets"]
    return (end - begin) // 4
