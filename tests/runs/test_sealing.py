from __future__ import annotations

from typing import Any

import pytest

from apps.agent.messages import Message
from apps.runs.history import expand
from apps.runs.sealing import SEALED, seal, unseal

ROWS = {"rows": [{"index": 5}, {"index": 9}]}


def test_what_has_an_index_travels_as_text_and_the_rest_as_it_is():
    """§8.4."""
    sealed = seal({"orchestrator": ROWS, "clock": {"at": [1]}})

    assert sealed == {
        "clock": {"at": [1]},
        SEALED: '{"orchestrator":{"rows":[{"index":5},{"index":9}]}}',
    }
    assert unseal(sealed) == {"orchestrator": ROWS, "clock": {"at": [1]}}


def test_a_state_without_an_index_is_not_touched():
    state = {"orchestrator": {"rows": [{"number": 5}]}, "text": "index"}

    assert seal(state) == state
    assert unseal(state) == state


def test_a_conversation_is_read_with_what_was_sealed():
    answer = Message("assistant", "One.", state=seal({"orchestrator": ROWS}))

    assert expand([answer]) == [Message("assistant", "One.", model_state=ROWS)]


@pytest.mark.parametrize("spoilt", ["{", "[1]", "null", 5, None, ["{}"], "\ud800", "[" * 100_000])
def test_what_cannot_be_read_is_left_out(spoilt: Any):
    assert unseal({"a": 1, SEALED: spoilt}) == {"a": 1}
