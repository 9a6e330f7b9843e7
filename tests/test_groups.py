"""Tests of a group run in one process, so what they share is made once."""

from __future__ import annotations

import pytest


def test_every_test_is_sent_with_its_group(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", False):
        pytest.skip("Tests are not distributed by groups.")

    sent = {item.nodeid.partition("@")[2] for item in request.session.items}

    assert "" not in sent
    assert "test_groups.py" in sent
