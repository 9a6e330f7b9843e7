"""Tool discovery: large toolsets are withheld, and the model searches for the tools it needs."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from django.conf import settings

from apps.agent.tools import Tool, Toolbox
from apps.capabilities.discovery.search import TOOL_NAME, Search
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.internal import IN_TITLE, configured, parameters, text_parameter
from apps.capabilities.wrappers.texts import one_line
from apps.manifest.client_tools import ClientToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.mcp_toolsets import DialMcpToolSet, McpToolSet
from apps.manifest.names import localized
from apps.manifest.nodes import enabled
from apps.manifest.tools import InternalTool
from apps.manifest.toolsets import InternalToolSet, RestToolSet

PARAMETERS = parameters(
    {"query": text_parameter("What the tool should do, in a few words.", display=IN_TITLE)}, "query"
)
GRACE_SECONDS = 5.0
"""To search by words after a model that was too slow."""
DESCRIPTION = """\
Finds tools that are not listed and makes them available to you. Search before you say that \
something cannot be done. There are more tools in:
{topics}"""
Deferrable = RestToolSet | InternalToolSet | McpToolSet | DialMcpToolSet | ClientToolSet
"""Not deployments: their tools are few, and each is an agent of its own."""

DESCRIPTION_CHARACTERS = 300


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.orchestrator.tool_discovery
    if wanted is None or not wanted.enabled:
        return None
    least = int(configured(wanted, "min_tools_for_deferral", settings.MIN_TOOLS_FOR_DEFERRAL))
    deployment_id = wanted.service_model or manifest.orchestrator.deployment.id
    wishes = Wishes(
        read_arguments(PARAMETERS),
        display_of(manifest, "Searching for tools:", parameters=PARAMETERS),
        settings.TOOL_DISCOVERY_SECONDS + GRACE_SECONDS,
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
                tool = prepared_tool(TOOL_NAME, description, search.find, wishes)
                search.withhold()
                toolbox.listed[TOOL_NAME] = tool.bind(opening)
                search.recall(opening.state, opening.saved)
                # A client that names the tool to be called has found it already.
                search.reveal([opening.demanded], opening.saved)

        yield Contribution(arrange=(arrange,))

    return open_discovery


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: str
    tools: tuple[Tool, ...]

    @property
    def line(self) -> str:
        """For the description of the search tool."""
        count = "1 tool" if len(self.tools) == 1 else f"{len(self.tools)} tools"
        text = one_line(self.description, DESCRIPTION_CHARACTERS)
        return f"- {one_line(self.name)} ({count}){f': {text}' if text else ''}"


def deferred_groups(manifest: Manifest, tools: Iterable[Tool], least: int) -> list[Group]:
    """The toolsets that may be withheld and have at least `least` tools, in their order."""
    internal = internal_tools(manifest)
    members: dict[str, list[Tool]] = {}
    for tool in tools:
        place = tool.toolset or internal.get(tool.spec.name, "")
        members.setdefault(place, []).append(tool)
    return [
        Group(localized(toolset.name), localized(toolset.description), tuple(found))
        for index, toolset in enumerate(manifest.tool_sets)
        if isinstance(toolset, Deferrable) and toolset.deferred is not False
        if len(found := members.get(place_of(index), [])) >= least
    ]


def internal_tools(manifest: Manifest) -> dict[str, str]:
    """Name of an internal tool → path of its toolset."""
    return {
        tool.open_ai_tool.function.name: place
        for place, toolset in enabled(InternalToolSet, manifest.tool_sets, "tool_sets")
        for _, tool in enabled(InternalTool, toolset.tools, f"{place}.tools")
    }


def place_of(index: int) -> str:
    return f"tool_sets[{index}]"


discovery = Capability("discovery", frozenset({"orchestrator.tool_discovery"}), prepare)
