"""Collects the updates for a tab that are not events: changes of the conversation list, folders,
notifications and the queue.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.accounts.caller import Caller
from apps.chat.rail.attention import attention
from apps.chat.rail.content import RailUpdates, folders_of
from apps.conversations.asking import queue
from apps.doors.read_only_notice import read_only_notice


@dataclass
class TabUpdates:
    """Remembers the frames that a tab has received, so that only changes are sent."""

    rail: RailUpdates = field(default_factory=RailUpdates)
    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Maps each frame type to the last frame of this type that was sent."""

    def read(self, caller: Caller, conversation: UUID | None) -> list[dict[str, Any]]:
        """Return frames with the changes since the last call. `conversation` is the ID of the
        conversation that the tab shows.
        """
        news = self.rail.read(caller)
        frames = [] if news is None else [{"type": "list.changed", **news}]
        for frame in states(caller, conversation):
            if self.sent.get(frame["type"]) != frame:
                self.sent[frame["type"]] = frame
                frames.append(frame)
        return frames


def states(caller: Caller, conversation: UUID | None) -> Iterator[dict[str, Any]]:
    yield {"type": "folders.changed", "folders": folders_of(caller)}
    yield {"type": "attention.changed", **attention(caller)}
    yield {"type": "read_only.changed", "text": read_only_notice()}
    if conversation is not None:
        messages = queue.list_queue(caller, conversation)
        yield {
            "type": "queue.changed",
            "conversation": str(conversation),
            "messages": messages,
        }
