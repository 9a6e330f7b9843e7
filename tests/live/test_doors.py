from __future__ import annotations

import pytest

from apps.live import doors
from apps.live.run_summary import RunSummary


def test_a_door_has_its_label_in_the_admin_without_a_migration(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doors, "LABELS", {**doors.LABELS, "lines": "JSON lines"})

    assert RunSummary(door="lines").get_door_display() == "JSON lines"
    assert RunSummary(door="core").get_door_display() == "DIAL Core"
