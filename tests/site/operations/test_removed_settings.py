"""Settings that are constants now."""

from __future__ import annotations

import re
from pathlib import Path

from quickapps_site.environment import VARIABLES
from quickapps_site.operations.removed_settings import REMOVED, removed_settings_are_not_set

ROOT = Path(__file__).parent.parent.parent.parent


def test_a_removed_setting_that_is_still_set_is_named(monkeypatch):
    monkeypatch.setenv("FILES_MAX_COUNT_PER_USER", "5")
    monkeypatch.setenv("CORPUS_DOCUMENTS_FILE", "/run/corpus")

    found = removed_settings_are_not_set()

    assert [(warning.id, warning.msg) for warning in found] == [
        ("quickapps.W006", "CORPUS_DOCUMENTS is set, but is no longer a setting."),
        ("quickapps.W006", "FILES_MAX_COUNT_PER_USER is set, but is no longer a setting."),
    ]


def test_the_docs_list_the_removed_settings():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## Removed settings")[2], re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"[A-Z][A-Z0-9_]+", row)]

    assert sorted(listed) == sorted(REMOVED)
    assert set(REMOVED) & VARIABLES.keys() == set()
