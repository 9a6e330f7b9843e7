"""The page's socket. It watches runs, which go on when it closes."""

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from apps.accounts.caller import Caller
from apps.catalog import access
from apps.chat import answers
from apps.chat.access import caller_of_scope, find, find_open, own
from apps.chat.answers import OpenWorkspace
from apps.chat.endings import end_abandoned
from apps.chat.frames import Ask, ClientFrame, Open, Stop, read
from apps.chat.protocol import frame, join, to_json
from apps.errors import ApplicationNotFound, QuickAppError, Refused
from apps.live import journal, leases
from apps.live.hub import HUB, Hub
from apps.live.notifications import listening
from apps.live.replay import follow
from apps.runs.workspaces import open_workspace

logger = logging.getLogger(__name__)

CUT_OFF, RESTARTING = 3011, 3012
"""In place of 1011 and 1012, which Daphne refuses to send; the page then connects again."""
LONGEST_INBOX = 8
"""Frames that may wait; others are refused."""


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One tab. A task works on its frames in order, because Channels receives none meanwhile."""

    # Nothing is sent to a tab over the channel layer. Without one it is accepted while Redis is
    # away; `apps.live.notifications` listens for the hub of the process.
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
                await self.stop()

    async def open(self, sent: Open) -> None:
        """Follow a conversation from now on, instead of the one before."""
        look = database_sync_to_async(conversation_opened)
        opened = await look(self.hub, self.caller, sent.conversation, self.slug)
        await self.unfollow()
        await self.send(text_data=to_json(opened))
        self.conversation = sent.conversation
        self.viewer = asyncio.create_task(self.view(sent.conversation, sent.after))

    async def ask(self, sent: Ask) -> None:
        if self.hub.is_closing:
            raise Refused("server_stopping", "The server is restarting. Ask again in a moment.")
        try:
            application = await access.find(self.slug, self.caller)
        except ApplicationNotFound:
            if sent.conversation is not None:  # its deletion may be the reason
                look = database_sync_to_async(find_open)
                await look(self.caller, sent.conversation, self.slug)
            raise
        begun = await answers.ask(self.hub, self.caller, application, self.open_workspace, sent)
        if begun.conversation.pk != self.conversation:
            await self.open(Open(type="open", conversation=begun.conversation.pk))

    async def stop(self) -> None:
        """Stop the answer in the open conversation, whichever process gives it. Raises `Refused`."""
        conversation = self.conversation
        if conversation is None or not await own(self.caller).filter(pk=conversation).aexists():
            raise Refused("conversation_not_found", "Open a conversation first.")
        supervisor = self.hub.supervisors.get(conversation)
        if supervisor is not None:
            supervisor.stop()
        elif not await database_sync_to_async(stop_elsewhere)(conversation):
            raise Refused("no_run", "No answer is being written.")

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


def conversation_opened(
    hub: Hub, caller: Caller, conversation: UUID, application: str
) -> dict[str, Any]:
    """The frame for a page that opens a conversation. Raises `Refused`.

    `last` is the number of the newest event, `run` the one that is going.
    """
    found = find(caller, conversation, application)
    end_abandoned(conversation)
    run = leases.going(conversation)
    log = hub.logs.get(conversation)
    return {
        "type": "conversation.opened",
        "conversation": str(conversation),
        "title": found.title,
        "last": max(journal.last_number(conversation), log.last if log is not None else 0),
        "run": None if run is None else {"id": str(run.pk), "status": run.status},
    }


def stop_elsewhere(conversation: UUID) -> bool:
    return end_abandoned(conversation) or leases.request_stop(conversation)
