"""A toolset of a manifest, as far as it is known before it is opened."""

from dataclasses import dataclass

from apps.accounts.caller import Caller
from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.errors import ToolError, ToolTimedOut
from apps.manifest.manifest import Manifest
from apps.manifest.mcp_toolsets import (
    UNNAMED,
    DialMcpToolSet,
    McpResources,
    McpTools,
    McpToolSet,
)
from apps.manifest.names import Localized, localized
from apps.manifest.toolsets import DialAppToolSet, label_of
from apps.workspace.egress.headers import header_name_problem, header_value_problem, is_lasting


@dataclass(frozen=True, slots=True)
class Toolset:
    """`path` is its place in the manifest; `seconds` is the time that a call has.

    `kept_as` is its id in the workspace, "" when the manifest itself says where the server is;
    `known_as` is how the workspace calls it, which wins over the manifest's name; `server_name`
    is how the server calls itself, for a toolset that has no other name.
    """

    path: str
    node: McpToolSet | DialMcpToolSet | DialAppToolSet
    manifest: Manifest
    seconds: float
    kept_as: str = ""
    known_as: Localized = ""
    server_name: str = ""

    @property
    def name(self) -> Localized:
        """Precedes the names of its tools."""
        if localized(self.known_as):
            return self.known_as
        is_named = localized(self.node.name) and self.node.name != UNNAMED
        return self.node.name if is_named or not self.server_name else self.server_name

    @property
    def label(self) -> str:
        """For reports."""
        return label_of(self.node) or self.server_name or self.path

    @property
    def resources(self) -> McpResources | None:
        return self.node.resources if isinstance(self.node, McpTools) else None

    @property
    def tells_instructions(self) -> bool:
        return isinstance(self.node, McpTools) and self.node.server_instructions

    @property
    def failure_texts(self) -> tuple[str, ...]:
        """Beginnings of results that count as failures, without being marked as such."""
        return (self.node.failure_texts or ()) if isinstance(self.node, McpTools) else ()

    @property
    def runs_code(self) -> bool:
        """Whether results are reports of executions."""
        return isinstance(self.node, McpTools) and self.node.result_format == "execution"

    @property
    def is_optional(self) -> bool:
        return isinstance(self.node, McpToolSet) and self.node.is_optional

    def forwarded(self, caller: Caller) -> dict[str, str]:
        """The caller's own headers that the manifest wants sent, as far as headers can be."""
        named = self.node.forward_headers if isinstance(self.node, McpToolSet) else None
        wanted = frozenset(name.lower() for name in named or ())
        return {
            name: value.strip()
            for name, value in caller.headers.items()
            if name.lower() in wanted
            and not header_name_problem(name)
            and not header_value_problem(value)
        }

    def refusal(self, failure: ConnectionFailed, name: str) -> ToolError:
        """The failure for the model."""
        if failure.needs_sign_in:
            return ToolError(failure.message(self.label), is_lasting=True)
        if failure.timed_out:
            return ToolTimedOut(name, self.seconds)
        return ToolError(
            f"{name}: {failure.text}",
            is_lasting=bool(failure.status) and is_lasting(failure.status),
            retry_after=failure.retry_after,
        )
