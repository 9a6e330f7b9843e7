"""The request parameters that the orchestrator's model is asked with."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from apps.errors import BadRequest, InitializationIssue
from apps.manifest.orchestrator import NO_LIMIT, Orchestrator, is_limit
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

EFFORT = "reasoning_effort"
TOOLS = "tools"
STATIC = "static_function"
SECTION = "Orchestrator"


NOTHING: Mapping[str, Any] = MappingProxyType({})
LIMITS = ("max_tokens", "max_completion_tokens")
"""Two names of one limit, which services refuse to be given together."""


def overlaid(
    own: Mapping[str, Any],
    info: DeploymentInfo,
    response_format: Any = None,
    asked: Mapping[str, Any] = NOTHING,
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """The deployment's defaults, overlaid by what the client `asked` for, by the manifest's, and by
    the format of this one answer.

    A reasoning effort that the deployment does not know is left out and told; one that says
    nothing of efforts is given what is written, because its operator may know more than we do.
    Its default tools are none of the parameters: `static_tools` go beside ours.
    Raises `BadRequest` for an effort that the client asked for.
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
    return wanted, (refusal(effort, info),)


def refusal(effort: Any, info: DeploymentInfo) -> InitializationIssue:
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{EFFORT}: {info.id!r} does not support {effort!r}, "
        f"so the model is asked without it. {known_efforts(info)}",
        section=SECTION,
        is_hard=False,
    )


def known_efforts(info: DeploymentInfo) -> str:
    return f"Write one of {', '.join(map(repr, info.reasoning_efforts))}, or leave it out."


def limit_of(orchestrator: Orchestrator, default: int) -> int:
    """How often the model may be called; a limit that is none counts as not written."""
    own = orchestrator.max_iterations
    is_set = "max_iterations" in orchestrator.model_fields_set
    return own if is_set and is_limit(own) else default


def limit_issues(orchestrator: Orchestrator, default: int) -> tuple[InitializationIssue, ...]:
    if is_limit(orchestrator.max_iterations):
        return ()
    text = (
        f"orchestrator.max_iterations: {orchestrator.max_iterations} {NO_LIMIT}. "
        f"Until then the limit is {default}."
    )
    return (InitializationIssue(text, section=SECTION, is_hard=False),)


def static_tools(info: DeploymentInfo) -> tuple[Mapping[str, Any], ...]:
    """The tools that the deployment runs itself: as it lists them, never run here."""
    listed = info.defaults.get(TOOLS)
    found = []
    for number, tool in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
        if is_static(tool):
            found.append(tool)
        else:
            logger.debug("defaults.tools.%d of %s is no static function", number, info.id)
    return tuple(found)


def is_static(tool: Any) -> bool:
    if not isinstance(tool, Mapping) or tool.get("type") != STATIC:
        return False
    function = tool.get(STATIC)
    name = function.get("name") if isinstance(function, Mapping) else None
    return isinstance(name, str) and bool(name)
