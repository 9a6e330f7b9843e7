"""Servers to which each person signs in with an account of their own."""

from dataclasses import replace
from functools import partial
from typing import Literal

from apps.agent.tools import Invocation, Toolbox, ToolResult
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.internal import internal_tool, parameters, plain_result
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.sign_in import ask_person, person_token
from apps.manifest.authorizations import OAuthAuthorization
from apps.manifest.mcp_toolsets import McpToolSet
from apps.manifest.names import visible_name
from apps.workspace.egress.urls import read_url
from apps.workspace.oauth.accounts import WantedAccount

SignedIn = Literal["open", "missing", "refused"]
"""Whether the toolset is open, nobody is signed in, or the server does not take the sign-in."""

DESCRIPTION = (
    "Asks the user to sign in to {label} with their own account. The tools of {label} are there only "
    "after that, so call this first where the user's request needs {label}."
)
CONNECTED = "{label} is connected. Its tools are there now; go on with the user's request."
LATER = "{label} is connected. Its tools are there from the user's next message on."


class NotSignedIn(Exception):
    """The person has no account there that is of use."""


def wanted_account(toolset: Toolset) -> WantedAccount | None:
    node = toolset.node
    info = node.mcp_server_info if isinstance(node, McpToolSet) else None
    if info is None or info.protocol == "stdio":
        return None
    if not isinstance(info.authorization, OAuthAuthorization):
        return None
    url = read_url(info.url).parts._replace(fragment="").geturl()
    return WantedAccount(url, toolset.label, info.authorization)


def connect_tool(toolset: Toolset, wanted: WantedAccount, state: SignedIn) -> PreparedTool:
    """The tool with which a model has the person sign in, in place of tools that are not known."""
    label = toolset.label
    tool = internal_tool(
        toolset.manifest,
        (connect_name(toolset), DESCRIPTION.format(label=label), parameters({})),
        partial(connect, wanted, state),
        f"Connect {label}",
        is_system=True,  # people see the card
        is_repeatable=True,
    )
    return replace(tool, toolset=toolset.path)


def connect_name(toolset: Toolset) -> str:
    return visible_name(toolset.name, "connect_account")


async def connect(
    wanted: WantedAccount, state: SignedIn, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Raises `ToolError`."""
    if state == "open":
        return plain_result(invocation, CONNECTED.format(label=wanted.title))
    if state == "missing" and await person_token(wanted, opening.caller.bucket):
        return plain_result(invocation, LATER.format(label=wanted.title))
    return await ask_person(wanted, opening, invocation)


def unlist(name: str, toolbox: Toolbox) -> None:
    """Offer the tool no more, but let a call that waited for the sign-in come to its end."""
    tool = toolbox.listed.pop(name, None)
    if tool is not None:
        toolbox.unlisted[name] = tool
