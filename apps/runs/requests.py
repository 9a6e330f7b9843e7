"""The request of a run, its check against the application, and the model's parameters."""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from apps.agent.messages import Message
from apps.agent.summaries import Summaries
from apps.agent.tools import Toolbox, ToolSpec
from apps.capabilities.found_conversations import SearchConversations
from apps.errors import BadRequest, InitializationIssue
from apps.manifest.chat_place import ChatPlace
from apps.manifest.orchestrator import NO_LIMIT, Orchestrator, is_limit
from apps.schedules.desk import Desk
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

OF_THE_PLATFORM = "internal_"
"""Begins the names of tools that no manifest makes."""
EFFORT = "reasoning_effort"
COMMON_EFFORTS = ("low", "medium", "high")
TOOLS = "tools"
SECTION = "Orchestrator"
NOTHING: Mapping[str, Any] = MappingProxyType({})
LIMITS = ("max_tokens", "max_completion_tokens")
"""Two names of one limit, which services refuse to be given together."""


class RunRequest(msgspec.Struct, frozen=True):
    """The conversation, and what the client wants of this one answer.

    `external` are the client's own tools by name; `tool_choice` and `response_format` are passed
    to the model as they came. `parameters` are for the orchestrator's calls alone, and give way to
    the manifest's. `instructions` go below the operator's prompt, or in its place where the
    installation allows that. `textual_results` are the names of tools whose results are text in
    the messages. `requires_client_tool`: `tool_choice` holds until a client's tool was called.
    `unanswered` has calls of the last answer, which are made before the model is asked.
    `search_conversations` is for the caller of this request; None: nothing can be searched.
    `max_prompt_tokens` limits what the model is sent, beside its window. `summaries` are those of
    the conversation, None where none are kept; `correction` is what its estimates are multiplied by.
    `place` is where the person is, `schedules` what they have scheduled; None: nothing can be.
    `effort` is how much the person wishes the model to think: left out where the deployment does not
    list it. `own_instructions` reads what the person tells every model; None: nothing.
    `folder_instructions` is what they tell in the conversations of a folder.
    """

    messages: tuple[Message, ...]
    external: Mapping[str, ToolSpec] = {}
    tool_choice: Any = None
    response_format: Any = None
    parameters: Mapping[str, Any] = {}
    instructions: str = ""
    textual_results: Collection[str] = ()
    requires_client_tool: bool = False
    unanswered: Message | None = None
    search_conversations: SearchConversations | None = None
    max_prompt_tokens: int | None = None
    summaries: Summaries | None = None
    correction: float = 1.0
    place: ChatPlace | None = None
    schedules: Desk | None = None
    effort: str = ""
    own_instructions: Callable[[], Awaitable[str]] | None = None
    folder_instructions: str = ""


def chosen_tool(choice: Any) -> str:
    """The name of the tool that a `tool_choice` demands, "" for none."""
    if not isinstance(choice, dict):
        return ""
    function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def without_own_tools(request: RunRequest, toolbox: Toolbox) -> RunRequest:
    """The request without tools of the platform that the asking application sends as its own."""
    platform = [name for name in request.external if name.startswith(OF_THE_PLATFORM)]
    own = toolbox.names.intersection(platform) if platform else ()
    if not own:
        return request
    rest = {name: spec for name, spec in request.external.items() if name not in own}
    return replace(request, external=rest)


