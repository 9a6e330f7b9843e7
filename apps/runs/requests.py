"""Defines the request for a run, validates it against the application and the model, and computes
the model parameters.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from apps.agent.messages import ModelMessage
from apps.agent.tools import Toolbox, ToolSpec
from apps.capabilities.chat_context import NO_CHAT, ChatContext
from apps.errors import BadRequest, InitializationIssue
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.orchestrator import NO_LIMIT, Orchestrator, is_limit
from apps.workspace.fitted_model import NOUNS, unread_kind
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

PLATFORM_PREFIX = "internal_"
"""The prefix of the names of the platform's own tools, such as the file tools."""
EFFORT = "reasoning_effort"
COMMON_EFFORTS = ("low", "medium", "high")
TOOLS = "tools"
SECTION = "Orchestrator"
NOTHING: Mapping[str, Any] = MappingProxyType({})
LIMITS = ("max_tokens", "max_completion_tokens")
"""The two names of the parameter that limits output tokens. Services reject requests with both."""
FORMAT = "response_format"


class RunRequest(msgspec.Struct, frozen=True):
    """A conversation, with the client's options for the next answer.

    `tool_choice`, `response_format` and `parameters` are in the format of a `ModelRequest`,
    regardless of which API the client uses. `parameters` apply only to this application's model,
    and the manifest's parameters override them.
    """

    messages: tuple[ModelMessage, ...]
    external: Mapping[str, ToolSpec] = {}
    """The client's own tools, by name."""
    tool_choice: Any = None
    response_format: Any = None
    parameters: Mapping[str, Any] = {}
    instructions: str = ""
    """The client's system prompt, which follows the operator's prompt or, if allowed, replaces it.
    """
    textual_results: Collection[str] = ()
    """The names of the tools whose results were converted to user messages."""
    requires_client_tool: bool = False
    """True if `tool_choice` applies until the model calls one of the client's tools."""
    unanswered: ModelMessage | None = None
    """The message of the last answer whose tool calls are executed before the model is called, or
    None.
    """
    form_answer: Any = None
    """The user's choice in the form that the last answer showed, or None."""
    max_prompt_tokens: int | None = None
    """The client's limit on the input tokens of a model request, in addition to the context window.
    None means no limit.
    """
    place: ChatPlace | None = None
    """The part of the host application from which the user is chatting, or None."""
    chat: ChatContext = NO_CHAT
    """The options that only the chat page sends."""


def chosen_tool(choice: Any) -> str:
    """Return the name of the tool that `tool_choice` requires, or ""."""
    if not isinstance(choice, dict):
        return ""
    function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def without_own_tools(request: RunRequest, toolbox: Toolbox) -> RunRequest:
    """Remove client tools from the request if they have the same name as a platform tool.

    An application that calls this one as its model sends its own platform tools as client tools.
    """
    platform = [name for name in request.external if name.startswith(PLATFORM_PREFIX)]
    own = toolbox.names.intersection(platform) if platform else ()
    if not own:
        return request
    rest = {name: spec for name, spec in request.external.items() if name not in own}
    return replace(request, external=rest)


def check_client_tools(request: RunRequest, toolbox: Toolbox) -> None:
    """Raise `BadRequest` if the client's tools, tool results or tool choice cannot be accepted."""
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
            f"The messages contain results from the application's internal tools {names}. "
            "Leave these messages out.",
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
            "tool_choice has an unknown tool",
            f"Cannot enforce tool_choice: no tool is named '{name[:64]}'. Use a tool of the "
            "application or the request, or tool_choice='auto'.",
        )


def client_parameters(request: RunRequest, info: DeploymentInfo) -> Mapping[str, Any]:
    """Return the client's parameters. If the model supports the reasoning effort that the user
    chose, include it.
    """
    if request.chat.effort not in possible_efforts(info):
        return request.parameters
    return {EFFORT: request.chat.effort, **request.parameters}


def possible_efforts(info: DeploymentInfo) -> tuple[str, ...]:
    """Return the reasoning efforts that the deployment lists. If it lists none but can reason,
    return the common efforts.
    """
    if info.reasoning_efforts:
        return info.reasoning_efforts
    known = info.supported_parameters
    return COMMON_EFFORTS if info.can.reasoning and (known is None or EFFORT in known) else ()


