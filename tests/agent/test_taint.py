"""Descriptions of the untrusted content that a conversation has read."""

import pytest

from apps.agent.messages import ModelMessage
from apps.agent.taint import CHARACTERS, MOST, Taint, recorded_taint
from tests.fakes import MemoryLedger


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


def test_each_new_source_is_recorded_once_for_the_next_attempt():
    ledger = MemoryLedger()
    taint = recorded_taint(ledger, (), None)
    for source in ("web page a.example", "web page a.example", "results of crm"):
        taint.add(source)

    again = recorded_taint(ledger, (), None)

    assert again.sources == ["web page a.example", "results of crm"]
    assert len(ledger.records) == 2


@pytest.mark.parametrize("told", [None, "web page a.example", {"a": 1}, [1, None, ["x"]], []])
def test_a_state_that_a_client_has_broken_tells_nothing(told):
    messages = [ModelMessage("assistant", "Yes.", state={"untrusted": told})]

    assert recorded_taint(MemoryLedger(), messages, None).sources == []


def test_every_earlier_answer_counts_and_what_a_program_has_sent():
    messages = [
        ModelMessage("user", "Hello", state={"untrusted": ["the webhook “Orders”"]}),
        ModelMessage("assistant", "Yes.", state={"untrusted": ["web page a.example"]}),
        ModelMessage("user", "And?"),
        ModelMessage("assistant", "No.", state={}),
    ]

    found = recorded_taint(MemoryLedger(), messages, None)

    assert found.sources == ["the webhook “Orders”", "web page a.example"]
