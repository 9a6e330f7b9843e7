"""The page's socket. It watches runs, which go on when it closes."""

import asyncio
import logging
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils.translation import gettext

from apps.chat import answers, interruptions, queue
from apps.chat.access import (
    caller_of_scope,
    check_continuable,
    look_whether_moved,
    own,
    person_stream,
)
from apps.chat.answer_frames import (
    ApprovalFrame,
    ClientToolFrame,
    ElicitationFrame,
    QuestionFrame,
    SignInFrame,
)
from apps.chat.answers import OpenWorkspace
from apps.chat.branch_changes import change_branches
from apps.chat.continuation import sweeper
from apps.chat.decisions import decide
from apps.chat.frames import (
    Ask,
    BranchFrame,
    BranchSwitch,
    ClientFrame,
    HelperStop,
    Open,
    QueueChange,
    QueueFrame,
    QueueRemove,
    QueueSend,
    Stop,
    TurnDelete,
    Visibility,
    Watch,
    read,
)
from apps.chat.helpers import stop_helper
from apps.chat.json_consumer import refusal_of
from apps.chat.listing import keep_looking
from apps.chat.pinned_versions import find_for
from apps.chat.protocol import to_json
from apps.chat.session_end import check_session
from apps.chat.socket_sessions import session_headers
from apps.chat.tab_news import TabNews
from apps.chat.temporary import ABNORMAL
from apps.chat.viewed_conversation import CUT_OFF, ViewedConversation
from apps.errors import ApplicationNotFound, Closing, Conflict, Missing, QuickAppError, Refused
from apps.live.hub import HUB, Hub
from apps.live.notifications import wake_viewers
from apps.runs.error_texts import error_text
from apps.runs.workspaces import open_workspace

logger = logging.getLogger(__name__)

