"""An application with file tools, for one caller of a workspace."""

from dataclasses import dataclass
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.files.capability import files
from apps.capabilities.registry import Contribution, Opening
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest
from apps.workspace.loading.shared_loads import Loading, rules_of
from apps.workspace.port import Workspace
from apps.workspace.stored_files import Files
from tests.capabilities.manifests import manifest

CALLER = Caller("user-1", "user", user_id=1)


def document(**dial_files: Any) -> Manifest:
    dial_files = {"tool_call_result_offload": None, **dial_files}
    return manifest(features={"dial_files": dial_files, "timestamp": None})


@dataclass(frozen=True)
class Agent:
    """The tools of one run."""

    opening: Opening
    contribution: Contribution

    @property
    def files(self) -> Files:
        return self.opening.workspace.files

    def tool(self, name: str) -> Tool:
        tools = {tool.spec.name: tool for tool in self.contribution.tools}
        return tools[f"internal_file_{name}"]

    async def call(self, name: str, emit: Emit = silent, **arguments: Any) -> ToolResult:
        return await self.tool(name).call(Invocation("call-1", arguments, (), emit))

    async def use(self, name: str, **arguments: Any) -> str:
        return (await self.call(name, **arguments)).content

    async def refused(self, name: str, **arguments: Any) -> str:
        """Return the error of an invalid call for the model."""
        try:
            result = await self.call(name, **arguments)
        except InvalidParameter as error:
            return str(error)
        raise AssertionError(f"it was not refused: {result.content}")

    async def keep(self, name: str, content: bytes, content_type: str = "text/plain") -> str:
        return (await self.files.keep(name, content, content_type)).path


async def agent_on(workspace: Workspace, **dial_files: Any) -> Agent:
    wanted = document(**dial_files)
    opener = files.prepare(wanted)
    assert opener is not None
    opening = Opening(workspace, CALLER, silent, loading=Loading(rules_of(wanted)))
    async with opener(opening) as contribution:
        return Agent(opening, contribution)
