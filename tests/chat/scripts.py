"""A model whose pace the test sets, and a visitor who uses the page's socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import path

from apps.accounts.caller import Caller
from apps.agent.events import TextDelta, Usage
from apps.agent.model import Delta, ModelRequest, ReasoningDelta, StagePart
from apps.catalog.models import Application
from apps.chat.socket.consumer import ChatConsumer
from apps.doors.sessions import session_bucket
from apps.live.hub import Hub
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.port import DeploymentInfo
from tests.catalog.rows import store_application

PATIENCE = 60.0


MANIFEST: dict[str, Any] = {
    "orchestrator": {"deployment": {"deployment_id": "paced"}},
    "contexts": [],
    "tool_sets": [],
    "features": None,
}


def says(text: str) -> Delta:
    return TextDelta(text)


def thinks(text: str, *, failed: bool | None = None) -> Delta:
    return StagePart(0, "Thinking", text, failed)


def reasons(text: str) -> Delta:
    return ReasoningDelta(text, "reasoning_content")


def counts(taken: int, given: int) -> Delta:
    return Usage(taken, given)


class PacedModel:
    """Sends what the test puts into `lines`. None ends the answer, an exception interrupts it."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[Delta | Exception | None] = asyncio.Queue()
        self.asked: list[ModelRequest] = []
        self.deployments: list[str] = []
        """By which name it was found each time."""
        self.was_asked = asyncio.Event()
        self.was_cancelled = asyncio.Event()

    def put(self, *lines: Delta | Exception | None) -> None:
        for line in lines:
            self.lines.put_nowait(line)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        self.asked.append(request)
        self.was_asked.set()
        try:
            while (line := await self.lines.get()) is not None:
                if isinstance(line, Exception):
                    raise line
                yield [line]
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise


class ScriptedWorkspace:
    """Has one model and no files."""

    files: Any = LocalFiles("")

    def __init__(self, model: PacedModel) -> None:
        self.paced = model

    def inside(self, application: str, keys: str = "platform") -> ScriptedWorkspace:
        return self

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        return DeploymentInfo(deployment_id, deployment_id)

    facts = deployment

    async def model(self, deployment_id: str, **wishes: object) -> PacedModel:
        self.paced.deployments.append(deployment_id)
        return self.paced

    def __call__(self, caller: Caller) -> Any:
        return self


class StoredSession(dict[str, Any]):
    def __init__(self, session_key: str | None) -> None:
        super().__init__()
        self.session_key = session_key


def session_of(user: Any) -> str | None:
    """Return the key of a new session of the account."""
    client = Client()
    client.force_login(user)
    return client.session.session_key


class Visitor:
    """A browser. Each of its tabs is a socket to a process, which is a hub."""

    def __init__(
        self,
        application: Application,
        model: PacedModel,
        *,
        session_key: str | None = "browser-1",
        user: Any = None,
    ) -> None:
        self.slug = application.slug
        self.model = model
        self.session: Any = StoredSession(session_key)
        self.user = user or AnonymousUser()
        self.tabs: list[Tab] = []
        self.address = ""
        self.cookies: dict[str, str] = {}

    @property
    def bucket(self) -> str:
        if self.user.is_authenticated:
            return f"user-{self.user.pk}"
        return session_bucket(self.session.session_key or "")

    @property
    def open_workspace(self) -> Any:
        return ScriptedWorkspace(self.model)

    async def tab(self, hub: Hub, opens: str = "") -> Tab:
        """Return a tab. `opens` is the query of an address that names a conversation."""
        consumer = ChatConsumer.as_asgi(hub=hub, open_workspace=self.open_workspace)
        routes: Any = [path("ws/chat/<slug:slug>/", consumer)]
        tab = Tab(URLRouter(routes), f"/ws/chat/{self.slug}/{opens}")
        if self.user.is_authenticated and isinstance(self.session, StoredSession):
            key = await database_sync_to_async(session_of)(self.user)
            self.session.session_key = key
        tab.scope.update(user=self.user, session=self.session, cookies=self.cookies)
        if self.address:
            tab.scope["client"] = (self.address, 1)
        assert (await tab.connect(PATIENCE))[0]
        tab.model = self.model
        self.tabs.append(tab)
        return tab

    async def leave(self) -> None:
        for tab in self.tabs:
            await tab.disconnect(timeout=PATIENCE)
        self.tabs.clear()


