"""Pages are written for GitHub, and MkDocs renders them in the same way."""

from __future__ import annotations

from tests.tables import each_row
from tools.docs.github_markdown import on_page_markdown

PAGES = [
    ("Steps:\n1. One\n2. Two\n", "Steps:\n\n1. One\n2. Two\n"),
    ("- One\n  more\n- Two\n", "- One\n    more\n- Two\n"),
    ("1. One\n   - Nested\n", "1. One\n    - Nested\n"),
    ("- One\n\nText\n- Two\n", "- One\n\nText\n\n- Two\n"),
    ("```\nText:\n- One\n```\n", "```\nText:\n- One\n```\n"),
    ("| `a\\|b` | c |\n", "| `a|b` | c |\n"),
    ("[the unit](../deploy/unit.service)", "the unit (`deploy/unit.service`)"),
    ("[admin](admin.md#runs)", "[admin](admin.md#runs)"),
]


@each_row(("written", "read"), PAGES)
def test_lists_cells_and_links_to_the_repository_are_converted(written, read):
    assert on_page_markdown(written) == read
