"""The page's socket. It watches runs; it does not own them: they go on when it closes."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from apps.catalog.access import find
from apps.chat import answers
from apps.chat.access import caller_of_scope, find_open
from apps.chat.answers import OpenWorkspace
from apps.chat.frames import Ask, ClientFrame, Open, Stop, read
from apps.chat.opening import Opened, open_conversation, stop
from apps.chat.protocol import frame, join, to_json
from apps.chat.recovery import end_abandoned
from apps.errors import ApplicationNotFound, QuickAppError, Refused
from apps.live.hub import HUB, Hub
from apps.live.notifications import listening
from apps.live.replay import follow
from apps.runs.workspaces import open_workspace

logger = logging.getLogger(__name__)

CUT_OFF, RESTARTING = 3011, 3012
"""Like 1011 and 1012, which daphne refuses to send: the page connects again and says what it has."""
LONGEST_INBOX = 8
"""Frames that may wait; a page that sends faster than it is served is told so."""


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One tab. Frames are worked on in order, by a task: Channels hears nothing meanwhile."""

    # Nothing is sent to a tab over the channel layer, and without one it is accepted while Redis
    # is away; `apps.live.notifications` listens for the hub of the process.
    channel_layer_alias = ""

    def __init__(self, hub: Hub = HUB, open_workspace: OpenWorkspace = open_workspace) -> None:
        super().__init__()
        self.hub = hub
        self.open_workspace = open_workspace
        self.inbox: asyncio.Queue[str | bytes] = asyncio.Queue(LONGEST_INBOX)
        self.worker: asyncio.Task[None] | None = None
        self.conversation: UUID | None = None
        self.viewer: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_open = True

        async def deliver(message: Any) -> None:
            nonlocal is_open
            if is_open:
                is_open = message["type"] != "websocket.close"
                with suppress(OSError):  # the tab is gone, and its `disconnect` is on the way
                    await send(message)

        await super().__call__(scope, receive, deliver)

    async def connect(self) -> None:
        await self.accept()
        try:
            self.caller = caller_of_scope(self.scope)
        except Refused as error:
            await self.refuse(error)
            await self.close(4401)
            return
        self.slug: str = self.scope["url_route"]["kwargs"]["slug"]
        self.worker = asyncio.create_task(self.work())

    async def disconnect(self, code: int) -> None:
        if self.worker is not None:
            self.worker.cancel()
            await asyncio.wait([self.worker])
        await self.unfollow()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            self.inbox.put_nowait(bytes_data or b"" if text_data is None else text_data)
        except asyncio.QueueFull:
            await self.refuse(Refused("busy", "Too many frames at once; send them again later."))

    async def work(self) -> None:
        while True:
            received = await self.inbox.get()
            try:
                await self.take(read(received))
            except QuickAppError as error:
                await self.refuse(error)
            except Exception:
                logger.exception("A frame of the page could not be served")
                await self.refuse(Refused("internal_error", "Something went wrong. Try again."))

    async def take(self, sent: ClientFrame) -> None:
        match sent:
            case Open():
                await self.open(sent)
            case Ask():
                await self.ask(sent)
            case Stop():
                await stop(self.hub, self.caller, self.conversation)

    async def open(self, sent: Open) -> None:
        look = database_sync_to_async(open_conversation)
        opened = await look(self.hub, self.caller, sent.conversation, self.slug)
        await self.show(opened, sent.after)

    async def ask(self, sent: Ask) -> None:
        if self.hub.is_closing:
            raise Refused("server_stopping", "The server is restarting. Ask again in a moment.")
        try:
            application = await find(self.slug, self.caller)
        except ApplicationNotFound:
            if sent.conversation is not None:  # whose application may have been this one
                look = database_sync_to_async(find_open)
                await look(self.caller, sent.conversation, self.slug)
            raise
        begun = await answers.ask(self.hub, self.caller, application, self.open_workspace, sent)
        if begun.conversation.pk != self.conversation:
            await self.open(Open(type="open", conversation=begun.conversation.pk))

    async def show(self, opened: Opened, after: int) -> None:
        """Follow a conversation from now on, instead of the one before."""
        await self.unfollow()
        await self.send(text_data=to_json(opened.frame()))
        self.conversation = opened.conversation
        self.viewer = asyncio.create_task(self.view(opened.conversation, after))

    async def unfollow(self) -> None:
        if self.viewer is not None:
            self.viewer.cancel()
            await asyncio.wait([self.viewer])
        self.viewer = self.conversation = None

    async def view(self, conversation: UUID, after: int) -> None:
        try:
            batches = follow(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
            async with listening(self.hub, conversation), aclosing(batches):
                async for batch in batches:
                    if not batch:
                        await database_sync_to_async(end_abandoned)(conversation)
                    for said in join(batch):
                        await self.send(text_data=frame(conversation, said))
        except Exception:
            logger.exception("A viewer of %s had to be cut off", conversation)
            await self.close(CUT_OFF)
        else:
            await self.close(RESTARTING)

    async def refuse(self, error: QuickAppError) -> None:
        await self.send(
            text_data=to_json({"type": "error", "text": str(error), "code": error.code})
        )