def check_client_tools(request: RunRequest, toolbox: Toolbox) -> None:
    """Raises `BadRequest` when the client's wishes cannot be met."""
    if not (request.external or request.textual_results) and request.tool_choice is None:
        return
    if clashes := sorted(request.external.keys() & toolbox.names):
        names = ", ".join(f"'{name}'" for name in clashes)
        raise BadRequest(
            "Client tool name is taken",
            f"The application already has a tool named {names}; rename the tool in 'tools'.",
        )
    if own := sorted(toolbox.names.intersection(request.textual_results)):
        names = ", ".join(f"'{name}'" for name in own)
        raise BadRequest(
            "Results of the application's own tools are not accepted",
            f"The messages have results of the application's own tools {names}, which are internal "
            "to it. Leave these messages out.",
        )
    choice = request.tool_choice
    forced = choice == "required" or isinstance(choice, Mapping)
    there = toolbox.listed.keys() | request.external.keys()
    if forced and not there:
        raise BadRequest(
            "tool_choice requires at least one tool to be configured",
            "Cannot enforce tool_choice: no tools are available. Configure at least one tool "
            "set or use tool_choice='auto'.",
        )
    if (name := chosen_tool(choice)) and name not in there:
        raise BadRequest(
            "tool_choice names no tool that there is",
            f"Cannot enforce tool_choice: no tool is named '{name[:64]}'. Name one that the "
            "application or the request has, or use tool_choice='auto'.",
        )


def asked_parameters(request: RunRequest, info: DeploymentInfo) -> Mapping[str, Any]:
    """Those that the client asked for, and the effort that the person chose if there is such a one."""
    if request.effort not in possible_efforts(info):
        return request.parameters
    return {EFFORT: request.effort, **request.parameters}


def possible_efforts(info: DeploymentInfo) -> tuple[str, ...]:
    """Those that the deployment lists, else those that every model knows that thinks."""
    if info.reasoning_efforts:
        return info.reasoning_efforts
    known = info.supported_parameters
    return COMMON_EFFORTS if info.can.reasoning and (known is None or EFFORT in known) else ()


def model_parameters(
    own: Mapping[str, Any],
    info: DeploymentInfo,
    response_format: Any = None,
    asked: Mapping[str, Any] = NOTHING,
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """The deployment's defaults, overlaid by those that the client `asked` for, by the manifest's
    `own`, and by the format of this one answer.

    A reasoning effort that the deployment does not list is left out, with an issue; a deployment
    that lists none gets any. Default tools are not parameters; see `listed_tools`.
    Raises `BadRequest` for an unknown effort that the client asked for.
    """
    replaced = LIMITS if any(name in asked for name in LIMITS) else ()
    left_out = (TOOLS, *replaced)
    defaults = {name: value for name, value in info.defaults.items() if name not in left_out}
    wanted = {**defaults, **asked, **own}
    if response_format is not None:
        wanted["response_format"] = response_format
    effort = wanted.get(EFFORT)
    if effort is None or not info.reasoning_efforts or effort in info.reasoning_efforts:
        return wanted, ()
    if EFFORT in asked and EFFORT not in own:
        raise BadRequest(f"{EFFORT}: the model does not support {effort!r}. {known_efforts(info)}")
    del wanted[EFFORT]
    return wanted, (effort_issue(effort, info),)


def effort_issue(effort: Any, info: DeploymentInfo) -> InitializationIssue:
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{EFFORT}: {info.id!r} does not support {effort!r}, "
        f"so the model is asked without it. {known_efforts(info)}",
        section=SECTION,
        is_hard=False,
    )


def known_efforts(info: DeploymentInfo) -> str:
    return f"Write one of {', '.join(map(repr, info.reasoning_efforts))}, or leave it out."


def limit_of(orchestrator: Orchestrator, default: int) -> int:
    """How often the model may be called; an invalid limit counts as not written."""
    own = orchestrator.max_iterations
    is_set = "max_iterations" in orchestrator.model_fields_set
    return own if is_set and is_limit(own) else default


def limit_issues(orchestrator: Orchestrator, default: int) -> tuple[InitializationIssue, ...]:
    is_set = "max_iterations" in orchestrator.model_fields_set
    if not is_set or is_limit(orchestrator.max_iterations):
        return ()
    text = (
        f"orchestrator.max_iterations: {orchestrator.max_iterations} {NO_LIMIT}. "
        f"Until then the limit is {default}."
    )
    return (InitializationIssue(text, section=SECTION, is_hard=False),)


def chosen_parameters(own: Mapping[str, Any], request: RunRequest) -> frozenset[str]:
    """The names of the parameters that the manifest or the client has written."""
    form = ("response_format",) if request.response_format is not None else ()
    return frozenset((*own, *request.parameters, *form))
