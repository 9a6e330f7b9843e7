"""Each section of the contract is proved by a test, and each marker names a section."""

from __future__ import annotations

import ast

from tests.contract.sections import SECTIONS, TESTS, marked, marked_scripts, proofs


def test_each_section_has_a_proof():
    found = proofs()

    assert [section for section in SECTIONS if section not in found] == []
    assert [section for section in found if section not in SECTIONS] == []
    assert len(set(SECTIONS)) == len(SECTIONS)


def test_the_sections_of_a_test_are_those_of_its_marker():
    code = """
@proves("D-06", "D-07")
@other("D-08")
def test_it(): ...

async def test_nothing(): ...
"""

    script = (
        '// @proves("D-06", "5")\ntest("it is so", async () => {});\ntest("nothing", () => {});'
    )

    assert [*marked(ast.parse(code))] == [("D-06", "test_it"), ("D-07", "test_it")]
    assert [*marked_scripts(script)] == [("D-06", "it is so"), ("5", "it is so")]


def test_each_difference_is_of_a_section_with_a_proof():
    rows = (TESTS / "contract" / "differences.md").read_text(encoding="utf-8").splitlines()
    sections = {row.split("|")[1].strip() for row in rows if row.startswith("| ")} - {"section"}

    assert sections - proofs().keys() == set()
