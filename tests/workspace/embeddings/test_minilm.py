"""The built-in model compared with the libraries that it replaces.

The data were generated with sentence-transformers 6.2.0 (torch 2.13.0, transformers 5.23.0) and
tokenizers 0.23.3, with the files of the same package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apps.errors import ServiceFailed
from apps.workspace.embeddings import minilm
from apps.workspace.embeddings.built_in import load
from apps.workspace.embeddings.minilm import read_weights
from tests.tables import each_row

DATA = Path(__file__).parent / "data"


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


def test_vectors_are_those_of_sentence_transformers():
    model = load()

    vectors = model.vectors([model.encode(text) for text in read("sentences.json")])

    cosines = (vectors * np.load(DATA / "vectors.npy")).sum(axis=1)
    assert cosines.min() >= 0.99999
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@each_row(("text", "ids"), read("tokens.json"))
def test_tokens_are_those_of_tokenizers(text, ids):
    assert load().wordpiece.encode(text, 254) == ids


def test_half_a_character_is_no_token():
    wordpiece = load().wordpiece

    assert wordpiece.encode("a\ud83dd", 254) == wordpiece.encode("ad", 254)


def test_a_text_is_read_up_to_256_tokens():
    model = load()

    assert [len(model.encode("word " * count)) for count in (253, 254, 255, 1000)] == [
        255,
        256,
        256,
        256,
    ]


def test_a_file_that_was_changed_is_not_read(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"changed")

    with pytest.raises(ValueError, match=r"model\.safetensors is not the expected file\."):
        read_weights(tmp_path / "model.safetensors", minilm.SHA256)


def test_a_damaged_package_is_told_with_what_to_do(monkeypatch):
    monkeypatch.setattr(minilm, "SHA256", "0" * 64)

    with pytest.raises(
        ServiceFailed, match=r"Install the packages in this version\'s requirements-model\.txt"
    ):
        load.__wrapped__()
