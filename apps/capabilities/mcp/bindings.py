"""A toolset bound to one run: where its server is, for whom, and in which session."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.conf import settings

from apps.capabilities.mcp.endpoints import Endpoint, find_endpoint
from apps.capabilities.mcp.person_accounts import NotSignedIn, wanted_account
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.mcp.session_slots import SessionSlot
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Key, Opening
from apps.manifest.mcp_toolsets import McpToolSet
from apps.manifest.names import Localized
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.egress.urls import read_url
from apps.workspace.oauth.accounts import find_account


@dataclass(frozen=True, slots=True)
class ToolsetBinding:
    """`headers` go with every request; the endpoint has their hash, so sessions differ by them.

    `is_private`: nobody can use its session after the run.
    """

    toolset: Toolset
    endpoint: Endpoint
    bucket: str
    is_private: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def slot(self) -> SessionSlot:
        """Raises `ConnectionFailed` when too many servers are in use."""
        return current_pool().slot(self.endpoint, self.bucket)

    def request_context(self) -> RequestContext:
        return RequestContext(self.headers, self.toolset.seconds)

    def call_context(self) -> RequestContext:
        """Of a tool's call. A question to a person does not count in its time limit."""
        asks = bool(self.endpoint.seat)
        return replace(self.request_context(), is_limited_elsewhere=asks)


BINDINGS = Key[dict[str, ToolsetBinding]]("mcp_bindings")
"""Of a run, by the place of the toolset in the manifest."""


async def bind_toolset(toolset: Toolset, opening: Opening) -> ToolsetBinding:
    """Raises `Unsupported`, `DeploymentNotFound`, `AddressInvalid`, `NotSignedIn`."""
    if isinstance(toolset.node, McpToolSet):
        endpoint = await find_endpoint(toolset.node.mcp_server_info)
        if (wanted := wanted_account(toolset)) is not None:
            account = await find_account(wanted, opening.caller.bucket)
            if account is None:
                raise NotSignedIn
            endpoint = replace(endpoint, account=(account.pk, account.connected_at))
        headers: Mapping[str, str] = toolset.forwarded(opening.caller)
    else:
        found = await opening.workspace.mcp_endpoint(toolset.kept_as)
        headers = found.headers
        is_core = bool(settings.DIAL_URL) and found.url.startswith(f"{settings.DIAL_URL}/")
        trust = Trust.DIAL if is_core else Trust.OPERATOR
        endpoint = Endpoint(found.protocol, read_url(found.url).parts.geturl(), trust)
        toolset = replace(toolset, known_as=known_as(toolset, found.display_name))
    caller = opening.caller
    return ToolsetBinding(
        toolset,
        replace(endpoint, carried=digest(headers)),
        # A caller without a name gets sessions of their own for the run.
        caller.bucket or f"run-{id(opening)}",
        # A key of DIAL's is good for one request.
        is_private=bool(toolset.kept_as) or not caller.bucket,
        headers=headers,
    )


def known_as(toolset: Toolset, name: str | Mapping[str, str]) -> Localized:
    """A toolset's tools are named as the workspace calls it, an application's by the manifest."""
    if toolset.node.type != "dial-mcp":
        return ""
    return name if isinstance(name, str) else dict(name)


def digest(headers: Mapping[str, str]) -> str:
    """Tells sets of headers apart without telling what is in them; "" for none."""
    if not headers:
        return ""
    said = sorted((name.lower(), value) for name, value in headers.items())
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
