"""What is known that the model of an application cannot do, told before it is asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.agent.messages import Message
from apps.errors import BadRequest, InitializationIssue
from apps.runs.requests import LIMITS, SECTION, RunRequest
from apps.workspace.fitted_model import NOUNS, unread_kind
from apps.workspace.port import DeploymentInfo

FORMAT = "response_format"


def check_question(messages: Sequence[Message], info: DeploymentInfo, *, has_tools: bool) -> None:
    """Raises `BadRequest` for a newest question with a part that the model cannot read.

    Such parts of earlier messages are left out. An attached picture is for the tools, if there are
    any.
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
            f"messages: the model of this application, {info.id!r}, cannot read a {noun}. Send the "
            "question without it, or ask an application whose model can.",
        )


def within_limits(
    wanted: Mapping[str, Any], own: Mapping[str, Any], request: RunRequest, info: DeploymentInfo
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """The parameters without what the model cannot do, and an issue for each that is an operator's.

    `own` are the manifest's. Raises `BadRequest` for those that the client asked for.
    """
    problems = problems_of(wanted, info)
    if not problems:
        return dict(wanted), ()
    asked = request.parameters.keys() - own.keys()
    if request.response_format is not None:
        asked.add(FORMAT)
    for name, problem in problems.items():
        if name in asked:
            advice = "Ask for JSON in words instead." if name == FORMAT else "Ask for no more."
            raise BadRequest(f"{name}: the model of this application {problem}. {advice}")
    fitting = {**wanted, **dict.fromkeys(problems, info.max_output_tokens)}
    if FORMAT in problems:
        del fitting[FORMAT]
    return fitting, tuple(limit_issue(name, problem, info) for name, problem in problems.items())


def problems_of(wanted: Mapping[str, Any], info: DeploymentInfo) -> dict[str, str]:
    """What the model cannot do, by the names of the parameters that ask for it."""
    problems: dict[str, str] = {}
    if (most := info.max_output_tokens) is not None:
        for name in LIMITS:
            limit = wanted.get(name)
            if type(limit) is int and limit > most:
                problems[name] = f"answers with at most {most} tokens"
    if info.can.structured_output is False and is_schema(wanted.get(FORMAT)):
        problems[FORMAT] = "cannot keep to a JSON Schema"
    return problems


def is_schema(response_format: Any) -> bool:
    return isinstance(response_format, Mapping) and response_format.get("type") == "json_schema"


def limit_issue(name: str, problem: str, info: DeploymentInfo) -> InitializationIssue:
    outcome = "asked without it" if name == FORMAT else "asked for no more"
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{name}: {info.id!r} {problem}, so it is {outcome}.",
        section=SECTION,
        is_hard=False,
    )
