"""Stand-ins that are real implementations: a scripted model, tools from plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec

from apps.accounts.caller import Caller
from apps.agent.events import Event, StageClosed, TextDelta, Usage
from apps.agent.model import (
    Delta,
    Finish,
    Model,
    ModelRequest,
    ReasoningDelta,
    ToolCallDelta,
)
from apps.agent.tools import CallTool, Invocation, Tool, ToolResult, ToolSpec
from apps.capabilities.registry import Capability, Contribution, Opening
from apps.errors import DeploymentNotFound
from apps.runs.nested import find_application
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import DeploymentInfo

OBJECT: Mapping[str, Any] = {"type": "object", "properties": {}}


def text(words: str) -> TextDelta:
    return TextDelta(words)


def thinks(words: str, name: str = "reasoning_content") -> ReasoningDelta:
    return ReasoningDelta(words, name)


def calls(*deltas: ToolCallDelta) -> list[Delta]:
    return list(deltas)


def call_delta(index: int, id: str = "", name: str = "", arguments: str = "") -> ToolCallDelta:
    return ToolCallDelta(index, id, name, arguments)


def finish(reason: str = "stop", prompt: int = 0, completion: int = 0) -> list[Delta]:
    usage = [Usage(prompt, completion)] if prompt or completion else []
    return [Finish(reason), *usage]


def saying(words: str, **spent: int) -> list[Delta]:
    """A whole answer of text."""
    return [text(words), *finish("stop", **spent)]


def calling(*wanted: tuple[str, str, object]) -> list[Delta]:
    """A whole answer of calls: id, name, arguments (text as it is, anything else as JSON)."""
    deltas: list[Delta] = [
        call_delta(index, id, name, arguments if isinstance(arguments, str) else encoded(arguments))
        for index, (id, name, arguments) in enumerate(wanted)
    ]
    return [*deltas, *finish("tool_calls")]


def encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


class ScriptedModel:
    """Answers with its scripts in order, each step a delta or what one read brought of them; an
    exception in a script is raised at its place.

    `asked` has every request; `never` in a script waits until the stream is closed, and `closed`
    is set as soon as a stream is.
    """

    never = object()

    def __init__(self, *scripts: Sequence[object]) -> None:
        self.scripts = list(scripts)
        self.asked: list[ModelRequest] = []
        self.waiting = asyncio.Event()
        self.closed = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        self.asked.append(request)
        try:
            for step in self.scripts.pop(0):
                if isinstance(step, Exception):
                    raise step
                if step is self.never:
                    self.waiting.set()
                    await asyncio.Event().wait()
                yield step if isinstance(step, list) else [cast(Delta, step)]
        finally:
            self.closed.set()


class FakeWorkspace(LocalWorkspace):
    """The caller's own files, and the given models instead of those of the database."""

    models: Mapping[str, Model] = {}
    infos: Mapping[str, DeploymentInfo] = {}

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        if deployment_id not in self.models:
            raise DeploymentNotFound(deployment_id)
        return self.infos.get(deployment_id) or DeploymentInfo(deployment_id, deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        return self.models[deployment_id]


class ModelsWorkspace(LocalWorkspace):
    """Applications of the database, and the given models instead of its deployments."""

    def __init__(self, caller: Caller, models: Mapping[str, Model]) -> None:
        super().__init__(caller, find_application)
        self.models = models

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        if deployment_id in self.models:
            return DeploymentInfo(deployment_id, deployment_id)
        return await super().deployment(deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        if deployment_id in self.models:
            return self.models[deployment_id]
        return await super().model(deployment_id, headers=headers)


def spec(name: str, description: str = "", **properties: Mapping[str, Any]) -> ToolSpec:
    """Every parameter whose schema has no default is required."""
    required = [key for key, schema in properties.items() if "default" not in schema]
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": required}
    )


def tool(name: str, answer: Callable[[Mapping[str, Any]], str | ToolResult]) -> Tool:
    """A tool that answers with what a function makes of the arguments."""

    async def call(invocation: Invocation) -> ToolResult:
        result = answer(invocation.arguments)
        return ToolResult(result) if isinstance(result, str) else result

    return Tool(ToolSpec(name, name, OBJECT), call)


def async_tool(name: str, call: CallTool) -> Tool:
    return Tool(ToolSpec(name, name, OBJECT), call)


def capability(contribution: Contribution, name: str = "fake") -> Capability:
    """A capability that always contributes the same."""

    @asynccontextmanager
    async def opened(opening: Opening) -> AsyncGenerator[Contribution, None]:
        yield contribution

    return Capability(name, frozenset(), lambda manifest: opened)


def timeless(events: Sequence[Event]) -> list[Event]:
    """The events, with the durations of stages set to zero."""
    return [
        StageClosed(event.stage_id, 0.0, event.failed) if isinstance(event, StageClosed) else event
        for event in events
    ]
