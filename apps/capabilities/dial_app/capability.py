"""Defines toolsets of the kind `dial-app`: DIAL applications, called over MCP if they support it,
otherwise through chat completions.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from apps.capabilities.deployment.capability import is_known_repeatable, make_tool
from apps.capabilities.deployment.targets import find_deployment, read_simple
from apps.capabilities.mcp.toolset_opening import PreparableToolset, open_toolsets
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.usable_deployments import is_usable_deployment, usable_ids
from apps.errors import InitializationIssue
from apps.manifest.kinds.dial_app import DialAppToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import localize_text
from apps.manifest.nodes import enabled_nodes
from apps.manifest.toolsets.tools import SimpleDeploymentTool, as_stated
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

Branch = PreparableToolset | PreparedTool
CHAT_ONLY = ("conversation_mode",)
MCP_ONLY = ("allowed_tools", "hidden_from_model")


class PreparableApp:
    """A `dial-app` toolset. Its protocol is chosen when a run opens it."""

    def __init__(self, path: str, node: DialAppToolSet, manifest: Manifest, seconds: float) -> None:
        self.path = path
        self.node = node
        self.manifest = manifest
        toolset = Toolset(path, node, manifest, seconds, workspace_id=node.deployment_id)
        self.over_mcp = PreparableToolset(toolset)
        self.warned: set[str] = set()

    async def choose(self, opening: Opening) -> Branch | InitializationIssue:
        """Choose the protocol. The application is looked up only if the choice depends on it."""
        node = self.node
        if node.transport == "chat-completion":
            return self.chat(DeploymentInfo(node.deployment_id, ""))
        path = f"{self.path}.deployment_id"
        info = await find_deployment(path, node.deployment_id, "toolset", opening)
        if isinstance(info, InitializationIssue):
            return info
        if info.features.get("mcp"):
            self.warn(CHAT_ONLY, "speaks MCP")
            return self.over_mcp
        if node.transport == "mcp":
            return InitializationIssue(
                f"{self.path}.transport: the deployment {node.deployment_id!r} does not "
                "declare MCP support. Use 'auto' or 'chat-completion'."
            )
        return self.chat(info)

    def chat(self, info: DeploymentInfo) -> PreparedTool:
        self.warn(MCP_ONLY, "is asked as a chat")
        node = self.node
        simple = SimpleDeploymentTool(
            deployment_id=node.deployment_id, conversation_mode=node.conversation_mode
        )
        target, parameters, arguments = read_simple(simple, self.manifest, info)
        is_looked_up = node.transport != "chat-completion"
        target = replace(target, attachment=node.attachment, is_looked_up=is_looked_up)
        title = node.name if localize_text(node.name) else f"Calling {target.name} application"
        descriptions = (
            info.description,
            localize_text(node.description),
            info.display_name,
            localize_text(node.name),
            node.deployment_id,
        )
        description = next(filter(None, descriptions))
        display = display_of(self.manifest, title, parameters=parameters)
        approval = approval_rules(self.manifest, node.approval)
        tool = make_tool(
            target,
            description,
            arguments,
            display,
            node.fallback_configuration,
            approval,
            is_untrusted=bool(node.is_untrusted),
        )
        known = is_looked_up and is_known_repeatable(info)
        repeats = as_stated(node.is_repeatable, otherwise=known)
        return replace(tool, toolset=self.path, is_repeatable=repeats)

    def warn(self, fields: tuple[str, ...], why: str) -> None:
        """Log a warning that the `fields` have no effect, once for each field that is set."""
        for name in fields:
            if getattr(self.node, name) is not None and name not in self.warned:
                self.warned.add(name)
                logger.warning(
                    "%s.%s is ignored, because the application %s.", self.path, name, why
                )


def prepare(manifest: Manifest) -> Open | None:
    seconds = rules_of(manifest).seconds
    apps = [
        PreparableApp(path, node, manifest, seconds)
        for path, node in enabled_nodes(DialAppToolSet, manifest.tool_sets, "tool_sets")
    ]
    if not apps:
        return None

    @asynccontextmanager
    async def open_apps(opening: Opening) -> AsyncIterator[Contribution]:
        branches = await choose(apps, manifest, opening)
        over_mcp = [one for one in branches if isinstance(one, PreparableToolset)]
        refused = [one for one in branches if isinstance(one, InitializationIssue)]
        asked = [one.bind(opening) for one in branches if isinstance(one, PreparedTool)]
        async with open_toolsets(over_mcp, opening, refused, asked) as contribution:
            yield contribution

    return open_apps


async def choose(
    apps: Sequence[PreparableApp], manifest: Manifest, opening: Opening
) -> list[PreparableToolset | PreparedTool | InitializationIssue]:
    """Choose the protocol of each application that the caller may use."""
    usable = await usable_ids(manifest, opening)
    found = (
        app.choose(opening) for app in apps if is_usable_deployment(app.node.deployment_id, usable)
    )
    return list(await asyncio.gather(*found))


dial_app = Capability("dial_app", frozenset({"tool_sets.dial-app"}), prepare)
