"""Serves the WebSocket of the chat page. Runs continue after the socket closes."""

import asyncio
import logging
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils.translation import gettext

from apps import tracing
from apps.accounts.caller import Caller
from apps.chat.socket.frames import (
    AskFrame,
    BranchFrame,
    BranchSwitch,
    ClientFrame,
    OpenFrame,
    QueueChange,
    QueueFrame,
    QueueRemove,
    QueueSend,
    StopFrame,
    SubagentStop,
    TurnDelete,
    Visibility,
    WatchFrame,
    read_frame,
)
from apps.chat.socket.sessions import session_headers
from apps.chat.socket.tab_updates import TabUpdates
from apps.chat.socket.viewed_conversation import CUT_OFF, ViewedConversation
from apps.conversations.access import check_continuable, own, person_stream
from apps.conversations.answering import answers
from apps.conversations.answering.answers import OpenWorkspace
from apps.conversations.answering.continuation import sweeper
from apps.conversations.ask import Ask
from apps.conversations.asking import interruptions, queue
from apps.conversations.branch_changes import delete_turn, switch_branch
from apps.conversations.interactions.answer_frames import (
    ApprovalFrame,
    ClientToolFrame,
    ElicitationFrame,
    QuestionFrame,
    SignInFrame,
)
from apps.conversations.interactions.decisions import answer_interaction
from apps.conversations.listing import watch_stream
from apps.conversations.pinned_versions import find_for
from apps.conversations.temporary import ABNORMAL
from apps.doors.event_json import to_json
from apps.doors.json_consumer import as_refusal
from apps.doors.sessions import caller_of_scope, check_session, has_switched_team
from apps.errors import ApplicationNotFound, Closing, Conflict, Missing, QuickAppError, Refused
from apps.live.hub import HUB, Hub
from apps.live.journal.notifications import wake_viewers
from apps.runs.explanations import error_text
from apps.runs.workspaces import open_workspace
from apps.workspace.local import read_only

logger = logging.getLogger(__name__)

