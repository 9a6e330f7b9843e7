from __future__ import annotations

import json
from typing import Any, get_args
from uuid import UUID, uuid4

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Finished,
    HelperBegan,
    HelperEnded,
    InteractionRequested,
    Noticed,
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
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.ledger import Interaction
from apps.agent.messages import Attachment
from apps.chat.protocol import SSE_NAMES, FrameWriter, encode, list_refresh, server_sent_event
from apps.insights.answer_figures import AnswerFigures
from apps.live.events import (
    AnswerStored,
    BranchesChanged,
    CallCounted,
    Continued,
    InteractionResolved,
    NumberedEvent,
    QuestionAdded,
    RunFailed,
    StatusChanged,
    StreamEvent,
)
from tests.contract import proves

CHART = Attachment("image/png", "Chart", url="files/user-7/chart.png")
CHART_TOLD = {"type": "image/png", "title": "Chart", "url": CHART.url}


def frame(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


FRAMES: list[tuple[StreamEvent, dict[str, Any] | None]] = [
    (TextDelta("12"), frame("message.delta", text="12")),
    (StageOpened("a", "Clock", "b"), frame("stage.opened", stage="a", title="Clock", parent="b")),
    (
        AnnotationAdded({"id": "a", "n": [1]}),
        frame("annotation.added", annotation={"id": "a", "n": [1]}),
    ),
    (Noticed("n", "B answered."), frame("notice.added", notice="n", text="B answered.")),
    (Spent(Usage(1, 2)), None),
    (
        HelperBegan("t:1:0:c", "c", "Look around", "Scout"),
        frame("helper.began", key="t:1:0:c", stage="c", name="Look around", agent="Scout"),
    ),
    (HelperEnded("t:1:0:c", "stopped", 1), frame("helper.ended", key="t:1:0:c", status="stopped")),
    (TodoChanged("- [ ] a"), frame("todo.changed", text="- [ ] a")),
    (RefusalDelta("No."), frame("message.delta", text="No.")),
    (
        StageOpened("t", "Thinking", is_reasoning=True),
        frame("stage.opened", stage="t", title="Thinking", parent=None),
    ),
    (Reasoning("t", "Hm."), frame("stage.delta", stage="t", text="Hm.")),
    (StageRenamed("a", " (2)"), frame("stage.delta", stage="a", title=" (2)")),
    (StageDelta("a", "12"), frame("stage.delta", stage="a", text="12")),
    (StageAttachment("a", CHART), frame("stage.delta", stage="a", attachment=CHART_TOLD)),
    (
        StageClosed("a", 1.23456, failed=True),
        frame("stage.closed", stage="a", failed=True, seconds=1.235),
    ),
    (
        StageClosed("a", 1.0, excused=True),
        frame("stage.closed", stage="a", failed=True, seconds=1.0),
    ),
    (AttachmentAdded(CHART), frame("attachment.added", attachment=CHART_TOLD)),
    (
        TurnRestarted("So far", (CHART,), ({"id": "a"},)),
        frame(
            "answer.restarted", text="So far", attachments=[CHART_TOLD], annotations=[{"id": "a"}]
        ),
    ),
    (
        InteractionRequested(Interaction("t:1:0:c", "approval", {"tool": "rm"}), 12.5),
        frame(
            "interaction.requested", key="t:1:0:c", kind="approval", asked={"tool": "rm"}, due=12.5
        ),
    ),
    (
        InteractionResolved("t:1:0:c", "approval", {"outcome": "denied"}, "you", 12.5),
        frame(
            "interaction.resolved",
            key="t:1:0:c",
            kind="approval",
            answer={"outcome": "denied"},
            by="you",
            at=12.5,
        ),
    ),
    (QuestionAdded({"id": "1"}), frame("message.added", message={"id": "1"})),
    (BranchesChanged(), frame("branches.changed")),
    (StatusChanged("queued"), frame("run.status", status="queued")),
    (Continued(), frame("run.continued")),
    (RunFailed("No.", "ab12"), frame("run.error", text="No.", reference="ab12")),
    (AnswerStored({"id": "2"}), frame("message.complete", message={"id": "2"})),
    (CallCounted(AnswerFigures()), None),
    (ToolCallsRequested(()), None),
    (StateSaved({}), None),
    (Finished(), None),
]


@proves("10.2", "T-04")
def test_every_event_has_a_frame_or_is_not_shown():
    assert [(event, encode(event)) for event, _ in FRAMES] == FRAMES


def test_every_event_is_among_these():
    missing = set(get_args(StreamEvent)) - {type(event) for event, _ in FRAMES}

    assert missing == set(), "each needs a line in FRAMES"


@proves("T-04")
def test_every_frame_has_a_name_among_server_sent_events():
    types = {frame["type"] for _, frame in FRAMES if frame is not None}

    assert types - SSE_NAMES.keys() == set(), "each needs a name in SSE_NAMES"


def test_a_socket_is_told_ids_once():
    conversation, run, next_run = uuid4(), uuid4(), uuid4()
    batch: list[NumberedEvent] = [
        (1, run, StatusChanged("running")),
        (3, run, TextDelta("ab")),
        (4, run, Finished()),
        (5, next_run, TextDelta("c\0")),
    ]
    frames = FrameWriter()

    written = [frames.write(conversation, said) for said in batch]

    assert [json.loads(text) if text else None for text in written] == [
        {"type": "run.status", "status": "running", "run": str(run), "seq": 1},
        {"type": "message.delta", "text": "ab", "seq": 3},
        None,
        {"type": "message.delta", "text": "c\ufffd", "run": str(next_run), "seq": 5},
    ]


SAID = 7, UUID(int=2), TextDelta("one")
IDS = f'"conversation":"{UUID(int=1)}","run":"{UUID(int=2)}","seq":7'


@proves("T-12")
def test_t_12_an_event_is_plain_json_or_has_the_form_of_a_union():
    plain = server_sent_event(UUID(int=1), SAID)
    cases = server_sent_event(UUID(int=1), SAID, unions="cases")
    lists = [list_refresh("conversations", form) for form in ("plain", "cases")]

    assert plain.decode() == (
        f'id: 7\nevent: AIMessageDelta\ndata: {{"type":"message.delta","text":"one",{IDS}}}\n\n'
    )
    assert cases.decode() == (
        "id: 7\nevent: AIMessageDelta\n"
        f'data: {{"Case":"MessageDelta","Fields":[{{"text":"one",{IDS}}}]}}\n\n'
    )
    assert lists == [
        b'event: ListRefresh\ndata: {"type":"list.refresh","list":"conversations"}\n\n',
        b'event: ListRefresh\ndata: {"Case":"ListRefresh","Fields":[{"list":"conversations"}]}\n\n',
    ]
