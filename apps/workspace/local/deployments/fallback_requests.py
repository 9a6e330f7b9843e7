"""Adapts the request for a deployment to one of its fallbacks."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from apps.agent.model import ModelRequest
from apps.workspace.port import DeploymentInfo
from apps.workspace.services.static_tools import TOOLS

EFFORT = "reasoning_effort"
LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
"""The two names of the limit on output tokens. Services reject requests with both."""
MISSING = object()


def adapt_request(
    request: ModelRequest, first: DeploymentInfo, info: DeploymentInfo
) -> ModelRequest:
    """Adapt a request that was made for the deployment `first` to the defaults, limits and tools of
    the deployment `info`.
    """
    defaults = {name: value for name, value in first.defaults.items() if name != TOOLS}
    own = {
        name: value
        for name, value in request.parameters.items()
        if name in request.chosen or defaults.get(name, MISSING) != value
    }
    return structs.replace(
        request,
        parameters=with_defaults(own, info),
        static_tools=info.static_tools if request.lists_static else request.static_tools,
        marks_cache=info.features.get("cache") is True,
    )


def with_defaults(own: Mapping[str, Any], info: DeploymentInfo) -> dict[str, Any]:
    """Return the request's `own` parameters, merged over the deployment's defaults. Drop values
    that the model is known not to support: an unsupported effort, or an output limit above the
    model's own.
    """
    has_limit = not LIMITS.isdisjoint(own)
    defaults = {
        name: value
        for name, value in info.defaults.items()
        if name != TOOLS and not (has_limit and name in LIMITS)
    }
    parameters = {**defaults, **own}
    if info.reasoning_efforts and parameters.get(EFFORT) not in info.reasoning_efforts:
        parameters.pop(EFFORT, None)
    if (most := info.can.max_output_tokens) is not None:
        for name in LIMITS & parameters.keys():
            if type(parameters[name]) is int:  # In Python, a bool is an int too.
                parameters[name] = min(parameters[name], most)
    return parameters