MOVED = 4409  # The close code after the frame `team.changed`.
LONGEST_INBOX = 8
"""The maximum number of received frames in the queue. Further frames are rejected with an error."""


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Serves the WebSocket of one browser tab.

    A separate task executes the received frames in order, because Channels receives no frames while
    `receive` is running.
    """

    # Tabs need no channel layer, because `apps.live.journal.notifications` listens for the whole
    # process. Without it, they can connect while Redis is down.
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
        self.updates = TabUpdates()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_open = True

        async def deliver(message: Any) -> None:
            nonlocal is_open
            if is_open:
                is_open = message["type"] != "websocket.close"
                with suppress(OSError):  # The tab is closed, and `disconnect` will follow.
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
                Refused(
                    "busy",
                    gettext(
                        "Too many frames were sent at once. Wait a moment, then send them again."
                    ),
                )
            )

    async def work(self) -> None:
        while True:
            received = await self.inbox.get()
            if self.caller.team is not None and await self.leave_if_moved():
                return
            try:
                await self.handle(read_frame(received))
            except QuickAppError as error:
                await self.refuse(error)
            except Exception as error:
                logger.exception("Could not handle a frame of the page")
                await self.refuse(as_refusal(error))

    async def handle(self, sent: ClientFrame) -> None:
        match sent:
            case OpenFrame():
                await self.open(sent)
            case AskFrame():
                await read_only.check()
                with tracing.use_request_id(str(sent.id)):
                    await self.ask(sent)
            case StopFrame():
                await self.stop()
            case SubagentStop():
                await self.stop_subagent(sent)
            case WatchFrame() | Visibility():
                await self.attend(sent)
            case QueueChange() | QueueRemove() | QueueSend() | BranchSwitch() | TurnDelete():
                await read_only.check()
                await self.change(sent)
            case (
                ApprovalFrame()
                | QuestionFrame()
                | SignInFrame()
                | ClientToolFrame()
                | ElicitationFrame()
            ):
                await answer_interaction(self.hub, self.caller, self.slug, sent)

    async def open(self, sent: OpenFrame) -> None:
        """Open a conversation in the tab. Raises `Refused` if the caller has no such
        conversation.
        """
        slug = sent.application or self.slug
        await self.viewed.show(self.caller, slug, sent)
        self.slug = slug
        if sent.conversation is not None:
            self.hub.streams.wake(self.person)  # The tab now shows another queue.

    async def attend(self, sent: WatchFrame | Visibility) -> None:
        """Subscribe the tab to the conversation list, or record whether the tab is hidden,
        depending on the frame.
        """
        if isinstance(sent, Visibility):
            if await self.viewed.hide(sent.hidden):
                await wake_viewers(self.hub.streams, self.person)
            return
        self.shows_list = True
        self.updates = TabUpdates()
        if self.watcher is None:
            self.watcher = asyncio.create_task(self.watch())
        self.hub.streams.wake(self.person)

    async def ask(self, sent: Ask) -> None:
        if self.hub.is_closing:
            raise Closing(
                "server_stopping", gettext("The server is restarting. Try again in a moment.")
            )
        slug = sent.application or self.slug
        try:
            application = await find_for(slug, self.caller, sent.conversation)
        except ApplicationNotFound:
            if sent.conversation is not None:  # The application may have been deleted or archived.
                check = database_sync_to_async(check_continuable)
                await check(self.caller, sent.conversation, slug)
            raise
        if sent.conversation is not None:
            await self.sweeper.sweep(sent.conversation)
        how = (self.hub, self.caller, application, self.open_workspace)
        taken = await answers.ask_or_queue(*how, sent)
        self.slug = slug
        if taken.conversation.pk != self.viewed.id:
            await self.open(OpenFrame(type="open", conversation=taken.conversation.pk))

    async def own_conversation(self) -> UUID:
        """Return the ID of the conversation that the tab shows. Raises `Missing` if the tab shows
        no conversation or another user's.
        """
        conversation = self.viewed.id
        if conversation is None or not await own(self.caller).filter(pk=conversation).aexists():
            raise Missing("conversation_not_found", gettext("Open a conversation first."))
        return conversation

    async def stop_subagent(self, sent: SubagentStop) -> None:
        """Stop one sub-agent of the running answer. Raises `Refused` if it has already ended."""
        if not await interruptions.stop_subagent(self.hub, await self.own_conversation(), sent.key):
            raise Refused("no_helper", gettext("This sub-agent has already ended."))

    async def stop(self) -> None:
        """Stop the conversation's answer, even if it is running in another process. Raises
        `Conflict` if no answer is running.
        """
        conversation = await self.own_conversation()
        is_stopped = await interruptions.stop(self.hub, conversation)
        await wake_viewers(self.hub.streams, self.person)
        if not is_stopped:
            raise Conflict("no_run", gettext("No answer is in progress."))

    async def change(self, sent: QueueFrame | BranchFrame) -> None:
        """Change the queue or the branches of a conversation. Raises `Refused` if the conversation
        or the message does not exist.
        """
        if isinstance(sent, BranchSwitch | TurnDelete):
            change = switch_branch if isinstance(sent, BranchSwitch) else delete_turn
            asked = (self.caller, self.slug, sent.conversation, sent.message)
            await database_sync_to_async(change)(*asked)
            await wake_viewers(self.hub.streams, sent.conversation)
            return
        conversation: UUID = await database_sync_to_async(changed_queue)(self.caller, sent)
        if isinstance(sent, QueueSend):
            await interruptions.interrupt(self.hub, conversation)
        await answers.ask_next(self.hub, self.open_workspace, conversation)
        await wake_viewers(self.hub.streams, self.person)

    async def watch(self) -> None:
        try:
            await watch_stream(self.hub, self.person, self.send_changes)
        except Refused as error:
            await self.refuse(error)
            await self.close(4401)
        except Exception:
            logger.exception("Could not send list updates to a page; its socket is closed")
            await self.close(CUT_OFF)

    async def send_changes(self, _: asyncio.Event) -> None:
        """Send changes in the conversation list to the tab. Raises `Refused` if the session has
        ended.
        """
        await check_session(self.scope)
        if not await self.leave_if_moved() and self.shows_list:
            await self.send_updates()

    async def leave_if_moved(self) -> bool:
        """Close the socket and return True if the user has switched to another team in another
        tab.
        """
        if not await has_switched_team(self.caller, self.scope["session"].session_key or ""):
            return False
        await self.viewed.unfollow()
        await self.send_text(to_json({"type": "team.changed"}))
        await self.close(MOVED)
        return True

    async def send_updates(self) -> None:
        """Send changes in the conversation list, notifications and the conversation's queue to the
        tab.
        """
        read = database_sync_to_async(self.updates.read)
        for frame in await read(self.caller, self.viewed.id):
            await self.send_text(to_json(frame))

    async def refuse(self, error: QuickAppError) -> None:
        await self.send_text(
            to_json({"type": "error", "text": error_text(error), "code": error.code})
        )

    async def send_text(self, text: str) -> None:
        await self.send(text_data=text)


def changed_queue(caller: Caller, sent: QueueFrame) -> UUID:
    """Apply a change to the queue, and return the ID of its conversation. Raises `Refused` if the
    message is no longer queued or its new text is invalid.
    """
    match sent:
        case QueueChange(id=pk, text=text, held=held):
            return queue.change(caller, pk, text, held)
        case QueueRemove(id=pk):
            return queue.remove(caller, pk)
        case QueueSend(id=pk):
            return queue.put_first(caller, pk)
