"""The report on a tool call for a person: its steps, stages and attachments, and a hint."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from apps.agent.calls import CallStep, ToolOutcome
from apps.agent.events import (
    Event,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import Attachment
from apps.capabilities.wrappers.texts import shortened
from apps.errors import ToolTimedOut
from apps.runs.tool_trial import Trial

SHOWN_CHARACTERS = 100_000
"""Of one text; the page says beside it how long the text is."""
MOST_PREVIEW = 700_000
"""Characters of base64: pictures up to half a megabyte are part of the page."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

State = Literal["done", "failed", "not reached"]
STEPS: dict[CallStep, str] = {
    "open": "Open the toolset",
    "arguments": "Check the arguments",
    "call": "Call the tool",
    "result": "Pass on the result",
}

HINTS: dict[CallStep, str] = {
    "open": "Go back to the toolset: it is opened anew, and tells what is in it and what failed.",
    "arguments": "Nothing was done. Correct the arguments; a model is told the same and tries again.",
    "call": "The tool was asked and failed. See whether its service runs, and whether the address, "
    "the authorization and the arguments are right. What a model is told of failures is decided by "
    "fallback_configuration.",
    "result": "The tool did its work. What the application does with every result failed: look at "
    "its features, and at the server's log.",
}
TOO_SLOW = (
    "The tool was stopped in the middle. Give it more time in tool_defaults.timeout_seconds, or ask "
    "it for less at once."
)


@dataclass(frozen=True, slots=True)
class ReportedAttachment:
    """`preview` is a `data:` address of a picture, `url` an address elsewhere; "" for none."""

    title: str
    type: str
    size: str
    url: str = ""
    preview: str = ""


@dataclass(slots=True)
class ReportedStage:
    title: str
    depth: int = 0
    text: str = ""
    seconds: float | None = None
    failed: bool = False
    attachments: list[ReportedAttachment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TrialReport:
    """`content` is the beginning of the `length` characters for the model; None if the run ends."""

    outcome: ToolOutcome
    steps: tuple[tuple[str, State], ...]
    hint: str
    content: str | None
    length: int
    stages: tuple[ReportedStage, ...]
    attachments: tuple[ReportedAttachment, ...]
    answer_attachments: tuple[ReportedAttachment, ...]


def report_trial(trial: Trial) -> TrialReport:
    outcome = trial.outcome
    result = outcome.result
    reaches_model = outcome.stopped is None and outcome.failed != "open"
    return TrialReport(
        outcome=outcome,
        steps=steps_of(outcome.failed),
        hint=hint_of(outcome),
        content=shortened(result.content, SHOWN_CHARACTERS) if reaches_model else None,
        length=len(result.content),
        stages=stages_of(trial.events),
        attachments=tuple(map(report_attachment, result.attachments)),
        answer_attachments=tuple(map(report_attachment, (*result.pictures, *result.propagated))),
    )


def steps_of(failed: CallStep | None) -> tuple[tuple[str, State], ...]:
    reached = list(STEPS).index(failed) if failed is not None else len(STEPS)
    names = ("Resolve the application", *STEPS.values())
    done: list[State] = ["done"] * (1 + reached)
    missed: list[State] = ["not reached"] * len(STEPS)
    return tuple(zip(names, [*done, "failed", *missed], strict=False))


def hint_of(outcome: ToolOutcome) -> str:
    if outcome.failed is None:
        return ""
    return TOO_SLOW if isinstance(outcome.result.failure, ToolTimedOut) else HINTS[outcome.failed]


def stages_of(events: Iterable[Event]) -> tuple[ReportedStage, ...]:
    """In the order in which they were opened."""
    found: dict[str, ReportedStage] = {}
    for event in events:
        match event:
            case StageOpened():
                parent = found.get(event.parent_id or "")
                depth = parent.depth + 1 if parent is not None else 0
                found[event.stage_id] = ReportedStage(event.title, depth)
            case StageRenamed():
                found[event.stage_id].title += event.suffix
            case StageDelta():
                found[event.stage_id].text += event.text
            case StageAttachment():
                found[event.stage_id].attachments.append(report_attachment(event.attachment))
            case StageClosed():
                found[event.stage_id].seconds = event.seconds
                found[event.stage_id].failed = event.reads_failed
            case _:
                pass  # parts of an answer; a single call has none
    for stage in found.values():
        stage.text = shortened(stage.text, SHOWN_CHARACTERS)
    return tuple(found.values())


def report_attachment(attachment: Attachment) -> ReportedAttachment:
    data = attachment.data
    is_picture = attachment.type in PICTURES and data is not None and len(data) <= MOST_PREVIEW
    return ReportedAttachment(
        attachment.title or "without a title",
        attachment.type,
        f"{len(data):,} characters of data" if data is not None else "",
        attachment.url or "",
        f"data:{attachment.type};base64,{data}" if is_picture else "",
    )
