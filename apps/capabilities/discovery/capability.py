"""Hides large toolsets from the model, and adds a tool that searches them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_lazy

from apps.agent.tools import Tool, Toolbox
from apps.capabilities.discovery import chooser
from apps.capabilities.discovery.search import TOOL_NAME, Search
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    field_or_setting,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.value_texts import one_line
from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import localize_text
from apps.manifest.nodes import enabled_nodes
from apps.manifest.toolsets.shared_fields import ToolSetFields
from apps.manifest.toolsets.tools import InternalTool

PARAMETERS = parameters(
    {"query": text_parameter("What the tool should do, in a few words.", display=IN_TITLE)}, "query"
)
GRACE_SECONDS = 5.0
"""The tool's time limit includes this many seconds for a keyword search after the model has timed
out.
"""
DESCRIPTION = """\
Finds tools that are not listed and makes them available to you. Search before you say that \
something cannot be done. There are more tools in:
{topics}"""
DESCRIPTION_CHARACTERS = 300


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.orchestrator.tool_discovery
    if wanted is None or not wanted.enabled:
        return None
    least = int(field_or_setting(wanted, "min_tools_for_deferral", settings.MIN_TOOLS_FOR_DEFERRAL))
    deployment_id = wanted.service_model or manifest.orchestrator.deployment.id
    options = ToolOptions(
        read_arguments(PARAMETERS),
        display_of(manifest, gettext_lazy("Searching for tools:"), parameters=PARAMETERS),
        chooser.SECONDS + GRACE_SECONDS,
        is_repeatable=True,
    )

    @asynccontextmanager
    async def open_discovery(opening: Opening) -> AsyncIterator[Contribution]:
        def arrange(toolbox: Toolbox) -> None:
            groups = deferred_groups(manifest, toolbox.listed.values(), least)
            if groups:
                deferred = {tool.spec.name: tool for group in groups for tool in group.tools}
                topics = "\n".join(group.line for group in groups)
                search = Search(toolbox, deferred, deployment_id, topics)
                description = DESCRIPTION.format(topics=topics)
                tool = prepared_tool(TOOL_NAME, description, search.find, options)
                search.withhold()
                toolbox.listed[TOOL_NAME] = tool.bind(opening)
                search.recall(opening.conversation.state, opening.conversation.saved)
                # If the client requires a specific tool, the tool does not have to be found first.
                search.reveal([opening.demanded], opening.conversation.saved)

        yield Contribution(arrange=(arrange,))

    return open_discovery


@dataclass(frozen=True, slots=True)
class ToolGroup:
    name: str
    description: str
    tools: tuple[Tool, ...]

    @property
    def line(self) -> str:
        """Return the toolset's line in the description of the search tool."""
        count = "1 tool" if len(self.tools) == 1 else f"{len(self.tools)} tools"
        text = one_line(self.description, DESCRIPTION_CHARACTERS)
        return f"- {one_line(self.name)} ({count}){f': {text}' if text else ''}"


def deferred_groups(manifest: Manifest, tools: Iterable[Tool], least: int) -> list[ToolGroup]:
    """Return the toolsets to hide, in the order of the manifest. A hidden toolset has at least
    `least` tools.
    """
    internal = internal_tools(manifest)
    members: dict[str, list[Tool]] = {}
    for tool in tools:
        place = tool.toolset or internal.get(tool.spec.name, "")
        members.setdefault(place, []).append(tool)
    return [
        ToolGroup(localize_text(toolset.name), localize_text(toolset.description), tuple(found))
        for index, toolset in enumerate(manifest.tool_sets)
        if isinstance(toolset, ToolSetFields) and toolset.kind.is_deferrable
        if toolset.deferred is not False
        if len(found := members.get(node_path(index), [])) >= least
    ]


def internal_tools(manifest: Manifest) -> dict[str, str]:
    """Map names of internal tools to the paths of their toolsets."""
    return {
        tool.open_ai_tool.function.name: place
        for place, toolset in enabled_nodes(InternalToolSet, manifest.tool_sets, "tool_sets")
        for _, tool in enabled_nodes(InternalTool, toolset.tools, f"{place}.tools")
    }


def node_path(index: int) -> str:
    return f"tool_sets[{index}]"


discovery = Capability("discovery", frozenset({"orchestrator.tool_discovery"}), prepare)
