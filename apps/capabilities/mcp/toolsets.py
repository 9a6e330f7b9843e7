"""A toolset of a manifest, read once: everything about it that is known before it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from apps.accounts.caller import Caller
from apps.capabilities.mcp.contacts import Contact
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.registry import Opening
from apps.errors import ToolError, ToolTimedOut
from apps.manifest.manifest import Manifest
from apps.manifest.naming import localized
from apps.manifest.toolsets import McpToolSet
from apps.workspace.egress.errands import Errand
from apps.workspace.egress.headers import header_name_problem, header_value_problem


@dataclass(frozen=True, slots=True)
class Toolset:
    """`path` is its place in the manifest; `seconds` is the time that a call has."""

    path: str
    node: McpToolSet
    manifest: Manifest
    seconds: float

    @property
    def label(self) -> str:
        return localized(self.node.name) or self.path

    def errand(self, caller: Caller) -> Errand:
        """What is sent along: the caller's own headers, as far as headers can be."""
        headers = {
            name: value.strip()
            for name, value in caller.headers.items()
            if not header_name_problem(name) and not header_value_problem(value)
        }
        return Errand(headers, self.seconds)

    def refusal(self, failure: ConnectionFailed, name: str) -> ToolError:
        """A failure in words for the model."""
        if failure.needs_sign_in:
            error = ToolError(failure.told(self.label))
            error.is_lasting = True
            return error
        if failure.timed_out:
            return ToolTimedOut(name, self.seconds)
        return ToolError(f"{name}: {failure.text}")


def bucket_of(opening: Opening) -> str:
    """Whose session it is. Somebody without a name gets one of their own for the run."""
    return opening.caller.bucket or f"run-{id(opening)}"


def contact_of(opening: Opening, endpoint: Endpoint) -> Contact:
    return current_pool().contact(endpoint, bucket_of(opening))
