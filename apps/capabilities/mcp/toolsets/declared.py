"""Defines a toolset as the manifest declares it, before its server is contacted."""

from dataclasses import dataclass

from apps.accounts.caller import Caller
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.errors import ToolError, ToolTimedOut
from apps.manifest.kinds.dial_app import DialAppToolSet
from apps.manifest.kinds.dial_mcp import UNNAMED, DialMcpToolSet
from apps.manifest.kinds.mcp import McpToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import Localized, localize_text
from apps.manifest.toolsets.mcp import McpResources, McpTools
from apps.workspace.egress.headers import header_name_problem, header_value_problem, is_lasting


@dataclass(frozen=True, slots=True)
class Toolset:
    path: str
    """The toolset's path in the manifest, such as `tool_sets[2]`."""
    node: McpToolSet | DialMcpToolSet | DialAppToolSet
    manifest: Manifest
    seconds: float
    """The timeout for a call, in seconds."""
    workspace_id: str = ""
    """The toolset's ID in the workspace, or "" if the manifest contains the server's URL."""
    workspace_name: Localized = ""
    """The toolset's name in the workspace, which overrides the name in the manifest."""
    server_name: str = ""
    """The server's own name, for a toolset without any other name."""

    @property
    def name(self) -> Localized:
        """Return the name of the toolset, which is the prefix of its tools' names."""
        if localize_text(self.workspace_name):
            return self.workspace_name
        is_named = localize_text(self.node.name) and self.node.name != UNNAMED
        return self.node.name if is_named or not self.server_name else self.server_name

    @property
    def label(self) -> str:
        """Return the name of the toolset for messages."""
        return self.node.label or self.server_name or self.path

    @property
    def resources(self) -> McpResources | None:
        return self.node.resources if isinstance(self.node, McpTools) else None

    @property
    def uses_instructions(self) -> bool:
        return isinstance(self.node, McpTools) and self.node.server_instructions

    @property
    def failure_texts(self) -> tuple[str, ...]:
        """Return prefixes of result texts that report a failure without the error flag."""
        return (self.node.failure_texts or ()) if isinstance(self.node, McpTools) else ()

    @property
    def runs_code(self) -> bool:
        """Return True if the tools run code, so that their results are execution reports."""
        return isinstance(self.node, McpTools) and self.node.result_format == "execution"

    @property
    def is_optional(self) -> bool:
        return isinstance(self.node, McpToolSet) and self.node.is_optional

    def forwarded(self, caller: Caller) -> dict[str, str]:
        """Return the caller's headers that the manifest forwards, except headers that are invalid
        in HTTP.
        """
        named = self.node.forward_headers if isinstance(self.node, McpToolSet) else None
        wanted = frozenset(name.lower() for name in named or ())
        return {
            name: value.strip()
            for name, value in caller.client.headers.items()
            if name.lower() in wanted
            and not header_name_problem(name)
            and not header_value_problem(value)
        }

    def refusal(self, failure: ConnectionFailed, name: str) -> ToolError:
        """Convert a failed connection to a tool error for the model. `name` is the tool's name."""
        if failure.needs_sign_in:
            return ToolError(failure.message(self.label), is_lasting=True)
        if failure.timed_out:
            return ToolTimedOut(name, self.seconds)
        return ToolError(
            f"{name}: {failure.text}",
            is_lasting=bool(failure.status) and is_lasting(failure.status),
            retry_after=failure.retry_after,
        )
