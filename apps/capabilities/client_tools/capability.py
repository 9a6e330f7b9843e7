"""Defines toolsets of the kind `client`, whose tools run in the browser, on the conversation's
page.

A call waits until the page returns a result. The page receives the `name` under which a script
registered the tool, a `title` for the call, the validated `arguments`, `is_repeatable`, and the
`permission` that the user needs, or "".
"""

import json
import logging
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial

from channels.db import database_sync_to_async

from apps.accounts.permissions import has_permission
from apps.agent.ledger import InteractionRequest
from apps.agent.tools import Invocation, PendingResult, ToolResult, ToolSpec
from apps.capabilities.registry import (
    NOTHING,
    Capability,
    Contribution,
    Open,
    Opening,
    PreparedTool,
    announce_nothing,
)
from apps.capabilities.wrappers.approval import Risk, refusal_result, with_approval
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.display import Display, display_of, tool_title
from apps.capabilities.wrappers.failure_handling import with_fallback
from apps.capabilities.wrappers.internal import show_result
from apps.capabilities.wrappers.limits import with_limit
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.stages import with_stage
from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, fence_code, shorten_text
from apps.errors import InvalidParameter, ToolError
from apps.manifest.kinds.client import ClientToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.nodes import enabled_nodes
from apps.manifest.toolsets.client_tools import ClientTool
from apps.manifest.toolsets.fallback_strategies import Fallback

logger = logging.getLogger(__name__)

FORBIDDEN = (
    "Error: the user may not use this tool, so it was not called. Do not repeat the call. "
    "Continue without it, and mention what you left out."
)
TIMED_OUT = (
    "The page did not respond in time. The tool may still have had its effect. Check that before "
    "you call it again."
)
FAILED = "The page could not run the tool: "


def prepare(manifest: Manifest) -> Open | None:
    tools = [
        prepare_tool(tool, toolset, path, manifest)
        for path, toolset in enabled_nodes(ClientToolSet, manifest.tool_sets, "tool_sets")
        for tool in toolset.tools
        if tool.enabled
    ]
    if not tools:
        return None

    def open_tools(opening: Opening) -> nullcontext[Contribution]:
        # Only a stored conversation has a page that can run the tools.
        if "client_tool" not in opening.can_ask or opening.caller.client.surface != "page":
            return nullcontext(NOTHING)
        return nullcontext(Contribution(tuple(tool.bind(opening) for tool in tools)))

    return open_tools


def prepare_tool(
    tool: ClientTool, toolset: ClientToolSet, path: str, manifest: Manifest
) -> PreparedTool:
    arguments = read_arguments(tool.parameters)
    title = tool_title(toolset.shown_name, tool.name, f"Calling {tool.name}")
    display = display_of(manifest, title, tool=tool.display, parameters=tool.parameters)
    spec = ToolSpec(sanitize(tool.name), tool.description, arguments.schema)
    # Asking the page and reading its answer can be repeated, but the tool itself may not be
    # repeatable.
    answered = PreparedTool(spec, partial(result_of, arguments), path, is_repeatable=True)
    shown = with_stage(with_fallback(with_log(with_limit(answered)), Fallback()), display)
    asking = with_page(shown, tool, arguments, display, toolset.seconds)
    rules = approval_rules(manifest, tool.approval, toolset.approval)
    risk: Risk = "read-only" if tool.is_repeatable else "changes"
    approved = with_approval(asking, rules, arguments, display, risk)
    return with_permission(approved, tool.permission or "")


async def result_of(arguments: Arguments, opening: Opening, invocation: Invocation) -> ToolResult:
    """Convert the page's answer to a tool result. Raises `ToolError` if the tool failed or timed
    out.

    An answer is `{"outcome": "done", "result": JSON}`, `{"outcome": "failed", "error": "…"}`, or
    `{"outcome": "timeout"}`.
    """
    answered = invocation.answers.get("client_tool")
    if answered is None:  # The arguments are invalid, so the page was not asked.
        arguments.check(invocation.arguments)
    answer = (answered and answered.answer) or {}
    if answer.get("outcome") == "timeout":
        raise ToolError(TIMED_OUT, is_lasting=True)
    if answer.get("outcome") != "done":
        raise ToolError(FAILED + shorten_text(str(answer.get("error") or "?"), ERROR_CHARACTERS))
    result = answer.get("result")
    if isinstance(result, str):
        show_result(invocation, fence_code(result, ""))
        return ToolResult(result, "text/plain")
    text = json.dumps(result, ensure_ascii=False)
    show_result(invocation, fence_code(text, "json"))
    return ToolResult(text, "application/json")


def with_page(
    tool: PreparedTool, declared: ClientTool, arguments: Arguments, display: Display, seconds: float
) -> PreparedTool:
    """Return a tool whose calls wait until the page has run the declared tool.

    The stage of a call opens only when the page answers, or if the arguments are invalid.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        if "client_tool" not in invocation.answers:
            with suppress(InvalidParameter):  # the stage of the call shows this error
                asked = {
                    "name": declared.name,
                    "title": display.title(invocation.arguments, opening.caller.client.locale),
                    "arguments": arguments.check(invocation.arguments),
                    "is_repeatable": declared.is_repeatable,
                    "permission": declared.permission or "",
                }
                return PendingResult(
                    interactions=(InteractionRequest("", "client_tool", asked, seconds),)
                )
        return await tool.work(opening, invocation)

    return replace(tool, work=work, announce=announce_nothing)


def with_permission(tool: PreparedTool, permission: str) -> PreparedTool:
    """Return a tool that rejects calls from users without the permission, before the page is
    contacted.
    """
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
        return refusal_result(FORBIDDEN)

    return replace(tool, work=work)


client_tools = Capability("client_tools", frozenset({"tool_sets.client"}), prepare)
