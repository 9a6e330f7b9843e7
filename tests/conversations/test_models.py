from __future__ import annotations

import pytest

from apps.conversations.models import LONGEST_TITLE, question_title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Hello", "Hello"),
        ("  two\n lines ", "two lines"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("word " * 20, "word " * 14 + "word word…"[:10]),
        ("a " + "x" * 100, "a…"),
        ("x" * 79 + " y", "x" * 79 + "…"),
    ],
)
def test_a_title_is_the_question_on_one_line_cut_at_a_word(question, title):
    assert question_title(question) == title
    assert len(question_title(question)) <= LONGEST_TITLE
