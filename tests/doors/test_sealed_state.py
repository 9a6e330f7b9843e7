"""The state of an answer is encrypted so that only this installation can read it."""

from __future__ import annotations

import pytest

from apps.doors.sealed_state import sealed, unsealed


def test_a_sealed_state_is_read_again():
    assert unsealed(sealed({"k": 1})) == {"k": 1}


@pytest.mark.parametrize("text", ["", "another", "é", "gAAAA\0"])
def test_the_text_of_another_service_is_no_state(text):
    assert unsealed(text) == {}
