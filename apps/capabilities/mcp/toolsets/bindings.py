"""Binds a toolset to a run: its server's URL, the caller's credentials, and the session."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

from django.conf import settings

from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint, find_endpoint
from apps.capabilities.mcp.sessions.pool import current_pool
from apps.capabilities.mcp.sessions.slots import SessionSlot
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.mcp.toolsets.person_accounts import NotSignedIn, wanted_account
from apps.capabilities.registry import Key, Opening
from apps.manifest.kinds.mcp import McpToolSet
from apps.manifest.names import Localized
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.egress.urls import read_url
from apps.workspace.oauth.accounts import find_account


@dataclass(frozen=True, slots=True)
class ToolsetBinding:
    """A toolset that is bound to a run."""

    toolset: Toolset
    endpoint: ServerEndpoint
    bucket: str
    is_private: bool
    """True if the session ends with the run."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers for every request. The endpoint contains their hash, so runs with different headers
    use different sessions.
    """

    @property
    def slot(self) -> SessionSlot:
        """Return the slot of the session in the pool. Raises `ConnectionFailed` if the pool is
        full.
        """
        return current_pool().slot(self.endpoint, self.bucket)

    def request_context(self) -> RequestContext:
        return RequestContext(self.headers, self.toolset.seconds)

    def call_context(self) -> RequestContext:
        """Return the context of a tool call. Its time limit is paused while the user is being
        asked.
        """
        asks = bool(self.endpoint.seat)
        return replace(self.request_context(), is_limited_elsewhere=asks)


BINDINGS = Key[dict[str, ToolsetBinding]]("mcp_bindings")
RUN_BUCKET = Key[str]("mcp_run_bucket")


def make_run_bucket() -> str:
    return f"run-{uuid4().hex}"


async def bind_toolset(toolset: Toolset, opening: Opening) -> ToolsetBinding:
    """Bind a toolset to a run. Raises `NotSignedIn` if the user has to sign in.

    Raises `Unsupported`, `DeploymentNotFound` or `AddressInvalid` if the server cannot be used.
    """
    if isinstance(toolset.node, McpToolSet):
        endpoint = await find_endpoint(toolset.node.mcp_server_info)
        if (wanted := wanted_account(toolset)) is not None:
            account = await find_account(wanted, opening.caller.bucket)
            if account is None:
                raise NotSignedIn
            endpoint = replace(endpoint, account=(account.pk, account.connected_at))
        headers: Mapping[str, str] = toolset.forwarded(opening.caller)
    else:
        found = await opening.workspace.mcp_endpoint(toolset.workspace_id)
        headers = found.headers
        is_core = bool(settings.DIAL_URL) and found.url.startswith(f"{settings.DIAL_URL}/")
        trust = Trust.DIAL if is_core else Trust.OPERATOR
        endpoint = ServerEndpoint(found.protocol, read_url(found.url).parts.geturl(), trust)
        toolset = replace(toolset, workspace_name=find_workspace_name(toolset, found.display_name))
    caller = opening.caller
    return ToolsetBinding(
        toolset,
        replace(endpoint, carried=digest(headers)),
        # A caller without a bucket gets separate sessions for the run.
        caller.bucket or opening.findings.get_or_make(RUN_BUCKET, make_run_bucket),
        # A DIAL key is valid for only one request.
        is_private=bool(toolset.workspace_id) or not caller.bucket,
        headers=headers,
    )


def find_workspace_name(toolset: Toolset, name: str | Mapping[str, str]) -> Localized:
    """Return the name of a `dial-mcp` toolset in the workspace. Other toolsets have a name in the
    manifest, so return "".
    """
    if toolset.node.type != "dial-mcp":
        return ""
    return name if isinstance(name, str) else dict(name)


def digest(headers: Mapping[str, str]) -> str:
    """Return a hash of the headers, or "" if there are none."""
    if not headers:
        return ""
    said = sorted((name.lower(), value) for name, value in headers.items())
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
