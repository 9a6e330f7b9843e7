"""Each feature works at each door and is proved by a test, or has a reason why it does not."""

from __future__ import annotations

import ast

from apps.doors.guides import load_guides
from tests.contract.features import DOORS, LACKS, PAGE, START, cells, proofs, render
from tests.contract.sections import marks


def test_each_cell_has_a_proof_or_a_reason():
    found = proofs()

    assert [cell for cell in cells() if cell not in found and cell not in LACKS] == []
    assert [cell for cell in cells() if cell in found and cell in LACKS] == []


def test_each_marker_and_each_reason_names_a_cell():
    known = {*cells()}

    assert [cell for cell in proofs() if cell not in known] == []
    assert [cell for cell in LACKS if cell not in known] == []


def test_the_doors_are_those_of_the_guides():
    guides = [guide.id for guide in load_guides()]

    assert [*DOORS] == [*(id for id in guides if id != "core"), "page"]


def test_the_page_shows_the_table():
    written = PAGE.read_text(encoding="utf-8")

    assert written.endswith(START + render()), "run `python -m tests.contract.features`"


def test_a_marker_has_a_door_and_its_features():
    code = """
@proves_feature("a2a", "text", "usage")
@proves_feature("mcp", "text")
@proves("D-06")
async def test_it(): ...
"""

    found = [*marks(ast.parse(code), "proves_feature")]

    assert found == [(["a2a", "text", "usage"], "test_it"), (["mcp", "text"], "test_it")]
