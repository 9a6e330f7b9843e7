"""The demo model quotes the excerpts of documents that it gets."""

from __future__ import annotations

import pytest

from apps.agent.messages import ModelMessage
from apps.agent.model import ModelRequest
from apps.demo.documents import INTRODUCTION
from apps.demo.model import answer_to

LEASE = (
    'How long is the notice period?\n\n<excerpt number="1" source="a.txt, page 1">\n'
    "The rent is due on Mondays. It is 5 &lt; 6. Pets are not allowed.\n</excerpt>\n\n"
    '<excerpt number="2" source="b.txt">\nGo.\nThe notice\nperiod is long! Bye\n</excerpt>'
)


@pytest.mark.parametrize(
    ("asked", "quoted"),
    [
        (LEASE, ["- The notice period is long! [2]"]),
        (LEASE.replace("notice\nperiod", "notice\n\nperiod"), ["- The notice [2]"]),
        (
            LEASE.replace("How long is the notice period?", "6?"),
            ["- The rent is due on Mondays. [1]"],
        ),
        (
            LEASE.replace("notice period?", "notice of rent?"),
            ["- The rent is due on Mondays. [1]", "- The notice period is long! [2]"],
        ),
    ],
)
def test_the_sentences_that_share_most_words_are_quoted_with_their_numbers(asked, quoted):
    answer = answer_to(ModelRequest([ModelMessage("system", "Do."), ModelMessage("user", asked)]))

    assert answer == "\n".join([INTRODUCTION, "", *quoted])


def test_a_question_without_excerpts_is_answered_as_any_other():
    assert INTRODUCTION not in str(
        answer_to(ModelRequest([ModelMessage("user", "Who is <excerpt >?")]))
    )
