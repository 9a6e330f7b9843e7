"""Converts the tools in a server's listing to tools that a run can call. Each listing is converted
once.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.shared.dispatcher import ProgressFnT

from apps.agent.stages import Stage
from apps.agent.time_limits import current_limits
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.mcp.calls.dial_files import file_parameters, grant_files
from apps.capabilities.mcp.calls.execution_reports import CODE, report_result
from apps.capabilities.mcp.calls.output_schemas import OutputSchema
from apps.capabilities.mcp.calls.results import make_result
from apps.capabilities.mcp.calls.sign_ins import ask_tool, call_after_pages
from apps.capabilities.mcp.messages.input_schemas import InputSchemaReader, SchemaInvalid
from apps.capabilities.mcp.sessions.elicitation import RunningCall
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import Listing
from apps.capabilities.mcp.toolsets.bindings import BINDINGS
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.mcp.toolsets.person_accounts import refused_account
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import Display, display_of, tool_title
from apps.capabilities.wrappers.sign_in import ask_person
from apps.capabilities.wrappers.value_texts import one_line, shorten_text
from apps.errors import InitializationIssue
from apps.manifest.names import Localized, full_name, visible_names
from apps.manifest.toolsets.parameters import ParameterStage
from apps.manifest.toolsets.tools import as_stated

logger = logging.getLogger(__name__)

MOST_TOOLS = 500
"""The maximum number of tools per toolset. Models support far fewer."""
DESCRIPTION_CHARACTERS = 10_000
MOST_NAMED = 10
"""An issue lists up to this many withheld tools."""
WHY = {
    "changed": "because the server changed the description and no operator has reviewed it yet",
    "withheld": "because an operator did not accept the changed description",
}
PYTHON = ParameterStage(format="python", ignore_parameter_name=True)
HIDDEN = ParameterStage(ignore=True)
MOST_PROGRESS = 200
"""A call's stage shows up to this many progress messages from the server."""


@dataclass(frozen=True, slots=True)
class PreparedTools:
    """The tools of a toolset, prepared from one listing."""

    tools: tuple[PreparedTool, ...] = ()
    hidden: tuple[PreparedTool, ...] = ()
    """Tools that QuickApps itself can call, but the model cannot."""
    issues: tuple[InitializationIssue, ...] = ()


def prepare_tools(toolset: Toolset, listing: Listing, withheld: Mapping[str, str]) -> PreparedTools:
    """Prepare the tools in a listing.

    `withheld` maps the names of tools that models must not see to the state of their review.
    """
    hides = frozenset(toolset.node.hidden_from_model or ())
    # Tools that hooks need come first, then the other tools in the server's order.
    chosen = sorted(allowed_tools(toolset, listing), key=lambda tool: tool.name not in hides)
    tools: list[PreparedTool] = []
    hidden: list[PreparedTool] = []
    issues: list[InitializationIssue] = []
    issues += [toolset_issue(toolset, problem) for problem in listing.problems]
    left_out: dict[str, list[str]] = {}
    schemas = InputSchemaReader()
    names = visible_names(toolset.name, [tool.name for tool in chosen])
    if len(chosen) > MOST_TOOLS:
        issues.append(toolset_issue(toolset, surplus_problem(chosen), is_hard=False))
    for tool in chosen[:MOST_TOOLS]:
        kept = hidden if tool.name in hides else tools
        if kept is tools and tool.name in withheld:
            left_out.setdefault(withheld[tool.name], []).append(tool.name)
            continue
        try:
            kept.append(prepare_tool(toolset, tool, names[tool.name], schemas))
        except SchemaInvalid as error:
            problem = f"the tool {one_line(tool.name)!r} is left out because of its input schema"
            issues.append(toolset_issue(toolset, f"{problem}: {error}"))
    issues += [withheld_issue(toolset, state, names) for state, names in left_out.items()]
    return PreparedTools(tuple(tools), tuple(hidden), tuple(issues))


def surplus_problem(chosen: Sequence[types.Tool]) -> str:
    first = chosen[MOST_TOOLS].name
    return (
        f"its server has {len(chosen):,} tools; the limit is {MOST_TOOLS}. Tools from "
        f"{one_line(first)!r} on are left out. List the required tools in allowed_tools."
    )


def toolset_issue(toolset: Toolset, problem: str, *, is_hard: bool = True) -> InitializationIssue:
    return InitializationIssue(f"Toolset {toolset.label}: {problem}", is_hard=is_hard)