def model_parameters(
    own: Mapping[str, Any],
    info: DeploymentInfo,
    response_format: Any = None,
    requested: Mapping[str, Any] = NOTHING,
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """Return the model parameters and the issues with them.

    The client's parameters (`requested`) override the deployment's defaults, and the manifest's
    (`own`) override both. A reasoning effort that the deployment does not list is omitted with an
    issue. If the client sent this effort, the function raises `BadRequest` instead. Default tools
    are not parameters; see `DeploymentInfo.static_tools`.
    """
    replaced = LIMITS if any(name in requested for name in LIMITS) else ()
    left_out = (TOOLS, *replaced)
    defaults = {name: value for name, value in info.defaults.items() if name not in left_out}
    parameters = {**defaults, **requested, **own}
    if response_format is not None:
        parameters["response_format"] = response_format
    effort = parameters.get(EFFORT)
    if effort is None or not info.reasoning_efforts or effort in info.reasoning_efforts:
        return parameters, ()
    if EFFORT in requested and EFFORT not in own:
        raise BadRequest(f"{EFFORT}: the model does not support {effort!r}. {effort_advice(info)}")
    del parameters[EFFORT]
    return parameters, (effort_issue(effort, info),)


def effort_issue(effort: Any, info: DeploymentInfo) -> InitializationIssue:
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{EFFORT}: {info.id!r} does not support "
        f"{effort!r}, so it is not sent. {effort_advice(info)}",
        section=SECTION,
        is_hard=False,
    )


def effort_advice(info: DeploymentInfo) -> str:
    return f"Use one of {', '.join(map(repr, info.reasoning_efforts))}, or omit this parameter."


def limit_of(orchestrator: Orchestrator, default: int) -> int:
    """Return the manifest's limit on the number of model calls, or `default` if it is missing or
    invalid.
    """
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
    """Return the names of the parameters that the manifest or the client sets."""
    form = ("response_format",) if request.response_format is not None else ()
    return frozenset((*own, *request.parameters, *form))


def check_question(
    messages: Sequence[ModelMessage], info: DeploymentInfo, *, has_tools: bool
) -> None:
    """Raise `BadRequest` if the newest question contains content that the model cannot read, such
    as images. In earlier messages, such content is omitted instead.

    If `has_tools` is True, images are allowed, because tools may read them.
    """
    question = next((m for m in reversed(messages) if m.role == "user"), None)
    if question is None:
        return
    parts = () if isinstance(question.content, str) else question.content
    kinds = [kind for part in parts if (kind := unread_kind(part, info.can))]
    if info.can.vision is False and not has_tools:
        kinds += ["vision" for one in question.attachments if one.type.startswith("image/")]
    if kinds:
        noun = NOUNS[kinds[0]]
        raise BadRequest(
            f"The model cannot read a {noun}",
            f"messages: the application's model, {info.id!r}, cannot read a {noun}. Send "
            "the question without it, or use an application whose model can.",
        )


def within_limits(
    parameters: Mapping[str, Any], own: Mapping[str, Any], request: RunRequest, info: DeploymentInfo
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """Return the parameters within the model's limits, and an issue for each parameter that an
    operator set too high. `own` are the manifest's parameters. Raises `BadRequest` for a parameter
    that the client set too high.
    """
    problems = problems_of(parameters, info)
    if not problems:
        return dict(parameters), ()
    requested = request.parameters.keys() - own.keys()
    if request.response_format is not None:
        requested.add(FORMAT)
    for name, problem in problems.items():
        if name in requested:
            advice = (
                "Describe the JSON in the prompt." if name == FORMAT else "Use up to this limit."
            )
            raise BadRequest(f"{name}: the application's model {problem}. {advice}")
    fitting = {**parameters, **dict.fromkeys(problems, info.can.max_output_tokens)}
    if FORMAT in problems:
        del fitting[FORMAT]
    return fitting, tuple(limit_issue(name, problem, info) for name, problem in problems.items())


def tool_issues(count: int, info: DeploymentInfo) -> tuple[InitializationIssue, ...]:
    """Return an issue if the model's service may reject this number of tools, otherwise ()."""
    most = info.tool_limit
    if most is None or count <= most or info.can.tools is False:
        return ()
    text = (
        f"orchestrator.deployment: {info.id!r} accepts at most {most:,} tools in a request, and this "
        f"application offers {count:,}, so its service may refuse every request. Use fewer tools "
        "(allowed_tools of an MCP toolset), or orchestrator.tool_discovery."
    )
    return (InitializationIssue(text, section=SECTION, is_hard=False),)


def problems_of(parameters: Mapping[str, Any], info: DeploymentInfo) -> dict[str, str]:
    """Map the name of each parameter that the model does not support to a description of the
    problem.
    """
    problems: dict[str, str] = {}
    if (most := info.can.max_output_tokens) is not None:
        for name in LIMITS:
            limit = parameters.get(name)
            if type(limit) is int and limit > most:
                problems[name] = f"has an output limit of {most} tokens"
    if info.can.structured_output is False and is_schema(parameters.get(FORMAT)):
        problems[FORMAT] = "does not support a JSON Schema"
    return problems


def is_schema(response_format: Any) -> bool:
    return isinstance(response_format, Mapping) and response_format.get("type") == "json_schema"


def limit_issue(name: str, problem: str, info: DeploymentInfo) -> InitializationIssue:
    outcome = "it is not sent" if name == FORMAT else "this limit is sent"
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{name}: {info.id!r} {problem}, so {outcome}.",
        section=SECTION,
        is_hard=False,
    )
