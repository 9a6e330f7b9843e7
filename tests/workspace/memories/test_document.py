"""G-21: the file of memories."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import jsonschema
import numpy as np
import pytest

from apps.workspace.memories import document
from apps.workspace.memories.document import (
    parse_memories,
    read_import,
    write_export,
    write_memories,
)
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.port import MemoryItem, MemoryList
from tests.contract import proves

NOW = datetime(2026, 3, 24, 12, tzinfo=UTC)
SCHEMA = {
    "type": "object",
    "required": ["memories", "updated_at", "last_deduplicated_at"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["data", "embedding"],
                "properties": {
                    "data": {
                        "type": "object",
                        "required": ["id", "content", "importance", "category", "topics"],
                        "properties": {
                            "id": {"type": "integer"},
                            "content": {"type": "string", "minLength": 1},
                            "importance": {"type": "number", "minimum": 0, "maximum": 1},
                            "category": {"type": "string"},
                            "topics": {"type": "array", "items": {"type": "string"}},
                        },
                        "additionalProperties": False,
                    },
                    "embedding": {
                        "type": "array",
                        "items": {"type": "number"},
                        "minItems": 384,
                        "maxItems": 384,
                    },
                },
            },
        },
        "updated_at": {"type": "string"},
        "last_deduplicated_at": {"type": ["string", "null"]},
    },
}


def filled(count: int = 3) -> MemoryList:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = tuple(MemoryItem(n, f"Fact {n}", 0.5, "work", ("a", "b")) for n in range(count))
    return MemoryList(memories, vectors, "hashed", NOW)


@proves("G-21")
def test_what_is_written_has_the_form_and_is_read_again():
    content = write_memories(filled(), NOW)
    jsonschema.validate(json.loads(content), SCHEMA)

    found = parse_memories(content)
    assert found.memories == filled().memories
    assert (found.model, found.deduplicated_at) == ("hashed", NOW)
    np.testing.assert_allclose(found.vectors, filled().vectors, atol=1e-7)
    assert b" " not in content.replace(b"Fact ", b"Fact")


@proves("G-21")
def test_a_new_file_was_never_searched_for_duplicates():
    assert json.loads(write_memories(MemoryList(), NOW)) == {
        "memories": [],
        "updated_at": "2026-03-24T12:00:00+00:00",
        "last_deduplicated_at": None,
        "embedding_model": "",
    }
    assert parse_memories(write_memories(MemoryList(), NOW)).memories == ()


@proves("G-21")
def test_a_file_that_somebody_else_wrote_is_read_and_its_ids_are_made_different():
    data = {"id": 7, "content": "One", "importance": 0.5, "category": "general", "topics": []}
    document = {
        "memories": [
            {"data": data, "embedding": [1.0] + [0.0] * 383},
            {"data": {**data, "content": "Other"}, "embedding": [0.0] * 384},
        ],
        "updated_at": "2025-01-01T12:00:00.123456",
        "last_deduplicated_at": "2025-01-01T12:00:00",
    }
    found = parse_memories(json.dumps(document, indent=2).encode())

    assert [(one.id, one.content) for one in found.memories] == [(7, "One"), (8, "Other")]
    assert found.model == ""  # its embeddings are recreated
    assert found.deduplicated_at == datetime(2025, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"memories": 1}', b'{"memories": [{"data": {"id": 1}}]}']
)
def test_a_file_of_another_form_is_refused(content):
    with pytest.raises(ValueError):  # noqa: PT011 - of whatever kind
        parse_memories(content)
    with pytest.raises(MemoryRefused, match="t a memory file"):
        read_import(content)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"importance": 3}, "memories[0].data.importance"),
        ({"content": " "}, "memories[0].data.content"),
        ({"id": -1}, "memories[0].data.id"),
        ({"id": 2**60}, "memories[0].data.id"),
        ({"topics": ["x" * 61]}, "memories[0].data.topics"),
    ],
)
def test_an_import_names_what_is_wrong_with_a_memory(change, path):
    data = {"id": 1, "content": "x", **change}
    with pytest.raises(MemoryRefused) as refused:
        read_import(json.dumps({"memories": [{"data": data}]}).encode())
    assert refused.value.field == path


def test_an_export_that_could_not_be_imported_has_no_vectors(monkeypatch: pytest.MonkeyPatch):
    collection = filled()
    small, whole = write_export(collection, NOW), write_memories(collection, NOW)
    monkeypatch.setattr(document, "IMPORT_BYTES", 1_000)

    large = write_export(collection, NOW)

    assert small == whole
    assert len(large) < 1_000
    assert [one.content for one in read_import(large)] == ["Fact 0", "Fact 1", "Fact 2"]
    assert (parse_memories(large).vectors.size, parse_memories(large).model) == (0, "")
