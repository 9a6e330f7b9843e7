"""Fakes with real behaviour: a scripted model, and tools made from functions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import msgspec

from apps.accounts.caller import Caller
from apps.agent.events import Event, StageClosed, TextDelta, Usage
from apps.agent.ledger import EVERY_KIND, Consent, InteractionRequest, Step
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
from apps.runs.workspaces import find_application
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import DeploymentInfo
from tests.workspace.embeddings.hashed import HashedEmbedder

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
    """Return a complete answer with a text."""
    return [text(words), *finish("stop", **spent)]


def calling(*wanted: tuple[str, str, object]) -> list[Delta]:
    """Return a complete answer with calls: id, name, and arguments (text unchanged, other values as
    JSON)."""
    deltas: list[Delta] = [
        call_delta(index, id, name, arguments if isinstance(arguments, str) else encoded(arguments))
        for index, (id, name, arguments) in enumerate(wanted)
    ]
    return [*deltas, *finish("tool_calls")]


def encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


class ScriptedModel:
    """A model that answers with its scripts in order. Each step is a delta, or a list of deltas
    that arrive in one read; an exception in a script is raised at that step. `asked` has every
    request. The step `never` waits until the stream is closed, which sets `closed`."""

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

    def write(self, request: ModelRequest) -> bytes:
        """Return the roles and texts of the messages, and the names of the tools."""
        said = [f"{message.role}: {message.text}" for message in request.messages]
        return "\n".join([*said, *(tool.name for tool in request.tools)]).encode()


class FakeWorkspace(LocalWorkspace):
    """A workspace with the caller's own files, and the given models in place of the database's."""

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

    async def embedder(self, deployment_id: str | None) -> HashedEmbedder:
        return HashedEmbedder(deployment_id or "hashed")


class ModelsWorkspace(LocalWorkspace):
    """A workspace with the applications of the database, and the given models in place of its
    deployments."""

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
    """Build a spec. Every parameter whose schema has no default is required."""
    required = [key for key, schema in properties.items() if "default" not in schema]
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": required}
    )


def tool(name: str, answer: Callable[[Mapping[str, Any]], str | ToolResult]) -> Tool:
    """Return a tool that answers with what a function returns for the arguments."""

    async def call(invocation: Invocation) -> ToolResult:
        result = answer(invocation.arguments)
        return ToolResult(result) if isinstance(result, str) else result

    return Tool(ToolSpec(name, name, OBJECT), call)


def async_tool(name: str, call: CallTool) -> Tool:
    return Tool(ToolSpec(name, name, OBJECT), call)


def capability(contribution: Contribution, name: str = "fake") -> Capability:
    """Return a capability that always contributes the same."""

    @asynccontextmanager
    async def opened(opening: Opening) -> AsyncGenerator[Contribution, None]:
        yield contribution

    return Capability(name, frozenset(), lambda manifest: opened)


def timeless(events: Sequence[Event]) -> list[Event]:
    """Return the events with the durations of stages set to zero."""
    return [
        StageClosed(event.stage_id, 0.0, event.failed) if isinstance(event, StageClosed) else event
        for event in events
    ]


class Crash(BaseException):
    """Simulates the death of a process during a run."""


class MemoryLedger:
    """A ledger that keeps steps and interactions in memory as JSON, the newest of each key.
    `records` has every step in the order of recording, `flushed` the number of steps at each flush,
    and `asked` the keys of each lookup. Recording more than `room` steps kills the process."""

    is_kept = True
    can_ask = EVERY_KIND

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.steps: dict[str, Step] = {}
        self.records: list[Step] = []
        self.flushed: list[int] = []
        self.interactions: dict[tuple[str, str], InteractionRequest] = {}
        self.consents: dict[str, Consent] = {}
        self.asked: list[str] = []
        self.stops: dict[str, asyncio.Event] = {}

    def step(self, key: str) -> Step | None:
        return self.steps.get(key)

    def record(self, step: Step) -> None:
        if self.room is not None and len(self.records) >= self.room:
            raise Crash
        self.records.append(step)
        self.steps[step.key] = replace(step, result=json.loads(json.dumps(step.result)))

    async def flush(self) -> None:
        self.flushed.append(len(self.records))

    def interaction(self, key: str, kind: str) -> InteractionRequest | None:
        return self.interactions.get((key, kind))

    def ask(self, interaction: InteractionRequest) -> None:
        asked = self.interactions.setdefault((interaction.key, interaction.kind), interaction)
        assert asked == interaction
        self.asked.append(interaction.key)

    def answer(self, key: str, kind: str, **answer: object) -> None:
        asked = self.interactions[key, kind]
        self.interactions[key, kind] = replace(asked, answer=answer, answered_by="alice")

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
        asked = self.interactions.setdefault((interaction.key, interaction.kind), interaction)
        return asked.answer or {"outcome": "timeout"}

    def stopping(self, key: str) -> asyncio.Event:
        return self.stops.setdefault(key, asyncio.Event())

    def consent(self, tool: str) -> Consent | None:
        return self.consents.get(tool)

    def idempotency_key(self, key: str) -> str:
        return f"run/{key}"
