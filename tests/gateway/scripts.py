"""A scripted model, and a client that calls the gateway's consumers directly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.urls import re_path

from apps.accounts.caller import Caller
from apps.agent.events import TextDelta, Usage
from apps.agent.model import Delta, Finish, Model, ModelRequest, ToolCallDelta
from apps.agent.progress import Progress
from apps.catalog.models import Application
from apps.doors.run_slots import Recorded
from apps.gateway import routing
from apps.gateway.routing import CompletionConsumer
from apps.live.history.run_rows import RunFigures
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.port import DeploymentInfo
from tests.catalog.rows import manifest_with, store_application

PATIENCE = 60.0
LOCAL = ("127.0.0.1", 50000)

Line = Delta | Sequence[Delta] | Exception | asyncio.Event
"""A step of a model: send a delta, fail, or wait."""


def says(text: str) -> Delta:
    return TextDelta(text)


def calls(name: str, arguments: str = "{}", call_id: str = "call-1") -> Sequence[Delta]:
    return [ToolCallDelta(0, call_id, name, arguments), Finish("tool_calls")]


def ends(prompt: int = 3, completion: int = 4, reason: str = "stop") -> Sequence[Delta]:
    return [Usage(prompt, completion), Finish(reason)]


class ScriptedModel:
    """Gives one answer after another; each is a list of lines."""

    def __init__(self, *answers: Iterable[Line]) -> None:
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []
        self.was_asked = asyncio.Event()
        self.was_cancelled = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        self.asked.append(request)
        self.was_asked.set()
        try:
            for line in self.answers.pop(0):
                if isinstance(line, Exception):
                    raise line
                if isinstance(line, asyncio.Event):
                    await line.wait()
                elif isinstance(line, Sequence):
                    yield line
                else:
                    yield [line]
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise


class ScriptedWorkspace:
    """Has one model and no files, and records the callers."""

    files = LocalFiles("")

    def __init__(self, model: Model) -> None:
        self.scripted = model
        self.callers: list[Caller] = []

    def inside(self, application: str, keys: str = "platform") -> ScriptedWorkspace:
        return self

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        return DeploymentInfo(deployment_id, deployment_id)

    facts = deployment

    async def model(self, deployment_id: str, **wishes: object) -> Model:
        return self.scripted

    def __call__(self, caller: Caller, application: object = None) -> Any:
        self.callers.append(caller)
        return self


MANIFEST = manifest_with(
    orchestrator={"deployment": {"deployment_id": "scripted"}}, features={"timestamp": None}
)
"""An application that adds nothing to a conversation."""


async def add_application(**fields: Any) -> Application:
    # resolved applications are cached by their slug, so every test has its own
    given = {
        "slug": f"app-{uuid4().hex[:8]}",
        "title": "Demo",
        "is_public": True,
        "is_shared": True,
        "manifest": MANIFEST,
    }
    return await sync_to_async(store_application)(**given | fields)


def unrecorded(row: RunFigures) -> AbstractContextManager[Progress]:
    return nullcontext(Progress())


def router(workspace: ScriptedWorkspace | None = None, recorded: Recorded = unrecorded) -> Any:
    """Return the gateway's routes. With a workspace, completions use it."""
    if workspace is None:
        return URLRouter([*routing.completion_urlpatterns, *routing.urlpatterns])
    complete = CompletionConsumer.as_asgi(open_workspace=workspace, recorded=recorded)
    addresses = (r"^openai/deployments/(?P<slug>[^/]+)/chat/completions$", r"^openai/v1/.*$")
    return URLRouter([re_path(address, complete) for address in addresses])


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    pieces: tuple[bytes, ...]
    """The chunks as they were sent, one per write."""

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    def json(self) -> Any:
        return json.loads(self.body)

    def chunks(self) -> list[dict[str, Any]]:
        """Return the data of every event except the last, which must be [DONE]."""
        events = [line for line in self.body.decode().split("\n\n") if line.startswith("data: ")]
        assert events[-1] == "data: [DONE]"
        return [json.loads(event.removeprefix("data: ")) for event in events[:-1]]

    def text(self) -> str:
        deltas = [choice["delta"] for chunk in self.chunks() for choice in chunk.get("choices", ())]
        return "".join(delta.get("content") or "" for delta in deltas)


class Client:
    """One request to an ASGI application."""

    def __init__(
        self,
        application: Any,
        path: str,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        client: Sequence[Any] | None = LOCAL,
        query: str = "",
    ) -> None:
        sent = {name.lower(): value for name, value in (headers or {}).items()}
        given = {"host": "localhost", **sent}
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": client,
        }
        self.communicator = ApplicationCommunicator(application, self.scope)

    async def send(self, body: bytes = b"", *, more: bool = False) -> None:
        await self.communicator.send_input(
            {"type": "http.request", "body": body, "more_body": more}
        )

    async def leave(self) -> None:
        await self.communicator.send_input({"type": "http.disconnect"})

    async def is_over(self) -> None:
        await self.communicator.wait(PATIENCE)

    async def read(self) -> Answer:
        """Return the whole answer. The application must end by itself after it."""
        start = await self.communicator.receive_output(PATIENCE)
        assert start["type"] == "http.response.start"
        pieces = []
        while True:
            message = await self.communicator.receive_output(PATIENCE)
            pieces.append(message["body"])
            if not message.get("more_body"):
                break
        await self.is_over()
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], headers, tuple(pieces))


async def get(path: str, **options: Any) -> Answer:
    client = Client(router(), path, **options)
    await client.send()
    return await client.read()


def question(text: str = "Hello", **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **fields}


def asking(
    application: Application | str,
    model: Model | ScriptedWorkspace,
    recorded: Recorded = unrecorded,
    **options: Any,
) -> Client:
    """Return a client that is about to call an application whose model is this one."""
    workspace = model if isinstance(model, ScriptedWorkspace) else ScriptedWorkspace(model)
    slug = application if isinstance(application, str) else application.slug
    path = f"/openai/deployments/{slug}/chat/completions"
    return Client(router(workspace, recorded), path, method="POST", **options)


async def ask(
    application: Application | str,
    model: Model | ScriptedWorkspace,
    body: dict[str, Any] | bytes,
    **options: Any,
) -> Answer:
    client = asking(application, model, **options)
    await client.send(body if isinstance(body, bytes) else json.dumps(body).encode())
    return await client.read()
