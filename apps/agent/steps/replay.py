"""Records a model's answers as steps, and replays them when the run is resumed.

Replayed answers are not emitted again, because users have already seen them.
"""

from collections.abc import Mapping
from typing import Any

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Emit,
    Event,
    TextDelta,
    TurnRestarted,
)
from apps.agent.ledger import WAITING, Ledger, Step
from apps.agent.messages import Attachment
from apps.agent.model import Reply
from apps.agent.progress import Progress, Turn
from apps.agent.steps.results import read_recovery, read_reply, write_recovery, write_reply


class Replay:
    """The `emit` function of a resumed run. It collects replayed parts of the answer. Before the
    first new event, it emits them in one `TurnRestarted`.
    """

    def __init__(self, emit: Emit, progress: Progress) -> None:
        self.emit = emit
        self.progress = progress
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.is_over = False

    def __call__(self, event: Event) -> None:
        if self.is_over:
            self.emit(event)
            return
        match event:
            case AttachmentAdded(attachment):
                self.attachments.append(attachment)
            case AnnotationAdded(annotation):
                self.annotations.append(annotation)
            case TextDelta():
                pass  # the text of images, which `progress` already contains
            case _:
                self.end()
                self.emit(event)

    def end(self) -> None:
        if not self.is_over:
            self.is_over = True
            shown = tuple(self.attachments), tuple(self.annotations)
            self.emit(TurnRestarted(self.progress.answer.text, *shown))


def end_replay(emit: Emit) -> None:
    """Emit the collected parts of the answer. This must be called before the first event that is
    not replayed.
    """
    if isinstance(emit, Replay):
        emit.end()


def repeat_reply(ledger: Ledger, turn: Turn) -> Reply | None:
    """Add this turn's recorded answer to the progress, and return it. Return None if no answer is
    recorded.
    """
    progress = turn.progress
    step = ledger.step(f"m:{progress.counts.iterations}")
    if step is None or step.status != "done":
        return None
    recorded = read_reply(step.result)
    progress.usage += recorded.reply.usage
    answer = progress.answer
    answer.say(recorded.reply.message.text)
    answer.allowance.left, answer.allowance.data = recorded.left, recorded.data
    for attachment in recorded.reply.message.attachments:
        answer.attach(attachment, turn.emit)
    return recorded.reply


def record_reply(ledger: Ledger, progress: Progress, reply: Reply) -> None:
    """Record the model's answer, unless the model is an application that is waiting for a user."""
    if reply.finish_reason != WAITING:
        result = write_reply(reply, progress.answer.allowance)
        ledger.record(Step(f"m:{progress.counts.iterations}", "model", "done", result=result))


def repeat_recovery(ledger: Ledger, progress: Progress) -> None:
    """Apply this turn's recorded recovery, if there is one."""
    step = ledger.step(f"recovered:{progress.counts.iterations}")
    if step is None:
        return
    recorded = read_recovery(step.result)
    progress.conversation.recover(recorded.messages)
    progress.usage[:] = recorded.usage
    answer = progress.answer
    answer.said = recorded.said
    answer.shown.update(recorded.shown)
    answer.allowance.left, answer.allowance.data = recorded.left, recorded.data


def record_recovery(ledger: Ledger, progress: Progress) -> None:
    key, result = f"recovered:{progress.counts.iterations}", write_recovery(progress)
    ledger.record(Step(key, "recovery", "done", result=result))
