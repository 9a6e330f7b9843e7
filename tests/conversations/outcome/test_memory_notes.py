"""The line under an answer that read or wrote memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from apps.capabilities.memory.tools import hits_text
from apps.conversations.outcome.memory_notes import CHARACTERS, MOST, memory_notes
from apps.workspace.memories.port import MemoryHit, MemoryItem
from tests.conversations.outcome.test_read_files import state as state_of


def state(*exchanges: tuple[str, str]) -> Mapping[str, Any]:
    """Return the state of an answer that called these tools, with their results."""
    return state_of(*((name, {}, text) for name, text in exchanges))


def test_an_answer_tells_what_it_read_and_wrote():
    hits = hits_text(
        [
            MemoryHit(MemoryItem(7, 'Likes "tea" (green)'), 0.9),
            MemoryHit(MemoryItem(8, "Lives\nin Riga"), 0),
        ]
    )
    stored = 'Stored: "Has a dog" (id 9; category "general"; importance 0.5)'
    changed = 'Changed: "Lives in Oslo" (id 8; category "general"; importance 0.5)'
    forgotten = 'Forgotten: "Likes tea" (id 7; category "general"; importance 0.5)'

    assert memory_notes(
        state(
            ("search_memories", f"{hits}\n\n[Timestamp: 2026-11-23 01:23:30 UTC]"),
            ("store_memory", stored),
            ("update_memory", changed),
            ("forget_memory", forgotten),
            ("delete_all_memories", "All memories about this user are deleted."),
        )
    ) == [
        {"action": "recalled", "text": 'Likes "tea" (green)'},
        {"action": "recalled", "text": "Lives in Riga"},
        {"action": "stored", "text": "Has a dog"},
        {"action": "changed", "text": "Lives in Oslo"},
        {"action": "forgotten", "text": "Likes tea"},
        {"action": "deleted", "text": ""},
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("search_memories", "There are no memories about this user yet."),
        ("store_memory", "Error: Parameter content is invalid: it says nothing."),
        ("delete_all_memories", "Error: The memories cannot be reached."),
        ("look_up", '1. "A price" (id 3; category "x")'),
        ("search_memories", '1. "broken \\x" (id 3)'),
    ],
)
def test_nothing_else_is_told(name, text):
    assert memory_notes(state((name, text))) == []


@pytest.mark.parametrize("broken", [{}, {"tool_execution_history": 7}, {"sealed": "{"}])
def test_a_state_that_cannot_be_read_tells_nothing(broken):
    assert memory_notes(broken) == []


def test_what_is_told_is_bounded_and_said_once():
    hits = hits_text([MemoryHit(MemoryItem(n, f"{n} {'x' * 5_000}"), 0.1) for n in range(80)])

    notes = memory_notes(state(("search_memories", hits), ("search_memory", hits)))

    assert len(notes) == MOST
    assert max(len(note["text"]) for note in notes) == CHARACTERS
