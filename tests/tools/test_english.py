from __future__ import annotations

from tools.english.patterns import PATTERNS, count, fragments
from tools.english.sentences import Sentence, comments, docstrings, front_end_comments, pages

MODULE = '''"""What a module is about."""

LIMIT = 5  # which nobody reaches
"""Of the rows."""


class Rows:
    """Offers rows."""

    def read(self):
        """Return those rows that stand beside it.

        For as long as it is there.
        """
'''


def made(root, module: str = MODULE):
    (root / "apps").mkdir()
    (root / "apps" / "rows.py").write_text(module)
    (root / "docs").mkdir()
    (root / "docs" / "page.md").write_text("# Rows\n\n```\nbeside\n```\nIt stands `beside` it.\n")
    return root


def test_docstrings_that_begin_with_a_fragment_are_found_with_their_lines(tmp_path):
    found = fragments(docstrings(made(tmp_path)))

    assert sorted(found) == [
        Sentence("apps/rows.py:1", "What a module is about."),
        Sentence("apps/rows.py:4", "Of the rows."),
    ]


def test_comments_of_scripts_and_styles_are_read_without_those_of_others(tmp_path):
    folder = tmp_path / "apps" / "rows" / "static" / "rows"
    (folder / "vendor").mkdir(parents=True)
    (folder / "vendor" / "library.js").write_text("// beside\n")
    (folder / "rows.css").write_text("/* Wide\n * pages. */\n.row { color: red; }\n")
    (folder / "rows.js").write_text('const site = "https://a.example";\n\n// Adds rows.\n')

    assert list(front_end_comments(tmp_path)) == [
        Sentence("apps/rows/static/rows/rows.css:1", "Wide pages."),
        Sentence("apps/rows/static/rows/rows.js:3", "Adds rows."),
    ]


def test_each_kind_of_wording_is_counted_once_in_a_sentence(tmp_path):
    found = count(docstrings(made(tmp_path)))

    hits = {"fragments": 2, "beside": 1, "stands": 1}
    assert found == {"sentences": 4} | dict.fromkeys(PATTERNS, 0) | hits


def test_comments_and_pages_are_read_without_code(tmp_path):
    root = made(tmp_path)

    assert list(comments(root)) == [Sentence("apps/rows.py:3", "which nobody reaches")]
    assert list(pages(root)) == [
        Sentence("docs/page.md:1", "# Rows"),
        Sentence("docs/page.md:6", "It stands `beside` it."),
    ]
