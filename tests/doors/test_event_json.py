from __future__ import annotations

from typing import Any, get_args

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    InteractionRequested,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.ledger import InteractionRequest
from apps.agent.messages import Attachment
from apps.doors.event_json import encode
from apps.insights.answer_figures import AnswerFigures
from apps.live.events import (
    AnswerStored,
    BranchesChanged,
    CallCounted,
    InteractionResolved,
    QuestionAdded,
    RunFailed,
    RunResumed,
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
    (NoticeAdded("n", "B answered."), frame("notice.added", notice="n", text="B answered.")),
    (Spent(Usage(1, 2)), None),
    (
        SubagentStarted("t:1:0:c", "c", "Look around", "Scout"),
        frame("helper.began", key="t:1:0:c", stage="c", name="Look around", agent="Scout"),
    ),
    (
        SubagentEnded("t:1:0:c", "stopped", 1),
        frame("helper.ended", key="t:1:0:c", status="stopped"),
    ),
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
        InteractionRequested(InteractionRequest("t:1:0:c", "approval", {"tool": "rm"}), 12.5),
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
    (RunResumed(), frame("run.continued")),
    (RunFailed("No.", "ab12"), frame("run.error", text="No.", reference="ab12")),
    (AnswerStored({"id": "2"}), frame("message.complete", message={"id": "2"})),
    (CallCounted(AnswerFigures()), None),
    (ToolCallsRequested(()), None),
    (StateSaved({}), None),
    (RunFinished(), None),
]


@proves("10.2", "T-04")
def test_every_event_has_a_frame_or_is_not_shown():
    assert [(event, encode(event)) for event, _ in FRAMES] == FRAMES


def test_every_event_is_among_these():
    missing = set(get_args(StreamEvent)) - {type(event) for event, _ in FRAMES}

    assert missing == set(), "each needs a line in FRAMES"
