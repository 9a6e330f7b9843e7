"""The conversation that a tab shows: what is said in it goes to the tab, and counts as seen."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.chat.access import mark_read
from apps.chat.branches import ShownEvents
from apps.chat.expired_results import results_expired
from apps.chat.frames import Open
from apps.chat.opening import OpenedConversation, open_conversation
from apps.chat.protocol import FrameWriter, to_json
from apps.chat.temporary import note_left, note_seen
from apps.live.events import AnswerStored, join
from apps.live.hub import Hub
from apps.live.notifications import listening
from apps.live.replay import follow
from apps.live.sweeper import Sweeper

logger = logging.getLogger(__name__)

CUT_OFF, RESTARTING = 3011, 3012
"""In place of 1011 and 1012, which Daphne refuses to send; the page then connects again."""
FRAME_SECONDS = 0.04
"""The pause after frames: what comes meanwhile is joined. The first word of an answer never waits."""


class ViewedConversation:
    """`send` takes a frame as JSON, `close` the code that the socket is closed with."""

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
        """The conversation again, if it is a temporary one."""
        self.viewer: asyncio.Task[None] | None = None
        self.is_hidden = False
        """Whether the tab is in the background, where nothing is seen."""

    async def show(self, caller: Caller, slug: str, sent: Open) -> None:
        """Follow a conversation from now on, in place of the one before; without one, none.

        Raises `Refused`; the one before is then still followed.
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
        # Before all that a reader of a new answer need not wait for.
        self.viewer = asyncio.create_task(self.view(sent.conversation, opened.after, opened.shown))
        await self.mark_seen(sent.conversation)
        await self.tell_expired(sent.conversation)

    async def hide(self, hidden: bool) -> bool:
        """Whether something was seen now: what came while the tab was hidden, when it comes to the front."""
        self.is_hidden = hidden
        if hidden or self.id is None:
            return False
        await self.mark_seen(self.id)
        return True

    async def mark_seen(self, conversation: UUID) -> None:
        if not self.is_hidden:
            await database_sync_to_async(mark_read)(conversation)

    async def tell_expired(self, conversation: UUID) -> None:
        """Tell which results the model reads no more, if there are any."""
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
            batches = follow(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
            async with listening(self.hub, conversation), aclosing(batches):
                async for batch in batches:
                    if not batch:
                        await self.tend(conversation)
                        continue
                    for said in join(shown.select(batch)):
                        if text := frames.write(conversation, said):
                            await self.send(text)
                    if any(isinstance(event, AnswerStored) for _, _, event in batch):
                        await self.mark_seen(conversation)
                        await self.tell_expired(conversation)
                    await asyncio.sleep(FRAME_SECONDS)
        except Exception:
            logger.exception("A viewer of %s had to be cut off", conversation)
            await self.close(CUT_OFF)
        else:
            await self.close(RESTARTING)

    async def tend(self, conversation: UUID) -> None:
        """While nothing is said: its answer may have lost its process, and a temporary one is still seen."""
        await self.sweeper.sweep(conversation)
        if self.temporary == conversation:
            await database_sync_to_async(note_seen)(conversation)
