"""Stores the admitted request for the MCP handlers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp.server import ServerRequestContext

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.admission import Admission
from apps.doors.refusals import Header
from apps.doors.run_slots import Recorded
from apps.live.hub import Hub
from apps.live.limits.quotas import RunSlots
from apps.workspace.port import Workspace

SCOPE_KEY = "quickapps.mcp"
"""The key of the admitted request in the ASGI scope."""
OpenWorkspace = Callable[[Caller, ResolvedApplication | None], Workspace]


@dataclass(frozen=True, slots=True)
class AdmittedRequest:
    """An admitted request."""

    admission: Admission
    application: ResolvedApplication | None
    """The application in the URL, or None if the URL is for all of the caller's applications."""
    open_workspace: OpenWorkspace
    recorded: Recorded
    slots: RunSlots
    hub: Hub
    answer_headers: list[Header] = field(default_factory=list)
    """Headers that are added to the response unless it has already started."""

    @property
    def caller(self) -> Caller:
        return self.admission.caller

    def workspaces(self, application: ResolvedApplication | None) -> Callable[[Caller], Workspace]:
        """Return a function that opens a caller's workspace for runs of the application."""
        return lambda caller: self.open_workspace(caller, application)


def admitted(context: ServerRequestContext[Any, Any]) -> AdmittedRequest:
    """Return the admitted request that the SDK's context belongs to."""
    request: Any = context.request
    found: AdmittedRequest = request.scope[SCOPE_KEY]
    return found
