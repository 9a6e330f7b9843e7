"""Calls fallback deployments if a deployment fails before its first token."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import msgspec

from apps.agent.answers.assembly import Assembly
from apps.agent.context.token_estimates import (
    MOST_CORRECTION,
    message_tokens,
    most_tokens,
    text_tokens,
)
from apps.agent.events import NoticeAdded
from apps.agent.meter import error_kind, service_message
from apps.agent.model import Delta, Model, ModelRequest
from apps.errors import ModelFailed, QuickAppError

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 8.0
"""The maximum total pause between retries, in seconds, before a fallback is called. If
`Retry-After` is longer, the fallback is called at once.
"""
DEPLOYMENT_STATUSES = frozenset({401, 402, 403, 404, 408, 429})
"""Status codes below 500 that indicate a problem with the deployment rather than the request, such
as an invalid key, no credit, an unknown model or a rate limit.
"""
REQUEST_CODES = frozenset({"content_filter", "context_length_exceeded", "truncate_prompt_error"})
"""Error codes of requests that every deployment would reject, regardless of the status code."""
UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "DeploymentNotFound"})
"""Error codes that some services send with status 400 for an unknown model."""
BAD_REQUEST = "invalid_request_error"
OVERLOADED = frozenset({429, 503, 529})
UNAVAILABLE = "is unavailable at the moment"
"""The reason shown to users when a deployment is skipped because its circuit breaker is open."""


class Breaker(Protocol):
    """The circuit breaker of a deployment. It opens after repeated failures; while it is open,
    other deployments are preferred.
    """

    async def admits(self) -> bool:
        """Return True if the deployment can be called. After the pause that follows the failures,
        only one caller gets True. If its call succeeds, the breaker closes.
        """
        ...

    async def failed(self) -> bool:
        """Record a failure of the deployment. Return True if the breaker is open now."""
        ...

    async def succeeded(self, began: float) -> None:
        """Record a successful call that began at `began`, a `time.monotonic()` value."""
        ...


class NoBreaker:
    """A breaker that never opens, for deployments whose failures do not predict the next call."""

    async def admits(self) -> bool:
        return True

    async def failed(self) -> bool:
        return False

    async def succeeded(self, began: float) -> None:
        pass


class Candidate(msgspec.Struct, frozen=True):
    """A deployment that can answer a request."""

    name: str
    title: str
    model: Model
    breaker: Breaker
    adapt: Callable[[ModelRequest], ModelRequest] = lambda request: request
    """The function that adapts a request for the first candidate to this candidate."""
    window: int | None = None
    """The context window in tokens, or None if it is unknown or irrelevant."""

    def excess(self, request: ModelRequest) -> int:
        """Return the request's estimated input tokens if they exceed the candidate's context
        window, otherwise 0.
        """
        if self.window is None:
            return 0
        tools = sum(spec.tokens for spec in request.tools)
        tools += text_tokens(*map(str, request.static_tools))
        # Most requests are so small that the upper bound suffices.
        if MOST_CORRECTION * (tools + sum(map(most_tokens, request.messages))) <= self.window:
            return 0
        total = tools + sum(map(message_tokens, request.messages))
        return total if total > self.window else 0


@dataclass(slots=True)
class CandidateCall:
    """The calls to one candidate for one request."""

    candidate: Candidate
    model: Model
    request: ModelRequest
    assembly: Assembly
    has_next: bool
    """True if another candidate can be called after this one."""
    is_open: bool = False
    """True if the candidate's circuit breaker is open."""

    @property
    def patience(self) -> float:
        """Return the maximum total pause between attempts, in seconds."""
        if not self.has_next:
            return inf
        return 0.0 if self.is_open else PATIENCE_SECONDS

    async def make(self, ask: Callable[[Model, ModelRequest], Awaitable[None]]) -> None:
        """Call the model with `ask`, and report success or failure to the circuit breaker.
        Exceptions from `ask` are re-raised.
        """
        began, breaker = time.monotonic(), self.candidate.breaker
        try:
            await ask(self.model, self.request)
        except ModelFailed as failure:
            if is_of_deployment(failure) and not self.assembly.has_begun:
                self.is_open = await breaker.failed()
            raise
        await breaker.succeeded(began)


Ask = Callable[[CandidateCall], Coroutine[Any, Any, None]]
"""A function that calls a candidate, possibly with retries. It raises `ModelFailed` if the call
fails.
"""


