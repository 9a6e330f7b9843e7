"""Short functions for toolsets of deployments, and a workspace with scripted models."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, Model
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.registry import Contribution, Opening
from apps.workspace.loading.shared_loads import Loading, rules_of
from apps.workspace.openai.chunks import ChunkReader
from apps.workspace.openai.wire import StreamChunk
from apps.workspace.port import DeploymentInfo
from tests.capabilities.manifests import manifest
from tests.fakes import FakeWorkspace, ScriptedModel, saying

CALLER = Caller("user-7", "key")
ECHO = DeploymentInfo("echo", "Echo", "Says it again.")


class Workspace(FakeWorkspace):
    """Records the options of its models (headers, seconds), and has a prompt."""

    def __init__(self, models: Mapping[str, Model], *infos: DeploymentInfo) -> None:
        super().__init__(CALLER)
        self.models = models
        self.infos = {info.id: info for info in infos}
        self.wishes: list[tuple[Collection[str] | None, float | None]] = []

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        self.wishes.append((headers, idle_seconds))
        return await super().model(deployment_id)

    async def prompt(self, path: str) -> str:
        return f"The prompt of {path}, {{tone}}."


def written(deployment_id: str = "echo", /, **fields: Any) -> dict[str, Any]:
    """Return a tool that is defined in full. Unknown arguments belong to its function."""
    function = {
        "name": fields.pop("name", "repeat"),
        "description": "Repeats.",
        "parameters": {
            "type": "object",
            "properties": fields.pop("properties", {}),
            "required": fields.pop("required", []),
        },
    }
    target = {"deployment_id": deployment_id, "parameters": fields.pop("parameters", {})}
    return {
        "type": "deployment-tool",
        "deployment": target,
        "open_ai_tool": {"function": function},
        **fields,
    }


def simple(deployment_id: str = "echo", /, **fields: Any) -> dict[str, Any]:
    return {"type": "dial-deployment-simple", "deployment_id": deployment_id, **fields}


def team(*tools: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "dial-deployment", "name": "Team", "tools": list(tools), **fields}


@asynccontextmanager
async def opened(
    workspace: Workspace, *tools: Mapping[str, Any], **rest: Any
) -> AsyncIterator[Contribution]:
    document = manifest(team(*tools), **rest)
    opener = deployment.prepare(document)
    assert opener is not None
    loading = Loading(rules_of(document))
    async with opener(Opening(workspace, CALLER, silent, loading=loading)) as contribution:
        yield contribution


@asynccontextmanager
async def one_tool(
    workspace: Workspace, tool: Mapping[str, Any], **rest: Any
) -> AsyncIterator[Tool]:
    async with opened(workspace, tool, **rest) as contribution:
        assert contribution.issues == ()
        (only,) = contribution.tools
        yield only


async def use(
    tool: Tool,
    emit: Emit = silent,
    messages: Sequence[ModelMessage] = (),
    call_id: str = "call-1",
    **arguments: Any,
) -> ToolResult:
    return await tool.call(Invocation(call_id, arguments, messages, emit))


def echo(
    *answers: Sequence[object], info: DeploymentInfo = ECHO
) -> tuple[Workspace, ScriptedModel]:
    """Return a workspace with one deployment, and its model, which says "Well." by default."""
    model = ScriptedModel(*(answers or (saying("Well."),)))
    return Workspace({"echo": model}, info), model


def chunk(**fields: Any) -> list[Delta]:
    """Parse a chunk as it arrives from a service."""
    deltas: list[Delta] = []
    ChunkReader().read(msgspec.convert(fields, StreamChunk), deltas)
    return deltas
