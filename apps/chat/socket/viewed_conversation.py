"""Streams the events of conversations to browser tabs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.chat.socket.frames import OpenFrame
from apps.chat.window import last_turns
from apps.conversations.access import find_conversation, mark_read
from apps.conversations.branches import ShownEvents, outline, runs_of, shown_branches
from apps.conversations.outcome.expired_results import results_expired
from apps.conversations.temporary import note_left, note_seen
from apps.doors.event_json import frame, to_json
from apps.live import leases
from apps.live.events import AnswerStored, NumberedEvent, join_texts
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.notifications import listening
from apps.live.process.sweeper import Sweeper
from apps.live.replay import follow_events

logger = logging.getLogger(__name__)

CUT_OFF, RESTARTING = 3011, 3012
"""The WebSocket close codes that replace 1011 and 1012, which Daphne cannot send. The page
reconnects after both.
"""
FRAME_SECONDS = 0.04
"""The pause, in seconds, after each batch of frames. New events accumulate during the pause. The
first event after an idle period is sent immediately.
"""


class ViewedConversation:
    """Sends the conversation that a tab shows: first its content in one frame, then new events."""

    def __init__(
        self,
        hub: Hub,
        sweeper: Sweeper,
        send: Callable[[str], Awaitable[None]],
        close: Callable[[int], Awaitable[None]],
    ) -> None:
        self.hub, self.sweeper = hub, sweeper
        self.send, self.close = send, close
        self.id: UUID | None = None
        self.slug = ""
        self.temporary: UUID | None = None
        """The ID of the shown conversation if it is temporary, otherwise None."""
        self.viewer: asyncio.Task[None] | None = None
        self.is_hidden = False
        """True if the tab is in the background."""

    async def show(self, caller: Caller, slug: str, sent: OpenFrame) -> None:
        """Show the conversation that `sent` requests instead of the previous one. If it requests
        none, show no conversation. Raises `Refused` if the caller has no such conversation. The tab
        then still shows the previous one.
        """
        if sent.conversation != self.id:
            await self.leave_temporary()
        if sent.conversation is None:
            await self.unfollow()
            return
        await self.sweeper.sweep(sent.conversation)
        look = database_sync_to_async(open_conversation)
        opened: OpenedConversation = await look(self.hub, caller, sent.conversation, sent, slug)
        await self.unfollow()
        await self.send(to_json(opened.frame))
        self.id, self.slug = sent.conversation, slug
        self.temporary = sent.conversation if opened.is_temporary else None
        # New events do not have to wait for the following database queries.
        self.viewer = asyncio.create_task(self.view(sent.conversation, opened.after, opened.shown))
        await self.mark_seen(sent.conversation)
        await self.send_expired_results(sent.conversation)

    async def hide(self, hidden: bool) -> bool:
        """Record whether the tab is hidden. If it is visible and shows a conversation, mark the
        conversation's answers as seen and return True.
        """
        self.is_hidden = hidden
        if hidden or self.id is None:
            return False
        await self.mark_seen(self.id)
        return True

    async def mark_seen(self, conversation: UUID) -> None:
        if not self.is_hidden:
            await database_sync_to_async(mark_read)(conversation)

    async def send_expired_results(self, conversation: UUID) -> None:
        """Send the list of expired tool results, if there are any. The model no longer reads
        these results.
        """
        if (told := await results_expired(conversation, self.slug)) is not None:
            await self.send(to_json(told))

    async def leave_temporary(self) -> None:
        if self.temporary is not None:
            await database_sync_to_async(note_left)(self.temporary)
            self.temporary = None

    async def unfollow(self) -> None:
        if self.viewer is not None:
            self.viewer.cancel()
            await asyncio.wait([self.viewer])
        self.viewer = self.id = None

    async def view(self, conversation: UUID, after: int, shown: ShownEvents) -> None:
        frames = FrameWriter()
        try:
            batches = follow_events(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
            async with listening(self.hub.streams, conversation), aclosing(batches):
                async for batch in batches:
                    if not batch:
                        await self.tend(conversation)
                        continue
                    for said in join_texts(shown.select(batch)):
                        if text := frames.write(conversation, said):
                            await self.send(text)
                    if any(isinstance(event, AnswerStored) for _, _, event in batch):
                        await self.mark_seen(conversation)
                        await self.send_expired_results(conversation)
                    await asyncio.sleep(FRAME_SECONDS)
        except Exception:
            logger.exception(
                "Could not send events of conversation %s; its viewer is disconnected", conversation
            )
            await self.close(CUT_OFF)
        else:
            await self.close(RESTARTING)

    async def tend(self, conversation: UUID) -> None:
        """Resume an answer whose process has died, and postpone the deletion of a temporary
        conversation. This method is called while there are no new events.
        """
        await self.sweeper.sweep(conversation)
        if self.temporary == conversation:
            await database_sync_to_async(note_seen)(conversation)


class FrameWriter:
    """Encodes events as frames for one socket. A frame omits values that have not changed since the
    previous frame.
    """

    def __init__(self) -> None:
        self.run = ""

    def write(self, conversation: UUID, said: NumberedEvent) -> str:
        """Return the event's frame as JSON, or "" if the event is not shown."""
        whole = frame(conversation, said)
        if whole is None:
            return ""
        del whole["conversation"]
        if whole["run"] == self.run:
            del whole["run"]
        else:
            self.run = whole["run"]
        return to_json(whole)


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """The first frame for an opened conversation, and the selection of events to send after it."""

    frame: dict[str, Any]
    after: int
    """Only events with higher numbers are sent after the frame."""
    shown: ShownEvents
    is_temporary: bool


def open_conversation(
    hub: Hub, caller: Caller, conversation: UUID, sent: OpenFrame, application: str
) -> OpenedConversation:
    """Read the caller's conversation for the first frame.

    In the frame, `last` is the number of the newest event, and `run` is the active run or None.
    Raises `Refused` if the caller has no such conversation.
    """
    # Read before the branches: events up to this number are skipped unless their run is on the
    # shown branch.
    stored = journal.last_number(conversation)
    found = find_conversation(caller, conversation, application)
    is_temporary = found.temporary_until is not None
    if is_temporary:
        note_seen(found.pk)
    run = leases.open_run(found.pk)
    going = None if run is None else run.pk
    log = hub.streams.logs.get(found.pk)
    tree = outline(found)
    path = tree.shown(found.leaf_id)
    runs = list(runs_of(path))
    frame = {
        "type": "conversation.opened",
        "conversation": str(found.pk),
        "title": found.title,
        "last": max(stored, log.last if log is not None else 0),
        "branches": shown_branches(tree, path, going),
        "run": None if run is None else {"id": str(run.pk), "status": run.status},
    }
    shown = ShownEvents(stored, frozenset(runs))
    if not sent.window:
        return OpenedConversation(frame, sent.after, shown, is_temporary)
    begun = None if going is None else journal.first_number(going)
    after = stored if begun is None else begun - 1
    # If a run begins or ends in the meantime, its events have higher numbers.
    window = last_turns(runs, after, going)
    frame = {**frame, "after": after, **window.to_dict()}
    return OpenedConversation(frame, after, shown, is_temporary)