class FallbackChain:
    """Calls a deployment and, if it fails, its fallbacks.

    There is one chain per run. Later calls begin with the deployment that answered last.
    """

    def __init__(self, candidates: Sequence[Candidate], silence_seconds: float = 0.0) -> None:
        self.candidates = candidates
        self.silence_seconds = silence_seconds
        """The timeout for the first token if there is another candidate. 0 means the service's own
        timeout.
        """
        self.current = candidates[0]

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Yield the first candidate's answer, without fallbacks."""
        return self.candidates[0].model.stream(request)

    def receive(
        self, request: ModelRequest, assembly: Assembly, ask: Ask
    ) -> Coroutine[Any, Any, None]:
        """Add the answer of the first successful candidate to the assembly. Skip candidates whose
        context window is too small.

        Raises a candidate's failure immediately if the candidate had begun to answer or if the
        request caused the failure. If all candidates fail, raises the first transient failure, or
        else the first failure.
        """
        if len(self.candidates) == 1:
            return ask(self.call(self.current, request, assembly, has_next=False))
        return self.receive_first(request, assembly, ask)

    async def receive_first(self, request: ModelRequest, assembly: Assembly, ask: Ask) -> None:
        current = self.current
        excesses = {one.name: one.excess(request) for one in self.candidates}
        left = list(excesses.values()).count(0)
        failures: dict[str, QuickAppError] = {}
        async with aclosing(self.in_order()) as candidates:
            async for candidate in candidates:
                if excess := excesses[candidate.name]:
                    assembly.emit(unfit_notice(candidate, excess))
                    continue
                left -= 1
                try:
                    await ask(self.call(candidate, request, assembly, has_next=left > 0))
                except QuickAppError as failure:
                    is_fault = candidate is current and not is_of_deployment(failure)
                    if is_fault or assembly.has_begun:
                        raise
                    failures[candidate.name] = failure
                    log(candidate, failure, left)
                    continue
                if candidate is not current:
                    self.current = candidate
                    if not excesses[current.name]:
                        assembly.feed(notice(candidate, current, failures.get(current.name)))
                return
        raise next(filter(is_passing, failures.values()), next(iter(failures.values())))

    async def in_order(self) -> AsyncGenerator[Candidate, None]:
        """Yield the current candidate, then the others. Candidates with an open circuit breaker
        come last.
        """
        others = [one for one in self.candidates if one is not self.current]
        unavailable = []
        for candidate in (self.current, *others):
            if await candidate.breaker.admits():
                yield candidate
            else:
                unavailable.append(candidate)
        for candidate in unavailable:
            yield candidate

    def call(
        self, candidate: Candidate, request: ModelRequest, assembly: Assembly, *, has_next: bool
    ) -> CandidateCall:
        model = candidate.model
        if has_next and self.silence_seconds:
            model = TimeLimitedModel(model, self.silence_seconds)
        return CandidateCall(candidate, model, candidate.adapt(request), assembly, has_next)


def first_of(model: Model) -> Model:
    """Return the first candidate's model if the model is a fallback chain, otherwise the model
    itself.
    """
    return model.candidates[0].model if isinstance(model, FallbackChain) else model


def stay_with(model: Model, name: str) -> None:
    """Start a fallback chain with the deployment `name`, which answered last in this run. Does
    nothing for other models.
    """
    if isinstance(model, FallbackChain):
        found = (one for one in model.candidates if one.name == name)
        model.current = next(found, model.current)


@dataclass(frozen=True, slots=True)
class TimeLimitedModel:
    """A model that fails if its first token does not arrive within `seconds`."""

    model: Model
    seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Yield the model's answer. Raises `ModelFailed` if the first token is late or the model
        fails.
        """
        async with aclosing(self.model.stream(request)) as batches:
            try:
                async with asyncio.timeout(self.seconds):
                    first = await anext(batches, ())
            except TimeoutError as error:
                raise ModelFailed(
                    f"The model's service did not begin its response within {self.seconds:g} seconds.",
                    reason="timeout",
                ) from error
            yield first
            async for batch in batches:
                yield batch


def is_of_deployment(failure: QuickAppError) -> bool:
    """Return True if the deployment, not the request, caused the failure. Another deployment may
    then succeed.
    """
    if not isinstance(failure, ModelFailed) or failure.code in REQUEST_CODES:
        return False
    if (status := failure.status) is None:
        return failure.kind != BAD_REQUEST
    return status >= 500 or status in DEPLOYMENT_STATUSES or failure.code in UNKNOWN_MODEL_CODES


def is_passing(failure: QuickAppError) -> bool:
    return isinstance(failure, ModelFailed) and failure.is_transient


def notice(
    candidate: Candidate, preferred: Candidate, failure: QuickAppError | None
) -> NoticeAdded:
    text = f"Answered by {candidate.title} because {preferred.title} {what_happened(failure)}."
    return NoticeAdded(f"fallback-{candidate.name}", text)


def unfit_notice(candidate: Candidate, tokens: int) -> NoticeAdded:
    text = (
        f"{candidate.title} was not called: this conversation has about {tokens:,} tokens; the limit "
        f"is {candidate.window:,}."
    )
    return NoticeAdded(f"unfit-{candidate.name}", text)


def what_happened(failure: QuickAppError | None) -> str:
    if failure is None:
        return UNAVAILABLE
    if not isinstance(failure, ModelFailed):
        return "failed"
    if failure.status in OVERLOADED:
        return "was overloaded"
    if failure.reason == "timeout":
        return "did not respond in time"
    return "could not be reached" if failure.reason == "connection" else "failed"


def log(candidate: Candidate, failure: QuickAppError, left: int) -> None:
    logger.warning(
        "Deployment failed: deployment=%s error=%s fallbacks=%d service_message=%r",
        candidate.name,
        error_kind(failure),
        left,
        service_message(failure),
    )
