"""Stand-ins that are real implementations: a scripted model, tools from plain functions."""

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
from apps.agent.ledger import EVERY_KIND, Consent, Interaction, Step
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

    def write(self, request: ModelRequest) -> bytes:
        """The roles and texts of the messages, and the names of the tools."""
        said = [f"{message.role}: {message.text}" for message in request.messages]
        return "\n".join([*said, *(tool.name for tool in request.tools)]).encode()


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

    async def embedder(self, deployment_id: str | None) -> HashedEmbedder:
        return HashedEmbedder(deployment_id or "hashed")


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


class Crash(BaseException):
    """The end of a process in the middle of a run."""


class MemoryLedger:
    """Keeps steps and interactions as rows: JSON, the newest of each key.

    `records` has every step in the order in which they were recorded, `flushed` how many there
    were at each flush, `asked` the keys of what was asked each time. Recording more than `room` steps ends the process.
    """

    is_kept = True
    can_ask = EVERY_KIND

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.steps: dict[str, Step] = {}
        self.records: list[Step] = []
        self.flushed: list[int] = []
        self.interactions: dict[tuple[str, str], Interaction] = {}
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

    def interaction(self, key: str, kind: str) -> Interaction | None:
        return self.interactions.get((key, kind))

    def ask(self, interaction: Interaction) -> None:
        asked = self.interactions.setdefault((interaction.key, interaction.kind), interaction)
        assert asked == interaction
        self.asked.append(interaction.key)

    def answer(self, key: str, kind: str, **answer: object) -> None:
        asked = self.interactions[key, kind]
        self.interactions[key, kind] = replace(asked, answer=answer, answered_by="alice")

    async def ask_now(self, interaction: Interaction) -> Mapping[str, Any]:
        asked = self.interactions.setdefault((interaction.key, interaction.kind), interaction)
        return asked.answer or {"outcome": "timeout"}

    def stopping(self, key: str) -> asyncio.Event:
        return self.stops.setdefault(key, asyncio.Event())

    def consent(self, tool: str) -> Consent | None:
        return self.consents.get(tool)

    def idempotency_key(self, key: str) -> str:
        return f"run/{key}"
