"""Prepares the report about a tool call in the studio, with a hint if the call failed."""

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
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import ToolTimedOut
from apps.runs.tool_trial import ToolTrial

SHOWN_CHARACTERS = 100_000
"""The page shows at most this many characters of each text."""
MOST_PREVIEW = 700_000
"""The maximum number of base64 characters in an image on the page, about half a megabyte of data.
"""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

State = Literal["done", "failed", "not reached"]
STEPS: dict[CallStep, str] = {
    "open": "Open the toolset",
    "arguments": "Check the arguments",
    "call": "Call the tool",
    "result": "Pass on the result",
}

HINTS: dict[CallStep, str] = {
    "open": "Go back to the list of tools. It is loaded again, with the reason why this tool is missing.",
    "arguments": "Nothing was called. Correct the arguments. A model gets the same error and tries again.",
    "call": "The tool was called and failed. Check that its service is running, and that the "
    "URL, the authorization and the arguments are correct. fallback_configuration defines which "
    "error the model gets.",
    "result": "The tool succeeded, but the application failed to process the result. Check its "
    "features and the server's log.",
}
TOO_SLOW = (
    "The tool timed out. Increase tool_defaults.timeout_seconds, or request less data at once."
)


@dataclass(frozen=True, slots=True)
class ReportedAttachment:
    title: str
    type: str
    size: str
    url: str = ""
    preview: str = ""
    """The `data:` URL of an image, or ""."""


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
    outcome: ToolOutcome
    steps: tuple[tuple[str, State], ...]
    hint: str
    content: str | None
    """The start of the result for the model, or None if the model gets no result."""
    length: int
    """The number of characters in the whole result."""
    stages: tuple[ReportedStage, ...]
    attachments: tuple[ReportedAttachment, ...]
    answer_attachments: tuple[ReportedAttachment, ...]


def report_trial(trial: ToolTrial) -> TrialReport:
    outcome = trial.outcome
    result = outcome.result
    reaches_model = outcome.stopped is None and outcome.failed != "open"
    return TrialReport(
        outcome=outcome,
        steps=steps_of(outcome.failed),
        hint=hint_of(outcome),
        content=shorten_text(result.content, SHOWN_CHARACTERS) if reaches_model else None,
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
    """Return the stages of a tool call, in the order in which they started."""
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
                pass  # These are parts of an answer, which a single call does not have.
    for stage in found.values():
        stage.text = shorten_text(stage.text, SHOWN_CHARACTERS)
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