class Tab(WebsocketCommunicator):  # type: ignore[misc]
    """Sends and receives frames like the page, which gets each id once."""

    conversation = run = ""
    model: PacedModel

    async def ask(
        self,
        text: str,
        conversation: str | None = None,
        request: UUID | None = None,
        **more: object,
    ) -> str:
        """Ask. Return the id of the conversation from the first frame of the answer."""
        frame = {"type": "ask", "id": str(request or uuid4()), "text": text}
        await self.send_json_to({**frame, "conversation": conversation, **more})
        if conversation is not None:
            return conversation
        opened = await self.frame()
        assert opened["type"] == "conversation.opened", opened
        return str(opened["conversation"])

    async def exchange(
        self, text: str, *answer: Delta | Exception | None, **more: Any
    ) -> list[dict[str, Any]]:
        """Ask, in the open conversation if there is one. Return the frames up to the end."""
        self.model.put(*answer, None)
        await self.ask(text, more.pop("conversation", self.conversation or None), **more)
        return await self.until_over()

    async def open(self, conversation: str, after: int = 0) -> dict[str, Any]:
        await self.send_json_to({"type": "open", "conversation": conversation, "after": after})
        return await self.frame()

    async def frame(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await self.receive_from(PATIENCE))
        if frame["type"] == "conversation.opened":
            self.conversation, self.run = frame["conversation"], ""
        elif frame["type"] != "error":
            self.run = frame.get("run", self.run)
            frame = {**frame, "conversation": self.conversation, "run": self.run}
        return frame

    async def until(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """Return all frames up to the first of that type with those fields."""
        frames = []
        while True:
            frames.append(await self.frame())
            last = frames[-1]
            if last["type"] == kind and fields.items() <= last.items():
                return frames

    async def until_over(self) -> list[dict[str, Any]]:
        frames = []
        while True:
            frames += await self.until("run.status")
            if frames[-1]["status"] not in ("queued", "running", "waiting"):
                return frames

    async def refusal(self, **frame: Any) -> dict[str, Any]:
        """Send a frame, by default a question. Return the error."""
        asked = {} if "type" in frame else {"type": "ask", "id": str(uuid4()), "text": "Hi"}
        await self.send_json_to({**asked, **frame})
        return (await self.until("error"))[-1]

    async def is_silent(self) -> bool:
        return bool(await self.receive_nothing(0.05, 0.01))


async def add_application(**fields: Any) -> Application:
    # resolved applications are cached by their slug, so every test has its own
    given = {
        "slug": f"demo-{uuid4().hex[:8]}",
        "title": "Demo",
        "is_public": True,
        "is_shared": True,
        "manifest": MANIFEST,
        **fields,
    }
    return await sync_to_async(store_application)(**given)


@dataclass
class Scene:
    """An application, a process, a model, and a visitor."""

    application: Application
    hub: Hub
    model: PacedModel
    visitor: Visitor

    async def stranger(self, hub: Hub | None = None) -> Tab:
        """Return a tab of another user, which is closed with those of the visitor."""
        tab = await Visitor(self.application, self.model, session_key="browser-2").tab(
            hub or self.hub
        )
        self.visitor.tabs.append(tab)
        return tab


@asynccontextmanager
async def scene(*, checks_tasks: bool = True, **fields: Any) -> AsyncIterator[Scene]:
    """Yield a scene. At the end, all tabs are closed, and nothing may keep running."""
    before = asyncio.all_tasks()
    application = await add_application(**fields)
    hub, model = Hub(), PacedModel()
    visitor = Visitor(application, model)
    yield Scene(application, hub, model, visitor)
    await visitor.leave()
    hub.is_closing = True  # nothing queued is started any more
    for supervisor in list(hub.supervisors.values()):
        supervisor.stop()
    await settled(hub)
    # a layer on Redis has its own tasks for as long as the loop runs
    assert not checks_tasks or asyncio.all_tasks() <= before
    assert hub.streams.viewers == {}


@asynccontextmanager
async def open_tab(**options: Any) -> AsyncIterator[tuple[Scene, Tab]]:
    """Return a scene whose visitor has opened a tab of the page."""
    async with scene(**options) as on:
        yield on, await on.visitor.tab(on.hub)


def text_of(frames: Sequence[dict[str, Any]]) -> str:
    return "".join(frame["text"] for frame in frames if frame["type"] == "message.delta")


async def settled(hub: Hub) -> None:
    """Wait until every run of the process is over and stored."""
    async with asyncio.timeout(PATIENCE):
        while hub.tasks:
            with suppress(Exception):
                await asyncio.wait(hub.tasks)
        await hub.budgets.close()
        await hub.summaries.close()
