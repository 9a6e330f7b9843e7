"""Builds a model that calls a deployment, and its fallbacks in order if the deployment fails.

Only deployments in our database can have fallbacks or be fallbacks. Applications and DIAL Core's
deployments have none.

Circuit breakers stop calls to a deployment after too many consecutive failures. Failures are
counted per process or, if Redis is configured, for all processes together. A breaker belongs to one
version of a deployment's row, so a deployment that an operator has fixed is called again at once.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from channels.db import database_sync_to_async
from django.conf import settings
from msgspec import structs

from apps import process_state
from apps.agent.answers.model_fallbacks import Candidate, FallbackChain, NoBreaker
from apps.agent.model import Model
from apps.errors import DeploymentNotFound
from apps.manifest.servers import origin_of
from apps.process_state import AgedCache, loop_object, on_reset
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

FAILURES = 5
"""The number of consecutive failures after which a breaker opens. With its retries, one request to
an unavailable service causes four failures.
"""
WINDOW_SECONDS = 60.0
"""The time in seconds after which a failure no longer counts."""
OPEN_SECONDS = 30.0
"""The time in seconds after which a breaker allows a trial call. Most services' rate limits have
reset by then.
"""
SILENCE_SECONDS = 60.0
"""The time in seconds within which a model with a fallback must send its first token."""


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """The fallbacks of a deployment. `skipped` maps IDs to the reasons why they cannot answer."""

    usable: tuple[FoundDeployment, ...]
    skipped: Mapping[str, str]


_fallbacks = AgedCache[RowVersion, Fallbacks]()


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
    return FallbackChain(candidates, SILENCE_SECONDS)


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
        found.version, process_state.MAX_AGE_SECONDS, partial(look_up_fallbacks, found)
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


class BreakerStore(Protocol):
    """Stores circuit breakers by key. An unknown breaker is closed. Methods never raise."""

    async def admits(self, key: str) -> bool: ...

    async def failed(self, key: str) -> bool: ...

    async def succeeded(self, key: str, began: float) -> bool:
        """Record that a call that began at `began` succeeded. Return True if this closed an open
        breaker.
        """
        ...

    async def open_seconds(self) -> dict[str, float]:
        """Return the remaining seconds of each open breaker by key. The value is 0 if the breaker
        allows a trial call.
        """
        ...

    async def close(self, key: str) -> None: ...


@dataclass(slots=True)
class BreakerState:
    """The state of a circuit breaker. All times come from the monotonic clock."""

    failures: list[float] = field(default_factory=list)
    """The times of the recent failures."""
    until: float = 0.0
    """The time until which the breaker stays open, or 0 while it is closed."""
    opened_at: float = 0.0


class ProcessBreakers:
    """Stores circuit breakers in the memory of this process, instead of in Redis."""

    def __init__(self) -> None:
        self.states: dict[str, BreakerState] = {}

    async def admits(self, key: str) -> bool:
        state = self.states.get(key)
        if state is None or not state.until:
            return True
        now = time.monotonic()
        if now < state.until:
            return False
        # This call tests the deployment for all other calls. If it receives no answer, another call
        # can test it later.
        state.until = now + OPEN_SECONDS
        return True

    async def failed(self, key: str) -> bool:
        now, state = time.monotonic(), self.states.setdefault(key, BreakerState())
        if state.until:
            return True
        begin = now - WINDOW_SECONDS
        state.failures = [*(moment for moment in state.failures if moment > begin), now]
        if len(state.failures) < FAILURES:
            return False
        state.until, state.opened_at = now + OPEN_SECONDS, now
        return True

    async def succeeded(self, key: str, began: float) -> bool:
        state = self.states.get(key)
        # A long answer that began before the failures does not show that the service works now.
        if state is None or began < state.opened_at:
            return False
        await self.close(key)
        return state.until > 0

    async def open_seconds(self) -> dict[str, float]:
        now = time.monotonic()
        states = list(self.states.items())  # The admin calls this from another thread.
        return {key: max(0.0, one.until - now) for key, one in states if one.until}

    async def close(self, key: str) -> None:
        self.states.pop(key, None)


of_process = ProcessBreakers()


@on_reset
def forget_breakers() -> None:
    of_process.states.clear()


def breaker_store() -> BreakerStore:
    if not settings.REDIS_URL:
        return of_process
    # Importing Redis's client takes half a second.
    from apps.workspace.local.deployments.shared_breakers import SharedBreakers

    store: BreakerStore = loop_object(SharedBreakers, SharedBreakers)
    return store


def key_of_row(pk: int, version: int) -> str:
    return f"{pk}.{version}"


@dataclass(frozen=True, slots=True)
class RowBreaker:
    """The circuit breaker of one deployment."""

    key: str
    name: str
    """The deployment's ID in log messages."""

    async def admits(self) -> bool:
        return await breaker_store().admits(self.key)

    async def failed(self) -> bool:
        is_open = await breaker_store().failed(self.key)
        if is_open:
            seconds = OPEN_SECONDS
            logger.warning("Opened the circuit breaker of %s for at least %g s", self.name, seconds)
        return is_open

    async def succeeded(self, began: float) -> None:
        if await breaker_store().succeeded(self.key, began):
            logger.info("Closed the circuit breaker of %s again", self.name)
