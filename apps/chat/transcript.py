"""The answer so far, gathered from the events that were sent to the page."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.agent.events import Finished, Spent, StateSaved, Usage
from apps.chat.protocol import closed_stage


@dataclass(slots=True)
class Transcript:
    """It outlives its run, so that a stopped answer keeps what it had."""

    texts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    open_stages: dict[str, float] = field(default_factory=dict)
    """Stage id → when it was opened."""
    state: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)

    def take(self, event: Mapping[str, Any]) -> None:
        match event["type"]:
            case "message.delta":
                self.texts.append(event["text"])
            case "attachment.added":
                self.attachments.append(event["attachment"])
            case "stage.opened":
                self.open_stages[event["stage"]] = time.monotonic()
            case "stage.closed":
                self.open_stages.pop(event["stage"], None)
            case _:
                pass  # shown, and not part of what is kept

    def take_hidden(self, event: StateSaved | Spent | Finished) -> None:
        match event:
            case StateSaved(state):
                self.state = state
            case Spent(usage):
                self.usage = usage
            case Finished(reason, usage):
                self.finish_reason = reason
                self.usage = usage

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def close_stages(self) -> list[dict[str, Any]]:
        """Events that close the stages which are still open, as failed."""
        now = time.monotonic()
        return [
            closed_stage(stage, now - opened, failed=True)
            for stage, opened in self.open_stages.items()
        ]