def withheld_issue(toolset: Toolset, state: str, names: Sequence[str]) -> InitializationIssue:
    named = ", ".join(repr(one_line(name)) for name in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return InitializationIssue(f"Toolset {toolset.label}: withheld, {WHY[state]}: {named}{more}.")


def allowed_tools(toolset: Toolset, listing: Listing) -> Iterator[types.Tool]:
    """Yield the tools that the manifest allows, each name once."""
    only = frozenset(toolset.node.allowed_tools or ())
    hidden = frozenset(toolset.node.hidden_from_model or ())
    there = {tool.name: tool for tool in reversed(listing.tools)}
    if unknown := sorted((only | hidden) - there.keys()):
        logger.warning("Toolset %s: its server has no tools named %s", toolset.path, unknown)
    for tool in listing.tools:
        is_wanted = not only or tool.name in only
        if is_wanted and there.pop(tool.name, None) is not None:
            yield tool


def prepare_tool(
    toolset: Toolset, tool: types.Tool, name: str, schemas: InputSchemaReader
) -> PreparedTool:
    """Prepare a tool. `name` is the tool's name for the model. Raises `SchemaInvalid` if its schema
    is unusable.
    """
    arguments = schemas.read(tool.input_schema)
    written = full_name(toolset.name, tool.name)
    called = one_line(tool.name)
    title = tool_title(toolset.node.title or toolset.name, called, f"Calling {called} via MCP")
    description = shorten_text(tool.description or tool.name, DESCRIPTION_CHARACTERS)
    output = OutputSchema(f"{one_line(tool.name)} of {toolset.label}", tool.output_schema)
    files = file_parameters(arguments.schema)
    work = partial(call, toolset.path, tool.name, name, files, output)
    told = tool.annotations
    options = ToolOptions(
        arguments,
        tool_display(toolset, title),
        toolset.seconds,
        toolset.node.attachment,
        toolset.node.fallback_configuration,
        is_repeatable=as_stated(toolset.node.is_repeatable, otherwise=is_declared_repeatable(told)),
        is_untrusted=as_stated(toolset.node.is_untrusted, otherwise=is_declared_open(told)),
        approval=approval_rules(toolset.manifest, toolset.node.approval),
        risk=risk_of(told),
        full_name=written if written != name else "",
    )
    has_code = toolset.runs_code and CODE in arguments.schema.get("properties", {})
    streams = CODE if has_code else ""
    return prepared_tool(name, description, work, options, toolset=toolset.path, streams=streams)


def tool_display(toolset: Toolset, title: Localized) -> Display:
    shown = display_of(toolset.manifest, title)
    if not toolset.runs_code:
        return shown
    return replace(shown, parameters={CODE: PYTHON, "session_id": HIDDEN})


def is_declared_repeatable(told: types.ToolAnnotations | None) -> bool:
    """Return True if the server declares that calls to the tool can be repeated."""
    return told is not None and bool(told.read_only_hint or told.idempotent_hint)


def is_declared_open(told: types.ToolAnnotations | None) -> bool:
    """Return True if the server declares that the tool returns content from outside sources."""
    return told is not None and bool(told.open_world_hint)


def risk_of(told: types.ToolAnnotations | None) -> Risk:
    """Return the risk that the server declares. Users see it when they approve a call."""
    if told is None:
        return "changes"
    if told.read_only_hint:
        return "read-only"
    return "destructive" if told.destructive_hint else "changes"


async def call(
    path: str,
    tool_name: str,
    name: str,
    file_names: frozenset[str],
    output: OutputSchema,
    opening: Opening,
    invocation: Invocation,
) -> ToolResult:
    """Call the tool `tool_name` of a server.

    `name` is the tool's name for the model, and `file_names` are the parameters whose values are
    files. Raises `ToolError` if the call fails, and `FileRefused` if a file cannot be accessed.
    """
    binding = opening.findings[BINDINGS][path]
    toolset = binding.toolset
    await grant_files(file_names, invocation.arguments, binding, opening)
    shown = ShownProgress(invocation.stage)
    question = partial(call_tool, tool_name, dict(invocation.arguments), shown)
    running = RunningCall(invocation.ledger, invocation.key, toolset.label, current_limits())
    try:
        handler = binding.slot.elicitations
        with handler.serving(running):
            ask = partial(ask_tool, binding, opening, question)
            answer = await call_after_pages(handler, running, ask)
    except ConnectionFailed as failure:
        wanted = refused_account(toolset, failure)
        if wanted is not None:
            return await ask_person(wanted, opening, invocation)
        raise toolset.refusal(failure, name) from failure
    finally:
        shown.is_over = True
    output.report(answer)
    if toolset.runs_code:
        return await report_result(answer, tool_name, binding, opening, invocation.stage)
    files, failures = toolset.node.attachment, toolset.failure_texts
    return await make_result(answer, tool_name, files, opening, invocation.stage, failures)


async def call_tool(
    name: str, arguments: dict[str, Any], progress: ProgressFnT, client: Client
) -> types.CallToolResult:
    return await client.call_tool(name, arguments, progress_callback=progress)


class ShownProgress:
    """Writes a server's progress notifications to the stage of a running call."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.left = MOST_PROGRESS
        self.is_over = False

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self.is_over or not self.left:
            return
        self.left -= 1
        done = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.stage.write(f"{one_line(message)} ({done})\n\n" if message else f"{done}\n\n")
