"""The request parameters that the orchestrator's model is asked with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.errors import InitializationIssue
from apps.workspace.port import DeploymentInfo

EFFORT = "reasoning_effort"
SECTION = "Orchestrator"


def overlaid(
    own: Mapping[str, Any], info: DeploymentInfo, response_format: Any = None
) -> tuple[dict[str, Any], tuple[InitializationIssue, ...]]:
    """The deployment's defaults, overlaid by the manifest's, overlaid by the client's.

    A reasoning effort that the deployment does not know is left out and told; one that says
    nothing of efforts is given what is written, because its operator may know more than we do.
    """
    wanted = {**info.defaults, **own}
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
