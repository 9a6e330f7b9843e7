"""Defines the common fields of toolsets, and their interface for other modules."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from apps.manifest.kind import Kind
from apps.manifest.names import Localized, localize_text, sanitize, visible_name
from apps.manifest.nodes import IN_PREVIEW, Node
from apps.manifest.toolsets.approvals import Approval
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.manifest.toolsets.tools import AnyTool, PredefinedTool, SimpleDeploymentTool


class ToolSetFields(Node):
    """Fields of every toolset, except a predefined one."""

    kind: ClassVar[Kind]
    """The description of the kind, which each subclass defines."""
    if TYPE_CHECKING:  # Each kind declares them in its own order.
        type: str
        name: Localized

    title: Localized | None = None
    """The title that users see instead of the name, in steps and in the switches of the message
    box: one text, or one text per language as in `name`. Null: the name.
    """
    description: Localized | None = None
    """The purpose of the toolset: one text, or one text per language as in `name`. The model uses
    the description to select toolsets when it searches for tools or starts a sub-agent.
    """
    approval: Approval | None = None
    """The tool calls that need approval or are denied. Null: the rules in `features.approval`."""
    enabled: bool = True
    """False: the toolset is ignored."""
    user_switch: Literal["on", "off"] | None = None
    """Let users turn the toolset, such as a web search, on and off in the chat page's message box.
    `on` or `off` is its state in new conversations. Requests through APIs that do not store
    conversations always use the toolset. Null: always on, without a switch.
    """
    deferred: bool | None = Field(default=True, json_schema_extra=IN_PREVIEW)
    """False: never hide these tools, even if `orchestrator.tool_discovery` hides other tools. The
    tools of `dial-deployment`, `dial-app`, `a2a-agent` and `responses-agent` toolsets are never
    hidden.
    """

    @property
    def label(self) -> str:
        """Return the name of the toolset for reports, or "" if it has none."""
        return localize_text(self.name)

    @property
    def shown_name(self) -> Localized:
        """Return the title, or else the name."""
        return self.title or self.name

    @property
    def origin(self) -> str:
        """Return where the toolset's tools come from, such as a host. Operators see this text."""
        return ""

    @property
    def server(self) -> McpServerInfo | str | None:
        """Return the toolset's MCP server, the ID of a server in DIAL Core, or None."""
        return None

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        """Yield the visible name of each enabled tool that the manifest lists, and the tool's path
        in the toolset.
        """
        yield from ()


class NamedToolSet(ToolSetFields):
    """Fields of every toolset except `dial-mcp`."""

    name: Localized
    """The prefix of the toolset's tool names (`desk` changes `find_ticket` to `desk_find_ticket`)
    and of their stage titles. Deployment tools, chat page tools and internal tools have no prefix.
    An agent's tool has exactly this name. If the name of an MCP toolset is empty, the server's own
    name is used. The value is one text, or one text per language, such as `{"en": "Desk", "de":
    "Schalter"}`. The model sees the English text.
    """


class WrittenToolSet(NamedToolSet):
    """A toolset whose tools are defined in the manifest, or predefined."""

    if TYPE_CHECKING:
        tools: tuple[AnyTool, ...]

    @property
    def origin(self) -> str:
        return "1 tool" if len(self.tools) == 1 else f"{len(self.tools)} tools"

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        for index, tool in enumerate(self.tools):
            if not tool.enabled or isinstance(tool, PredefinedTool):
                continue
            if isinstance(tool, SimpleDeploymentTool):
                yield sanitize(tool.deployment_id), f"tools[{index}].deployment_id"
                continue
            own = tool.open_ai_tool.function.name
            shown = visible_name(self.name, own) if self.kind.is_prefixed else sanitize(own)
            yield shown, f"tools[{index}].open_ai_tool.function.name"
