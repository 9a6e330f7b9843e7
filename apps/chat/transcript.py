"""What an answer has come to so far, gathered from the events that the page was sent."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.agent.events import Finished, Spent, StateSaved, Usage
from apps.chat.protocol import closed_stage


@dataclass(slots=True)
class Transcript:
    """Outlives the run that it belongs to, so that a stopped answer keeps what it had."""

    texts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    open_stages: dict[str, float] = field(default_factory=dict)
    """When each was opened, by its id."""
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

    def take_unseen(self, event: StateSaved | Spent | Finished) -> None:
        match event:
            case StateSaved(state):
                self.state = state
            case Spent(usage):
                self.usage = usage
            case Finished(reason, usage):
                self.finish_reason = reason
                self.usage = usage

    def replay(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            self.take(event)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def close_stages(self) -> list[dict[str, Any]]:
        """The endings of stages that were cut off."""
        now = time.monotonic()
        return [
            closed_stage(stage, now - opened, failed=True)
            for stage, opened in self.open_stages.items()
        ]
