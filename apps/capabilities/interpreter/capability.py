"""Defines the Python interpreter tool. The model writes code, and one of two engines runs it."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from django.conf import settings
from django.utils.translation import gettext_lazy
from msgspec import structs

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.interpreter.dial.engine import dial_engine
from apps.capabilities.interpreter.engines import Engine, ExecutionTimedOut, InterpreterSession
from apps.capabilities.interpreter.requests import InterpreterFailed, read_request
from apps.capabilities.interpreter.results import CONTENT_TYPE, make_result
from apps.capabilities.interpreter.sandbox.engine import sandbox_engine
from apps.capabilities.interpreter.sandbox.state import hide_state
from apps.capabilities.registry import Capability, Contribution, Key, Open, Opening, PreparedTool
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.value_texts import STAGE_CHARACTERS, shorten_text
from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import enabled_nodes
from apps.manifest.toolsets.parameters import FunctionParameters, ParameterDisplay, ParameterStage
from apps.manifest.toolsets.tools import InternalTool
from apps.workspace.loading.shared_loads import rules_of

TOOL_NAME = "internal_code_execution_python_interpreter"
TITLE = gettext_lazy("Calling Python Code Interpreter")
TITLE_WORDS = 7
FILES = "attachment_urls"
GRACE_SECONDS = 1.0
"""The tool's timeout exceeds the interpreter's by this many seconds, because the interpreter's own
error message is better.
"""

SHOWN = {
    "title": ParameterStage(show_value_in_stage_title=True, ignore=True),
    "code": ParameterStage(format="python", ignore_parameter_name=True),
}
"""The default display options for the tool's parameters."""


@dataclass(frozen=True, slots=True)
class RunSession:
    """The interpreter session of one run. Calls run one at a time, because each needs the previous
    state.
    """

    session: InterpreterSession
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


SESSION = Key[RunSession]("interpreter_session")


def prepare(manifest: Manifest) -> Open | None:
    found = find_tool(manifest)
    if found is None:
        return None
    toolset, tool = found
    engine = choose_engine(manifest)
    prepared = interpreter_tool(tool, toolset, manifest, engine)

    def open_interpreter(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(Contribution(tools=(prepared.bind(opening),), view=(hide_state,)))

    return open_interpreter


def find_tool(manifest: Manifest) -> tuple[InternalToolSet, InternalTool] | None:
    """Return the first enabled interpreter tool with its toolset, or None."""
    found = (
        (toolset, tool)
        for path, toolset in enabled_nodes(InternalToolSet, manifest.tool_sets, "tool_sets")
        for _, tool in enabled_nodes(InternalTool, toolset.tools, f"{path}.tools")
        if tool.open_ai_tool.function.name == TOOL_NAME
    )
    return next(found, None)


def choose_engine(manifest: Manifest) -> Engine:
    """Return DIAL's code interpreter if its URL is configured, otherwise the built-in sandbox."""
    if settings.PY_INTERPRETER_URL:
        return dial_engine(settings.PY_INTERPRETER_URL, time_limit(manifest))
    return sandbox_engine()


def time_limit(manifest: Manifest) -> float:
    """Return the timeout for one call, in seconds."""
    return float(settings.PY_INTERPRETER_CLIENT_TIMEOUT or rules_of(manifest).seconds)


def interpreter_tool(
    tool: InternalTool, toolset: InternalToolSet, manifest: Manifest, engine: Engine
) -> PreparedTool:
    function = tool.open_ai_tool.function
    seconds = time_limit(manifest)
    options = ToolOptions(
        read_arguments(function.parameters),
        display_of(
            manifest, TITLE, tool=tool.display, parameters=displayed_parameters(function.parameters)
        ),
        seconds + GRACE_SECONDS,
        tool.attachment,
        tool.fallback_configuration,
        is_repeatable=bool(tool.is_repeatable),
        is_untrusted=bool(tool.is_untrusted),
        addresses=frozenset({FILES}),
        approval=approval_rules(manifest, tool.approval, toolset.approval),
    )
    description = f"{function.description}\n\n{engine.advice}"
    work = partial(run_code, engine, seconds)
    return with_short_title(prepared_tool(TOOL_NAME, description, work, options, streams="code"))


def displayed_parameters(parameters: FunctionParameters) -> FunctionParameters:
    properties = {
        name: parameter.model_copy(update={"display": ParameterDisplay(stage=SHOWN[name])})
        if name in SHOWN and parameter.display is None
        else parameter
        for name, parameter in parameters.properties.items()
    }
    return parameters.model_copy(update={"properties": properties})


def with_short_title(tool: PreparedTool) -> PreparedTool:
    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        title = invocation.arguments.get("title")
        words = title.split(maxsplit=TITLE_WORDS) if isinstance(title, str) else []
        if len(words) > TITLE_WORDS:
            cut = {**invocation.arguments, "title": f"{' '.join(words[:TITLE_WORDS])}…"}
            invocation = structs.replace(invocation, arguments=cut)
        return await tool.work(opening, invocation)

    return replace(tool, work=work)


async def run_code(
    engine: Engine, seconds: float, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Run the code of a call. Raises `InvalidParameter` for invalid arguments, and
    `ExecutionTimedOut` after a timeout. Other failures are returned as results.
    """
    own = opening.findings.get_or_make(SESSION, lambda: RunSession(engine.open(opening)))
    request = read_request(invocation.arguments)
    try:
        async with asyncio.timeout(seconds), own.turn:
            execution = await own.session.execute(request, invocation.messages)
    except InterpreterFailed as failure:
        result = ToolResult(str(failure), CONTENT_TYPE)
    except TimeoutError:
        raise ExecutionTimedOut(TOOL_NAME, seconds) from None
    else:
        result = await make_result(execution, request, opening)
    invocation.stage.write(
        f"> #### Response:\n\n{shorten_text(result.content, STAGE_CHARACTERS)}\n"
    )
    return result


interpreter = Capability("interpreter", frozenset({f"tool_sets.internal.{TOOL_NAME}"}), prepare)
