"""An application of the workspace as tools: those that it has over MCP, or one that asks it."""

from __future__ import annotations

import logging
from dataclasses import replace

from apps.capabilities.deployment.capability import make_tool
from apps.capabilities.deployment.parameters import OURS, generated, generated_arguments
from apps.capabilities.deployment.targets import simple_target
from apps.capabilities.mcp.toolset_opening import PreparableToolset
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError
from apps.manifest.manifest import Manifest
from apps.manifest.names import localized
from apps.manifest.tools import SimpleDeploymentTool
from apps.manifest.toolsets import DialAppToolSet
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

Branch = PreparableToolset | PreparedTool
CHAT_ONLY = ("conversation_mode",)
MCP_ONLY = ("allowed_tools", "hidden_from_model")


class PreparableApp:
    """A toolset of the kind `dial-app`. Which way it goes is known when it is opened."""

    def __init__(self, path: str, node: DialAppToolSet, manifest: Manifest, seconds: float) -> None:
        self.path = path
        self.node = node
        self.manifest = manifest
        toolset = Toolset(path, node, manifest, seconds, kept_as=node.deployment_id)
        self.over_mcp = PreparableToolset(toolset)
        self.warned: set[str] = set()

    async def choose(self, opening: Opening) -> Branch | InitializationIssue:
        """The application is looked up only if that decides anything."""
        node = self.node
        if node.transport == "chat-completion":
            return self.chat(DeploymentInfo(node.deployment_id, ""))
        try:
            info = await opening.workspace.deployment(node.deployment_id)
        except DeploymentNotFound:
            return InitializationIssue(
                f"{self.path}.deployment_id: there is no deployment {node.deployment_id!r} that "
                "you may use, so the application runs without this toolset."
            )
        except QuickAppError as error:
            return InitializationIssue(f"{self.path}.deployment_id: {error}")
        if info.features.get("mcp"):
            self.warn(CHAT_ONLY, "speaks MCP")
            return self.over_mcp
        if node.transport == "mcp":
            return InitializationIssue(
                f"{self.path}.transport: the deployment {node.deployment_id!r} does not say that "
                "it speaks MCP. Write 'auto' or 'chat-completion'."
            )
        return self.chat(info)

    def chat(self, info: DeploymentInfo) -> PreparedTool:
        self.warn(MCP_ONLY, "is asked as a chat")
        node, mode = self.node, self.node.conversation_mode
        parameters = generated(info, is_resumable=mode is not None and mode.resumable)
        arguments = generated_arguments(parameters, info)
        names = frozenset(arguments.schema["properties"].keys() - OURS)
        simple = SimpleDeploymentTool(deployment_id=node.deployment_id, conversation_mode=mode)
        target = replace(
            simple_target(simple, self.manifest, names),
            attachment=node.attachment,
            is_looked_up=node.transport != "chat-completion",
        )
        title = node.name if localized(node.name) else f"Calling {target.name} application"
        descriptions = (
            info.description,
            localized(node.description),
            info.display_name,
            localized(node.name),
            node.deployment_id,
        )
        tool = make_tool(
            target,
            next(filter(None, descriptions)),
            arguments,
            display_of(self.manifest, title, parameters=parameters),
            node.fallback_configuration,
        )
        return replace(tool, toolset=self.path)

    def warn(self, fields: tuple[str, ...], why: str) -> None:
        """Tell the operator once which fields have no effect."""
        for name in fields:
            if getattr(self.node, name) is not None and name not in self.warned:
                self.warned.add(name)
                logger.warning(
                    "%s.%s is ignored, because the application %s.", self.path, name, why
                )
