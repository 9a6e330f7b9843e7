from __future__ import annotations

from typing import Any, get_args
from uuid import UUID, uuid4

import pytest

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    Finished,
    Reasoning,
    RefusalDelta,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment
from apps.chat.protocol import SSE_NAMES, encode, join, storable

RUN, NEXT_RUN = uuid4(), uuid4()
CHART = Attachment("image/png", "Chart", url="files/user-7/chart.png")


def said(number: int, run: UUID = RUN, **event: Any) -> tuple[int, UUID, dict[str, Any]]:
    return number, run, event


def text(number: int, words: str, run: UUID = RUN) -> tuple[int, UUID, dict[str, Any]]:
    return said(number, run, type="message.delta", text=words)


def stage(number: int, name: str, **fields: Any) -> tuple[int, UUID, dict[str, Any]]:
    return said(number, type="stage.delta", stage=name, **fields)


FRAMES: list[tuple[Event, dict[str, Any] | None]] = [
    (TextDelta("12"), {"type": "message.delta", "text": "12"}),
    (
        StageOpened("a", "Clock", "b"),
        {"type": "stage.opened", "stage": "a", "title": "Clock", "parent": "b"},
    ),
    (
        AnnotationAdded({"id": "a", "n": [1]}),
        {"type": "annotation.added", "annotation": {"id": "a", "n": [1]}},
    ),
    (Spent(Usage(1, 2)), None),
    (RefusalDelta("No."), {"type": "message.delta", "text": "No."}),
    (
        StageOpened("t", "Thinking", is_reasoning=True),
        {"type": "stage.opened", "stage": "t", "title": "Thinking", "parent": None},
    ),
    (Reasoning("t", "Hm."), {"type": "stage.delta", "stage": "t", "text": "Hm."}),
    (StageRenamed("a", " (2)"), {"type": "stage.delta", "stage": "a", "title": " (2)"}),
    (StageDelta("a", "12"), {"type": "stage.delta", "stage": "a", "text": "12"}),
    (
        StageAttachment("a", CHART),
        {
            "type": "stage.delta",
            "stage": "a",
            "attachment": {"type": "image/png", "title": "Chart", "url": CHART.url},
        },
    ),
    (
        StageClosed("a", 1.23456, failed=True),
        {"type": "stage.closed", "stage": "a", "failed": True, "seconds": 1.235},
    ),
    (
        StageClosed("a", 1.0, excused=True),
        {"type": "stage.closed", "stage": "a", "failed": True, "seconds": 1.0},
    ),
    (
        AttachmentAdded(CHART),
        {
            "type": "attachment.added",
            "attachment": {"type": "image/png", "title": "Chart", "url": CHART.url},
        },
    ),
    (ToolCallsRequested(()), None),
    (StateSaved({}), None),
    (Finished(), None),
]


@pytest.mark.parametrize(("event", "frame"), FRAMES)
def test_every_event_has_a_frame_or_is_not_shown(event: Event, frame: dict[str, Any] | None):
    assert encode(event) == frame


def test_every_event_is_among_these():
    missing = set(get_args(Event)) - {type(event) for event, _ in FRAMES}

    assert missing == set(), "each needs a line in FRAMES"


def test_every_frame_has_a_name_among_server_sent_events():
    types = {frame["type"] for _, frame in FRAMES if frame is not None}

    assert types - SSE_NAMES.keys() == set(), "each needs a name in SSE_NAMES"


@pytest.mark.parametrize(
    ("batch", "joined"),
    [
        ([], []),
        ([text(1, "a")], [text(1, "a")]),
        ([text(1, "a"), text(2, "b"), text(3, "c")], [text(3, "abc")]),
        ([text(1, "a"), text(2, "b", NEXT_RUN)], [text(1, "a"), text(2, "b", NEXT_RUN)]),
        ([stage(1, "s", text="a"), stage(2, "s", text="b")], [stage(2, "s", text="ab")]),
        ([stage(1, "s", text="a"), stage(2, "t", text="b")], None),
        ([stage(1, "s", text="a"), stage(2, "s", title="b")], None),
        ([stage(1, "s", title="a"), stage(2, "s", title="b")], None),
        ([text(1, "a"), stage(2, "s", text="b"), text(3, "c")], None),
        ([said(1, type="run.status", status="running"), text(2, "a")], None),
    ],
)
def test_only_texts_that_follow_each_other_are_joined(batch: list[Any], joined: list[Any] | None):
    before = repr(batch)

    assert list(join(batch)) == (batch if joined is None else joined)
    assert repr(batch) == before


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("plain", "plain"),
        ("Grüße 🙂", "Grüße 🙂"),
        ("a\0b", "a\ufffdb"),
        ("half \ud83d", "half ?"),
        (
            {"a\0": ["\0", 1, None, {"b": ("\0",)}]},
            {"a\ufffd": ["\ufffd", 1, None, {"b": ["\ufffd"]}]},
        ),
        (1.5, 1.5),
    ],
)
def test_what_is_stored_has_only_characters_that_can_be(value: Any, kept: Any):
    assert storable(value) == kept
