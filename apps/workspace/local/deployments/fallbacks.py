"""Builds a model that calls a deployment, and its fallbacks in order if the deployment fails.

Only deployments in our database can have fallbacks or be fallbacks. Applications and DIAL Core's
deployments have none.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from channels.db import database_sync_to_async
from django.conf import settings
from msgspec import structs

from apps import aged_cache
from apps.aged_cache import AgedCache
from apps.agent.answers.model_fallbacks import Candidate, FallbackChain, NoBreaker
from apps.agent.model import Model
from apps.errors import DeploymentNotFound
from apps.manifest.servers import origin_of
from apps.process_state import on_reset
from apps.workspace.local.deployments.breakers import RowBreaker, key_of_row
from apps.workspace.local.deployments.fallback_requests import adapt_request
from apps.workspace.local.deployments.fallback_rules import MOST_FALLBACKS
from apps.workspace.local.deployments.found_deployments import (
    FoundDeployment,
    RowVersion,
    find_deployment,
    make_model,
)
from apps.workspace.local.deployments.personal_keys import (
    PersonalModel,
    find_key,
    host_of,
    may_follow,
)
from apps.workspace.port import KeyUse
from apps.workspace.stored_files import Files

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """The fallbacks of a deployment. `skipped` maps IDs to the reasons why they cannot answer."""

    usable: tuple[FoundDeployment, ...]
    skipped: Mapping[str, str]


_fallbacks = AgedCache[RowVersion, Fallbacks]()
on_reset(_fallbacks.clear)


async def make_chain(
    found: FoundDeployment,
    *,
    files: Files,
    idle_seconds: float | None,
    user_id: int | None = None,
    use: KeyUse = "platform",
) -> Model:
    """Return a model that calls the deployment and its fallbacks, with their circuit breakers.

    Each deployment is called with the key of its own row, or with a user's key for its service, so
    no key is sent to another provider. Raises the same errors as `paid_model`.
    """
    make = partial(paid_model, files=files, idle_seconds=idle_seconds, user_id=user_id, use=use)
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


async def paid_model(
    found: FoundDeployment,
    *,
    files: Files,
    idle_seconds: float | None,
    user_id: int | None,
    use: KeyUse,
) -> Model:
    """Return the deployment as a model. If the user has stored a key for its service, the model is
    called with this key.

    The key is read for each run, so a removed key is not used again. Raises `DeploymentNotFound`
    for a deployment that is not a chat model.
    """
    make = partial(make_model, files=files, idle_seconds=idle_seconds)
    if user_id is None or not found.takes_personal_keys:
        return make(found)
    find = database_sync_to_async(find_key)
    key: str = await find(user_id, found.provider, found.base_url)
    if not key:
        return make(found)
    personal = make(found.with_key(key))
    installed = make(found) if use == "person_first" else None
    return PersonalModel(personal, host_of(origin_of(found.base_url)), installed)


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
