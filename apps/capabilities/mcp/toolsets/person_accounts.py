"""Signs users in to MCP servers with their own accounts."""

from dataclasses import replace
from functools import partial
from typing import Literal

from apps.agent.tools import Invocation, Toolbox, ToolResult
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    plain_result,
)
from apps.capabilities.wrappers.sign_in import ask_person, person_token
from apps.manifest.kinds.mcp import McpToolSet
from apps.manifest.names import visible_name
from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.egress.urls import read_url
from apps.workspace.oauth.accounts import RequiredAccount

SignedIn = Literal["open", "missing", "refused"]
"""The state of the user's sign-in: signed in, not signed in, or rejected by the server."""

DESCRIPTION = (
    "Asks the user to sign in to {label} with their own account. The tools of {label} are "
    "available only after that, so call this first if the user's request needs {label}."
)
CONNECTED = "{label} is connected. Its tools are available now. Continue with the user's request."
LATER = "{label} is connected. Its tools are available from the user's next message on."


class NotSignedIn(Exception):
    """Raised if the user has no valid account on the server."""


def wanted_account(toolset: Toolset) -> RequiredAccount | None:
    node = toolset.node
    info = node.mcp_server_info if isinstance(node, McpToolSet) else None
    if info is None or info.protocol == "stdio":
        return None
    if not isinstance(info.authorization, OAuthAuthorization):
        return None
    url = read_url(info.url).parts._replace(fragment="").geturl()
    return RequiredAccount(url, toolset.label, info.authorization)


def refused_account(toolset: Toolset, failure: ConnectionFailed) -> RequiredAccount | None:
    """Return the account to sign in with after a rejection, or None if a sign-in cannot help."""
    wanted = wanted_account(toolset) if failure.refuses_account else None
    return replace(wanted, challenge=failure.challenge) if wanted is not None else None


def connect_tool(toolset: Toolset, wanted: RequiredAccount, state: SignedIn) -> PreparedTool:
    """Return the tool with which the model asks the user to sign in to the toolset."""
    label = toolset.label
    tool = internal_tool(
        toolset.manifest,
        PlatformTool(
            connect_name(toolset),
            DESCRIPTION.format(label=label),
            parameters({}),
            f"Connect {label}",
            "read-only",
            is_system=True,  # Users see the card of the sign-in request.
        ),
        partial(connect, wanted, state),
    )
    return replace(tool, toolset=toolset.path)


def connect_name(toolset: Toolset) -> str:
    return visible_name(toolset.name, "connect_account")


async def connect(
    wanted: RequiredAccount, state: SignedIn, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Ask the user to sign in, unless they are signed in. Raises `ToolError` on failure."""
    if state == "open":
        return plain_result(invocation, CONNECTED.format(label=wanted.title))
    if state == "missing" and await person_token(wanted, opening.caller.bucket):
        return plain_result(invocation, LATER.format(label=wanted.title))
    return await ask_person(wanted, opening, invocation)


def unlist(name: str, toolbox: Toolbox) -> None:
    """Remove the sign-in tool from the model's tools. A call that was waiting for the sign-in can
    still use it.
    """
    tool = toolbox.listed.pop(name, None)
    if tool is not None:
        toolbox.unlisted[name] = tool
