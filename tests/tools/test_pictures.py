"""The pictures of the docs can be taken again, and the docs show each of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.pictures.album import take_all

ROOT = Path(__file__).parents[2]
PICTURE = re.compile(r"images/([\w-]+\.png)")


@pytest.mark.full
@pytest.mark.slow("serves a site of its own and walks through its pages")
def test_every_picture_of_the_docs_is_taken_from_a_page_that_exists(tmp_path: Path):
    shown = {
        name
        for page in (*ROOT.glob("docs/*.md"), ROOT / "README.md")
        for name in PICTURE.findall(page.read_text())
    }

    take_all(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == shown
