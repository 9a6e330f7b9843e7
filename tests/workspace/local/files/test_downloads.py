from __future__ import annotations

import pytest

from apps.workspace.local.files.downloads import saved_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("in/a.txt", "a.txt"),
        ("in/U\u0308bersicht.txt", "\u00dcbersicht.txt"),
        ("in/gpj.\u202etxt", "gpj.txt"),
        ("\u2066a\u2069\u200eb.txt", "ab.txt"),
        ("in/\U0001f468\u200d\U0001f467.txt", "\U0001f468\u200d\U0001f467.txt"),
        ("in/\u202e", "file"),
    ],
)
def test_a_file_is_saved_without_marks_that_hide_its_ending(path, name):
    assert saved_name(path) == name
