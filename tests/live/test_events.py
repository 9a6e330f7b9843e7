"""The serialized form of events, and texts that are joined and split at any number."""

from decimal import Decimal
from typing import Any, get_args
from uuid import uuid4

import pytest

from apps.agent import events as said
from apps.agent.events import ModelUsage, Usage
from apps.agent.ledger import InteractionRequest
from apps.agent.messages import Attachment, ToolCall
from apps.insights.answer_figures import AnswerFigures
from apps.live import events
from apps.live.events import (
    AnswerStored,
    BranchesChanged,
    CallCounted,
    InteractionResolved,
    NumberedEvent,
    QuestionAdded,
    RunFailed,
    RunResumed,
    StatusChanged,
    StreamEvent,
)

RUN, NEXT_RUN = uuid4(), uuid4()
CHART = Attachment("image/png", "Chart", url="files/user-7/chart.png")
KEPT: list[StreamEvent] = [
    said.TextDelta("12"),
    said.RefusalDelta("No."),
    said.Reasoning("t", "Hm."),
    said.StageOpened("a", "Clock", "b", True),
    said.StageRenamed("a", " (2)"),
    said.StageDelta("a", "12"),
    said.StageAttachment("a", CHART),
    said.StageClosed("a", 1.5, failed=True, excused=True),
    said.AttachmentAdded(CHART),
    said.AnnotationAdded({"id": "a", "n": [1]}),
    said.NoticeAdded("fallback", "B answered, because A was overloaded."),
    said.ToolCallsRequested((ToolCall("call-1", "look", "{}"),), frozenset({"look"})),
    said.TurnRestarted("So far", (CHART,), ({"id": "a"},)),
    said.InteractionRequested(InteractionRequest("t:1:0:c", "approval", {"tool": "rm"}), 12.5),
    said.SubagentStarted("t:1:0:c", "c", "Look around", "Researcher"),
    said.SubagentEnded("t:1:0:c", "done", 2, 1, 30, 4),
    said.TodoChanged("- [x] Look around"),
    said.Spent(Usage(1, 2, (ModelUsage("m", 1, 2),))),
    said.RunFinished("stop", Usage(1, 2)),
    QuestionAdded({"id": "1"}),
    BranchesChanged(),
    StatusChanged("running"),
    RunResumed(),
    InteractionResolved("t:1:0:c", "approval", {"outcome": "denied"}, "you", 12.5),
    RunFailed("No.", "ab12"),
    CallCounted(AnswerFigures(3, ("GPT",), {"USD": Decimal("0.0000001")}, is_priced=False)),
    AnswerStored({"id": "2"}),
]


def test_what_is_written_is_read_again(subtests: pytest.Subtests):
    for event in KEPT:
        with subtests.test(event=event):
            assert events.read(events.write(event)) == event


def test_all_events_but_one_are_kept():
    kept = {type(event) for event in KEPT}

    assert set(get_args(StreamEvent)) - kept == {said.StateSaved}
    assert kept == set(events.NAMES.values())


def text(number: int, words: str, run: Any = RUN) -> NumberedEvent:
    return number, run, said.TextDelta(words)


def stage(number: int, name: str, words: str) -> NumberedEvent:
    return number, RUN, said.StageDelta(name, words)


JOINED = [
    ([], []),
    ([text(1, "a")], [text(1, "a")]),
    ([text(1, "a"), text(2, "b"), text(3, "c")], [text(3, "abc")]),
    ([text(1, "a"), text(2, "b", NEXT_RUN)], None),
    ([stage(1, "s", "a"), stage(2, "s", "b")], [stage(2, "s", "ab")]),
    ([stage(1, "s", "a"), stage(2, "t", "b")], None),
    ([stage(1, "s", "a"), (2, RUN, said.Reasoning("s", "b"))], None),
    ([stage(1, "s", "a"), (2, RUN, said.StageRenamed("s", "b"))], None),
    ([text(1, "a"), stage(2, "s", "b"), text(3, "c")], None),
    ([text(1, "a"), (2, RUN, said.RefusalDelta("b"))], None),
    ([(1, RUN, StatusChanged("running")), text(2, "a")], None),
]


def test_only_texts_that_follow_each_other_are_joined(subtests: pytest.Subtests):
    for batch, joined in JOINED:
        with subtests.test(batch=batch):
            before = repr(batch)

            assert events.join_texts(batch) == (batch if joined is None else joined)
            assert repr(batch) == before


@pytest.mark.parametrize("event", [one for one in KEPT if isinstance(one, events.TEXTS)])
def test_a_text_is_as_long_as_it_has_characters_and_cut_at_any(event: Any):
    assert events.length(event) == len(event.text)
    assert events.after(event, 1) == events.with_text(event, event.text[1:])


STORABLE = [
    ("plain", "plain"),
    ("Grüße 🙂", "Grüße 🙂"),
    ("a\0b", "a\ufffdb"),
    ("half \ud83d", "half ?"),
    (
        {"a\0": ["\0", 1, None, {"b": ("\0",)}]},
        {"a\ufffd": ["\ufffd", 1, None, {"b": ["\ufffd"]}]},
    ),
    (1.5, 1.5),
]


def test_what_is_stored_has_only_characters_that_can_be(subtests: pytest.Subtests):
    for value, kept in STORABLE:
        with subtests.test(value=value):
            assert events.storable_value(value) == kept


def test_a_value_that_can_be_stored_is_not_copied():
    value = {"a": ["b", 1, None, {"c": ("Grüße 🙂",)}]}

    assert events.storable_value(value) is value
