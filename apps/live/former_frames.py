"""Events of before the journal kept them as such: they were frames of the page."""

from collections.abc import Mapping
from typing import Any

import msgspec

from apps.agent import events as said
from apps.agent.messages import Attachment
from apps.live.events import AnswerStored, QuestionAdded, RunFailed, StatusChanged, StreamEvent


def read_frame(frame: Mapping[str, Any]) -> StreamEvent:  # noqa: C901 - one case for each frame
    match frame:
        case {"type": "message.delta", "text": text}:
            return said.TextDelta(text)
        case {"type": "stage.opened", "stage": stage, "title": title, "parent": parent}:
            return said.StageOpened(stage, title, parent)
        case {"type": "stage.delta", "stage": stage, "title": suffix}:
            return said.StageRenamed(stage, suffix)
        case {"type": "stage.delta", "stage": stage, "text": text}:
            return said.StageDelta(stage, text)
        case {"type": "stage.delta", "stage": stage, "attachment": attachment}:
            return said.StageAttachment(stage, msgspec.convert(attachment, Attachment))
        case {"type": "stage.closed", "stage": stage, "failed": failed, "seconds": seconds}:
            return said.StageClosed(stage, seconds, failed)
        case {"type": "attachment.added", "attachment": attachment}:
            return said.AttachmentAdded(msgspec.convert(attachment, Attachment))
        case {"type": "annotation.added", "annotation": annotation}:
            return said.AnnotationAdded(annotation)
        case {"type": "message.added", "message": message}:
            return QuestionAdded(message)
        case {"type": "message.complete", "message": message}:
            return AnswerStored(message)
        case {"type": "run.error", "text": text, "reference": reference}:
            return RunFailed(text, reference)
        case _:
            return StatusChanged(frame["status"])
