"""What a tab is told beside the conversation that it follows: the list of all, folders, calls, the queue."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.accounts.caller import Caller
from apps.chat import queue
from apps.chat.attention import attention
from apps.chat.rail import RailNews, folders_of


@dataclass
class TabNews:
    """Remembers what was told last, of which nothing is told again."""

    rail: RailNews = field(default_factory=RailNews)
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The last frame of each type."""

    def read(self, caller: Caller, conversation: UUID | None) -> list[dict[str, Any]]:
        """The frames of what has changed; `conversation` is the one that is followed."""
        news = self.rail.read(caller)
        frames = [] if news is None else [{"type": "list.changed", **news}]
        for frame in states(caller, conversation):
            if self.told.get(frame["type"]) != frame:
                self.told[frame["type"]] = frame
                frames.append(frame)
        return frames


def states(caller: Caller, conversation: UUID | None) -> Iterator[dict[str, Any]]:
    yield {"type": "folders.changed", "folders": folders_of(caller)}
    yield {"type": "attention.changed", **attention(caller)}
    if conversation is not None:
        messages = queue.shown(caller, conversation)
        yield {
            "type": "queue.changed",
            "conversation": str(conversation),
            "messages": messages,
        }
