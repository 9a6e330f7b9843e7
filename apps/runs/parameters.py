"""The request parameters that the orchestrator's model is asked with."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from apps.errors import InitializationIssue
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

EFFORT = "reasoning_effort"
TOOLS = "tools"
STATIC = "static_function"
SECTION = "Orchestrator"


def overlaid(
    own: Mapping[str, Any], info: DeploymentInfo, response_format: Any = None
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """The deployment's defaults, overlaid by the manifest's, overlaid by the client's.

    A reasoning effort that the deployment does not know is left out and told; one that says
    nothing of efforts is given what is written, because its operator may know more than we do.
    Its default tools are none of the parameters: `static_tools` go beside ours.
    """
    defaults = {name: value for name, value in info.defaults.items() if name != TOOLS}
    wanted = {**defaults, **own}
    if response_format is not None:
        wanted["response_format"] = response_format
    effort = wanted.get(EFFORT)
    if effort is None or not info.reasoning_efforts or effort in info.reasoning_efforts:
        return wanted, ()
    del wanted[EFFORT]
    return wanted, (refusal(effort, info),)


def refusal(effort: Any, info: DeploymentInfo) -> InitializationIssue:
    known = ", ".join(map(repr, info.reasoning_efforts))
    return InitializationIssue(
        f"orchestrator.deployment.parameters.{EFFORT}: {info.id!r} does not support {effort!r}, "
        f"so the model is asked without it. Write one of {known}, or leave it out.",
        section=SECTION,
        is_hard=False,
    )


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
