"""Descriptions of the untrusted content that a conversation has read."""

import pytest

from apps.agent.taint import CHARACTERS, MOST, Taint


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        ([], ""),
        (
            ["web page a.example"],
            "This conversation has read untrusted content: web page a.example.",
        ),
        (
            ["web page a.example", "web page a.example", "results of crm", "file 'x' of somebody"],
            "This conversation has read untrusted content: web page a.example, and 2 more.",
        ),
        (["one\n\n line\t"], "This conversation has read untrusted content: one line."),
        (["x" * 500], f"This conversation has read untrusted content: {'x' * (CHARACTERS - 1)}…."),
    ],
)
def test_the_first_source_is_named_and_the_others_are_counted(sources, reason):
    taint = Taint()

    for source in sources:
        taint.add(source)

    assert taint.reason == reason


def test_sources_are_limited_in_number():
    taint = Taint()

    for number in range(MOST + 5):
        taint.add(f"web page {number}.example")

    assert taint.state == {"untrusted": [f"web page {number}.example" for number in range(MOST)]}
