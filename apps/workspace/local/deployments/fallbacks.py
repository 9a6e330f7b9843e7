"""Builds a model that calls a deployment, and its fallbacks in order if the deployment fails.

Only deployments in our database can have fallbacks or be fallbacks. Applications and DIAL Core's
deployments have none.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from msgspec import structs

from apps import aged_cache
from apps.aged_cache import AgedCache
from apps.agent.answers.model_fallbacks import Candidate, FallbackChain, NoBreaker
from apps.agent.model import Model, ModelRequest
from apps.errors import DeploymentNotFound
from apps.process_state import on_reset
from apps.workspace.local.deployments.breakers import RowBreaker, key_of_row
from apps.workspace.local.deployments.fallback_rules import MOST_FALLBACKS
from apps.workspace.local.deployments.lookup import FoundDeployment, RowVersion, find_deployment
from apps.workspace.local.deployments.personal_keys import PersonalModel, may_follow
from apps.workspace.port import DeploymentInfo
from apps.workspace.services.static_tools import TOOLS, listed_tools

logger = logging.getLogger(__name__)

EFFORT = "reasoning_effort"
LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
"""The two names of the limit on output tokens. Services reject requests with both."""
MISSING = object()


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """The fallbacks of a deployment. `skipped` maps IDs to the reasons why they cannot answer."""

    usable: tuple[FoundDeployment, ...]
    skipped: Mapping[str, str]


_fallbacks = AgedCache[RowVersion, Fallbacks]()
on_reset(_fallbacks.clear)


MakeModel = Callable[[FoundDeployment], Awaitable[Model]]


async def make_chain(found: FoundDeployment, make: MakeModel) -> Model:
    """Return a model that calls the deployment and its fallbacks, with their circuit breakers.

    Each deployment is called with the key of its own row, or with a user's key for its service, so
    no key is sent to another provider. Propagates errors from `make`.
    """
    model = await make(found)
    if found.info.kind != "chat" or found.info.is_application:
        return model
    candidates = [candidate(found, model)]
    for other in await find_fallbacks(found):
        another = await make(other)
        if may_follow(another, model):
            adapt = partial(adapt_request, first=found.info, info=other.info)
            fallback = candidate(other, another)
            window = other.info.context_window
            candidates.append(structs.replace(fallback, adapt=adapt, window=window))
    return FallbackChain(candidates, settings.FALLBACK_SILENCE_SECONDS)


def candidate(found: FoundDeployment, model: Model) -> Candidate:
    info = found.info
    # A user's rejected or exhausted key is not evidence about the deployment for other users.
    is_personal = isinstance(model, PersonalModel)
    breaker = NoBreaker() if is_personal else RowBreaker(key_of_row(*found.version), info.id)
    return Candidate(info.id, info.display_name, model, breaker)


async def find_fallbacks(found: FoundDeployment) -> tuple[FoundDeployment, ...]:
    """Return the deployment's fallbacks that are still enabled chat models, in order."""
    if not found.info.fallbacks:
        return ()
    known = await _fallbacks.renewed(
        found.version, aged_cache.MAX_AGE_SECONDS, partial(look_up_fallbacks, found)
    )
    return () if known is None else known.usable


async def look_up_fallbacks(found: FoundDeployment, known: Fallbacks | None) -> Fallbacks:
    """Return the deployment's fallbacks and their own fallbacks, up to `MOST_FALLBACKS`. `known` is
    the previous result, so that each skipped fallback is logged only once.
    """
    waiting, chosen = deque(found.info.fallbacks), {found.info.id: found}
    skipped: dict[str, str] = {}
    while waiting and len(chosen) <= MOST_FALLBACKS:
        name = waiting.popleft()
        if name in chosen or name in skipped:
            continue
        try:
            other = await find_deployment(name)
        except DeploymentNotFound:
            skipped[name] = "is missing or disabled"
            continue
        if other.info.kind != "chat" or other.info.is_application:
            skipped[name] = "is not a chat model"
            continue
        chosen[name] = other
        waiting.extend(other.info.fallbacks)
    if known is None or known.skipped != skipped:
        for name, why in skipped.items():
            logger.warning("Skipped the fallback %s of %s: it %s", name, found.info.id, why)
    return Fallbacks(tuple(chosen.values())[1:], skipped)


def adapt_request(
    request: ModelRequest, first: DeploymentInfo, info: DeploymentInfo
) -> ModelRequest:
    """Adapt a request that was made for the deployment `first` to the deployment `info`: its
    defaults, limits and own tools.
    """
    defaults = {name: value for name, value in first.defaults.items() if name != TOOLS}
    own = {
        name: value
        for name, value in request.parameters.items()
        if name in request.chosen or defaults.get(name, MISSING) != value
    }
    static = listed_tools(info.defaults, info.id)
    return structs.replace(
        request,
        parameters=with_defaults(own, info),
        static_tools=static if request.lists_static else request.static_tools,
        marks_cache=info.features.get("cache") is True,
    )


def with_defaults(own: Mapping[str, Any], info: DeploymentInfo) -> dict[str, Any]:
    """Return the request's `own` parameters, merged over the deployment's defaults. Drop values
    that the model is known not to support: an unknown effort, or an answer longer than its limit.
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
    if (most := info.max_output_tokens) is not None:
        for name in LIMITS & parameters.keys():
            if type(parameters[name]) is int:  # In Python, a bool is an int too.
                parameters[name] = min(parameters[name], most)
    return parameters