MOVED = 4409  # after the frame `team.changed`
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
        self.sweeper = sweeper(hub, open_workspace)
        self.inbox: asyncio.Queue[str | bytes] = asyncio.Queue(LONGEST_INBOX)
        self.worker: asyncio.Task[None] | None = None
        self.viewed = ViewedConversation(hub, self.sweeper, self.send_text, self.close)
        self.watcher: asyncio.Task[None] | None = None
        self.shows_list = False
        self.news = TabNews()

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
        await self.accept(headers=await session_headers(self.scope))
        try:
            self.caller = await caller_of_scope(self.scope)
        except Refused as error:
            await self.refuse(error)
            await self.close(4401)
            return
        self.person = person_stream(self.caller.bucket)
        self.slug: str = self.scope["url_route"]["kwargs"]["slug"]
        for conversation in parse_qs(self.scope["query_string"].decode("latin-1")).get("open", ()):
            frame = {"type": "open", "conversation": conversation, "window": True}
            await self.receive(to_json(frame))
        self.worker = asyncio.create_task(self.work())
        if self.caller.user_id is not None:
            self.watcher = asyncio.create_task(self.watch())

    async def disconnect(self, code: int) -> None:
        tasks = [task for task in (self.worker, self.watcher) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if code != ABNORMAL:
            await self.viewed.leave_temporary()
        await self.viewed.unfollow()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            self.inbox.put_nowait(bytes_data or b"" if text_data is None else text_data)
        except asyncio.QueueFull:
            await self.refuse(
                Refused("busy", gettext("Too many frames at once; send them again later."))
            )

    async def work(self) -> None:
        while True:
            received = await self.inbox.get()
            if self.caller.team is not None and await self.leave_if_moved():
                return
            try:
                await self.take(read(received))
            except QuickAppError as error:
                await self.refuse(error)
            except Exception as error:
                logger.exception("A frame of the page could not be served")
                await self.refuse(refusal_of(error))

    async def take(self, sent: ClientFrame) -> None:
        match sent:
            case Open():
                await self.open(sent)
            case Ask():
                await self.ask(sent)
            case Stop():
                await self.stop()
            case HelperStop():
                await self.stop_helper(sent)
            case Watch() | Visibility():
                await self.attend(sent)
            case QueueChange() | QueueRemove() | QueueSend() | BranchSwitch() | TurnDelete():
                await self.change(sent)
            case (
                ApprovalFrame()
                | QuestionFrame()
                | SignInFrame()
                | ClientToolFrame()
                | ElicitationFrame()
            ):
                await decide(self.hub, self.caller, self.slug, sent)

    async def open(self, sent: Open) -> None:
        """Raises `Refused`."""
        self.slug = sent.application or self.slug
        await self.viewed.show(self.caller, self.slug, sent)
        if sent.conversation is not None:
            self.hub.wake(self.person)  # the queue that is shown is another one

    async def attend(self, sent: Watch | Visibility) -> None:
        """Tell the tab of its list from now on, or note that it was hidden or shown."""
        if isinstance(sent, Visibility):
            if await self.viewed.hide(sent.hidden):
                await wake_viewers(self.hub, self.person)
            return
        self.shows_list = True
        self.news = TabNews()
        if self.watcher is None:
            self.watcher = asyncio.create_task(self.watch())
        self.hub.wake(self.person)

    async def ask(self, sent: Ask) -> None:
        if self.hub.is_closing:
            raise Closing(
                "server_stopping", gettext("The server is restarting. Ask again in a moment.")
            )
        self.slug = sent.application or self.slug
        try:
            application = await find_for(self.slug, self.caller, sent.conversation)
        except ApplicationNotFound:
            if sent.conversation is not None:  # the application may be deleted or archived
                check = database_sync_to_async(check_continuable)
                await check(self.caller, sent.conversation, self.slug)
            raise
        if sent.conversation is not None:
            await self.sweeper.sweep(sent.conversation)
        how = (self.hub, self.caller, application, self.open_workspace)
        taken = await answers.ask_or_queue(*how, sent)
        if taken.conversation.pk != self.viewed.id:
            await self.open(Open(type="open", conversation=taken.conversation.pk))

    async def own_conversation(self) -> UUID:
        """The open one, if it belongs to the caller. Raises `Refused`."""
        conversation = self.viewed.id
        if conversation is None or not await own(self.caller).filter(pk=conversation).aexists():
            raise Missing("conversation_not_found", gettext("Open a conversation first."))
        return conversation

    async def stop_helper(self, sent: HelperStop) -> None:
        """Raises `Refused`."""
        if not await stop_helper(self.hub, await self.own_conversation(), sent.key):
            raise Refused("no_helper", gettext("This helper has ended already."))

    async def stop(self) -> None:
        """Stop the answer in the open conversation, whichever process gives it. Raises `Refused`."""
        conversation = await self.own_conversation()
        is_stopped = await interruptions.stop(self.hub, conversation)
        await wake_viewers(self.hub, self.person)
        if not is_stopped:
            raise Conflict("no_run", gettext("No answer is being written."))

    async def change(self, sent: QueueFrame | BranchFrame) -> None:
        """Change the queue or the branches of a conversation. Raises `Refused`."""
        if isinstance(sent, BranchSwitch | TurnDelete):
            await database_sync_to_async(change_branches)(self.caller, self.slug, sent)
            await wake_viewers(self.hub, sent.conversation)
            return
        conversation: UUID = await database_sync_to_async(queue.changed)(self.caller, sent)
        if isinstance(sent, QueueSend):
            await interruptions.interrupt(self.hub, conversation)
        await answers.ask_next(self.hub, self.open_workspace, conversation)
        await wake_viewers(self.hub, self.person)

    async def watch(self) -> None:
        try:
            await keep_looking(self.hub, self.person, self.look)
        except Refused as error:
            await self.refuse(error)
            await self.close(4401)
        except Exception:
            logger.exception("A page cannot be told of its list any more")
            await self.close(CUT_OFF)

    async def look(self, _: asyncio.Event) -> None:
        """Raises `Refused` when the session has ended."""
        await check_session(self.scope)
        if not await self.leave_if_moved() and self.shows_list:
            await self.tell_news()

    async def leave_if_moved(self) -> bool:
        """Tell the page, and close, if its person works in another team by now."""
        if not await look_whether_moved(self.caller, self.scope["session"].session_key or ""):
            return False
        await self.viewed.unfollow()
        await self.send_text(to_json({"type": "team.changed"}))
        await self.close(MOVED)
        return True

    async def tell_news(self) -> None:
        """Send what has changed in the list of conversations and in the queue of the open one."""
        read = database_sync_to_async(self.news.read)
        for frame in await read(self.caller, self.viewed.id):
            await self.send_text(to_json(frame))

    async def refuse(self, error: QuickAppError) -> None:
        await self.send_text(
            to_json({"type": "error", "text": error_text(error), "code": error.code})
        )

    async def send_text(self, text: str) -> None:
        await self.send(text_data=text)
