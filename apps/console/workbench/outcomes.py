"""How a call went, as a person reads it: steps, stages, attachments, and what to do now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from apps.agent.calls import Step, ToolOutcome
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
"""Of one text: a page with more is of no use, and the model's share is said beside it."""
MOST_PREVIEW = 700_000
"""Characters of base64 that a page shows as a picture, half a megabyte."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

State = Literal["done", "failed", "not reached"]
STEPS: tuple[tuple[Step, str], ...] = (
    ("open", "Open the toolset"),
    ("arguments", "Check the arguments"),
    ("call", "Call the tool"),
    ("result", "Pass on the result"),
)

HINTS: dict[Step, str] = {
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
class ShownAttachment:
    """`preview` is the address of a picture that the page has itself, `url` one elsewhere."""

    title: str
    type: str
    size: str
    url: str = ""
    preview: str = ""


@dataclass(slots=True)
class ShownStage:
    title: str
    depth: int = 0
    text: str = ""
    seconds: float | None = None
    failed: bool = False
    attachments: list[ShownAttachment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """`content` is what the model gets, of `length` characters; None where the run would end."""

    outcome: ToolOutcome
    steps: tuple[tuple[str, State], ...]
    hint: str
    content: str | None
    length: int
    stages: tuple[ShownStage, ...]
    attachments: tuple[ShownAttachment, ...]
    answer_attachments: tuple[ShownAttachment, ...]


def shown_trial(trial: Trial) -> ShownTrial:
    outcome = trial.outcome
    result = outcome.result
    is_told = outcome.stopped is None and outcome.failed != "open"
    return ShownTrial(
        outcome=outcome,
        steps=steps_of(outcome.failed),
        hint=hint_of(outcome),
        content=shortened(result.content, SHOWN_CHARACTERS) if is_told else None,
        length=len(result.content),
        stages=stages_of(trial.events),
        attachments=shown(result.attachments),
        answer_attachments=shown(result.propagated),
    )


def steps_of(failed: Step | None) -> tuple[tuple[str, State], ...]:
    found: list[tuple[str, State]] = [("Resolve the application", "done")]
    state: State = "done"
    for step, name in STEPS:
        if state == "failed":
            state = "not reached"
        if step == failed:
            state = "failed"
        found.append((name, state))
    return tuple(found)


def hint_of(outcome: ToolOutcome) -> str:
    if outcome.failed is None:
        return ""
    return TOO_SLOW if isinstance(outcome.result.failure, ToolTimedOut) else HINTS[outcome.failed]


def stages_of(events: Iterable[Event]) -> tuple[ShownStage, ...]:
    """As the page of the application would show them, in the order in which they were opened."""
    found: dict[str, ShownStage] = {}
    for event in events:
        match event:
            case StageOpened():
                parent = found.get(event.parent_id or "")
                depth = parent.depth + 1 if parent is not None else 0
                found[event.stage_id] = ShownStage(event.title, depth)
            case StageRenamed():
                found[event.stage_id].title += event.suffix
            case StageDelta():
                found[event.stage_id].text += event.text
            case StageAttachment():
                found[event.stage_id].attachments.append(show(event.attachment))
            case StageClosed():
                found[event.stage_id].seconds = event.seconds
                found[event.stage_id].failed = event.reads_failed
            case _:
                pass  # parts of an answer, which a single call has none of
    for stage in found.values():
        stage.text = shortened(stage.text, SHOWN_CHARACTERS)
    return tuple(found.values())


def shown(attachments: Sequence[Attachment]) -> tuple[ShownAttachment, ...]:
    return tuple(map(show, attachments))


def show(attachment: Attachment) -> ShownAttachment:
    data = attachment.data
    is_picture = attachment.type in PICTURES and data is not None and len(data) <= MOST_PREVIEW
    return ShownAttachment(
        attachment.title or "without a title",
        attachment.type,
        f"{len(data):,} characters of data" if data is not None else "",
        attachment.url or "",
        f"data:{attachment.type};base64,{data}" if is_picture else "",
    )
