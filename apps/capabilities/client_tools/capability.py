"""Toolsets of the kind `client`: the page of the conversation runs their tools.

A call waits as an interaction. The page gets this JSON: `name`, under which a script registered the
tool; `title`, the call in words; `arguments`, checked; `is_repeatable`; `permission`, which whoever
answers needs, "" for none.
"""

import logging
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial

from channels.db import database_sync_to_async

from apps.accounts.permissions import has_permission
from apps.agent.ledger import Interaction
from apps.agent.tools import Invocation, Pending, ToolResult, ToolSpec
from apps.capabilities.client_tools.answers import result_of
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.approval import Risk, refused, with_approval
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.display import Display, display_of, title_of
from apps.capabilities.wrappers.fallbacks import with_fallback
from apps.capabilities.wrappers.limits import with_limit
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.prepared import PreparedTool, unannounced
from apps.capabilities.wrappers.stages import with_stage
from apps.errors import InvalidParameter
from apps.manifest.client_tools import ClientTool, ClientToolSet
from apps.manifest.fallbacks import Fallback
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.nodes import enabled

logger = logging.getLogger(__name__)

FORBIDDEN = (
    "Error: the person may not use this tool, so it was not called. Do not repeat the call; go on "
    "without it and say what was left out."
)


def prepare(manifest: Manifest) -> Open | None:
    tools = [
        prepare_tool(tool, toolset, path, manifest)
        for path, toolset in enabled(ClientToolSet, manifest.tool_sets, "tool_sets")
        for tool in toolset.tools
        if tool.enabled
    ]
    if not tools:
        return None

    def open_tools(opening: Opening) -> nullcontext[Contribution]:
        # Elsewhere nothing could run them.
        if "client_tool" not in opening.can_ask or opening.caller.surface != "page":
            return nullcontext(NOTHING)
        return nullcontext(Contribution(tuple(tool.bind(opening) for tool in tools)))

    return open_tools


def prepare_tool(
    tool: ClientTool, toolset: ClientToolSet, path: str, manifest: Manifest
) -> PreparedTool:
    arguments = read_arguments(tool.parameters)
    title = title_of(toolset.name, tool.name, f"Calling {tool.name}")
    display = display_of(manifest, title, tool=tool.display, parameters=tool.parameters)
    spec = ToolSpec(sanitize(tool.name), tool.description, arguments.schema)
    # Asking the page, and reading what it answered, may be done twice; what the page does is its own.
    answered = PreparedTool(spec, partial(result_of, arguments), path, is_repeatable=True)
    shown = with_stage(with_fallback(with_log(with_limit(answered)), Fallback()), display)
    asking = with_page(shown, tool, arguments, display, toolset.seconds)
    rules = approval_rules(manifest, tool.approval, toolset.approval)
    risk: Risk = "read-only" if tool.is_repeatable else "changes"
    approved = with_approval(asking, rules, arguments, display, risk)
    return with_permission(approved, tool.permission or "")


def with_page(
    tool: PreparedTool, declared: ClientTool, arguments: Arguments, display: Display, seconds: float
) -> PreparedTool:
    """Ask the page first. The stage of a call opens when there is an answer, or when it is wrong."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        if "client_tool" not in invocation.answers:
            with suppress(InvalidParameter):  # which the tool says in its stage
                asked = {
                    "name": declared.name,
                    "title": display.title(invocation.arguments, opening.caller.locale),
                    "arguments": arguments.check(invocation.arguments),
                    "is_repeatable": declared.is_repeatable,
                    "permission": declared.permission or "",
                }
                return Pending(interactions=(Interaction("", "client_tool", asked, seconds),))
        return await tool.work(opening, invocation)

    return replace(tool, work=work, announce=unannounced)


def with_permission(tool: PreparedTool, permission: str) -> PreparedTool:
    """Call the tool only for a person who may use it: others are not asked, nor is their page."""
    if not permission:
        return tool

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        if await database_sync_to_async(has_permission)(opening.caller, permission):
            return await tool.work(opening, invocation)
        logger.warning(
            "Tool call refused: name=%s id=%r caller=%s lacks=%s",
            tool.spec.name,
            invocation.id,
            opening.caller.bucket,
            permission,
        )
        return refused(FORBIDDEN)

    return replace(tool, work=work)


client_tools = Capability("client_tools", frozenset({"tool_sets.client"}), prepare)
