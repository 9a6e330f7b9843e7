"""Deployments that answer in the place of one that cannot, as long as it has not begun to answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from math import inf
from typing import Protocol

import msgspec

from apps.agent.assembly import Assembly
from apps.agent.estimate import MOST_CORRECTION, message_tokens, most_tokens, text_tokens
from apps.agent.events import Noticed
from apps.agent.meter import error_kind, service_message
from apps.agent.model import Delta, Model, ModelRequest
from apps.errors import ModelFailed, QuickAppError

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 8.0
"""For all pauses before another deployment is asked: our own fit in, a long `Retry-After` does not."""
OF_DEPLOYMENT = frozenset({401, 402, 403, 404, 408, 429})
"""Statuses below 500 that say nothing of the request: a dead key, no credit, no such model, a limit."""
OF_REQUEST = frozenset({"content_filter", "context_length_exceeded", "truncate_prompt_error"})
"""Codes of a request that any deployment should refuse, whatever the status."""
NO_MODEL = frozenset({"model_not_found", "DeploymentNotFound"})
"""Codes that some services send with the status 400."""
BAD_REQUEST = "invalid_request_error"
OVERLOADED = frozenset({429, 503, 529})
OUT_OF_ORDER = "is out of order at the moment"
"""Of a deployment whose breaker is open."""


class Breaker(Protocol):
    """What is known of a deployment's trouble; open while the deployment should be left alone."""

    async def admits(self) -> bool:
        """Whether to ask the deployment. Of a breaker that was open for its time, True for one
        caller alone, whose success closes it.
        """
        ...

    async def failed(self) -> bool:
        """Note a failure of the deployment; whether the breaker is open now."""
        ...

    async def succeeded(self, began: float) -> None:
        """Note the success of a call that began at that moment of the monotonic clock."""
        ...


class NoBreaker:
    """Of a deployment whose failures say nothing of the next call."""

    async def admits(self) -> bool:
        return True

    async def failed(self) -> bool:
        return False

    async def succeeded(self, began: float) -> None:
        pass


class Candidate(msgspec.Struct, frozen=True):
    """A deployment that can answer; `title` is its name for people.

    `adapt` gives a request that was written for the first candidate the form of this one. `window`
    is how many tokens it reads, None if that is unknown or the requests fit it anyhow.
    """

    name: str
    title: str
    model: Model
    breaker: Breaker
    adapt: Callable[[ModelRequest], ModelRequest] = lambda request: request
    window: int | None = None

    def excess(self, request: ModelRequest) -> int:
        """How many tokens a request has, about, if those are more than are read; else 0."""
        if self.window is None:
            return 0
        tools = sum(spec.tokens for spec in request.tools)
        tools += text_tokens(*map(str, request.static_tools))
        # Most requests are so much smaller that they need no estimate.
        if MOST_CORRECTION * (tools + sum(map(most_tokens, request.messages))) <= self.window:
            return 0
        total = tools + sum(map(message_tokens, request.messages))
        return total if total > self.window else 0


@dataclass(slots=True)
class CandidateCall:
    """The attempts at one candidate; `has_next` if another one can be asked after it."""

    candidate: Candidate
    model: Model
    request: ModelRequest
    assembly: Assembly
    has_next: bool
    is_open: bool = False

    @property
    def patience(self) -> float:
        """Seconds for the pauses between the attempts."""
        if not self.has_next:
            return inf
        return 0.0 if self.is_open else PATIENCE_SECONDS

    async def made(self, ask: Callable[[Model, ModelRequest], Awaitable[None]]) -> None:
        """Ask once and tell the breaker how it went. Raises as `ask`."""
        began, breaker = time.monotonic(), self.candidate.breaker
        try:
            await ask(self.model, self.request)
        except ModelFailed as failure:
            if is_of_deployment(failure) and not self.assembly.has_begun:
                self.is_open = await breaker.failed()
            raise
        await breaker.succeeded(began)


Ask = Callable[[CandidateCall], Awaitable[None]]
"""Makes a call, with the attempts that its caller has for it. Raises `ModelFailed`."""


class FallbackChain:
    """A model with those that answer in its place; made for one run, or for one call.

    The one that answered is asked first from then on. `silence_seconds` is how long one may be
    silent before its first word while there is another, 0 for as long as its service may.
    """

    def __init__(self, candidates: Sequence[Candidate], silence_seconds: float = 0.0) -> None:
        self.candidates = candidates
        self.silence_seconds = silence_seconds
        self.current = candidates[0]

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """The answer of the first candidate, for a caller that wants no other one."""
        return self.candidates[0].model.stream(request)

    async def receive(self, request: ModelRequest, assembly: Assembly, ask: Ask) -> None:
        """Feed the assembly the answer of the first candidate that gives one.

        Those that do not read so much are left out. Raises `ModelFailed`: of a candidate that began
        to answer or finds fault with the request, else the first failure that may pass.
        """
        current = self.current
        if len(self.candidates) == 1:
            await ask(self.call(current, request, assembly, has_next=False))
            return
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
        """The current candidate and then the others; last those whose breaker is open."""
        others = [one for one in self.candidates if one is not self.current]
        left_alone = []
        for candidate in (self.current, *others):
            if await candidate.breaker.admits():
                yield candidate
            else:
                left_alone.append(candidate)
        for candidate in left_alone:
            yield candidate

    def call(
        self, candidate: Candidate, request: ModelRequest, assembly: Assembly, *, has_next: bool
    ) -> CandidateCall:
        model = candidate.model
        if has_next and self.silence_seconds:
            model = FirstWordWithin(model, self.silence_seconds)
        return CandidateCall(candidate, model, candidate.adapt(request), assembly, has_next)


def first_of(model: Model) -> Model:
    """The model itself, or the first candidate of a chain."""
    return model.candidates[0].model if isinstance(model, FallbackChain) else model


def stay_with(model: Model, name: str) -> None:
    """Ask the deployment first that has answered this run in another process."""
    if isinstance(model, FallbackChain):
        found = (one for one in model.candidates if one.name == name)
        model.current = next(found, model.current)


@dataclass(frozen=True, slots=True)
class FirstWordWithin:
    """A model that fails if nothing of its answer came in so many seconds."""

    model: Model
    seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Raises `ModelFailed`."""
        async with aclosing(self.model.stream(request)) as batches:
            try:
                async with asyncio.timeout(self.seconds):
                    first = await anext(batches, ())
            except TimeoutError as error:
                raise ModelFailed(
                    f"The model's service has not begun to answer after {self.seconds:g} seconds.",
                    reason="timeout",
                ) from error
            yield first
            async for batch in batches:
                yield batch


def is_of_deployment(failure: QuickAppError) -> bool:
    """Whether the deployment failed, and not the request, so that another one may answer it."""
    if not isinstance(failure, ModelFailed) or failure.code in OF_REQUEST:
        return False
    if (status := failure.status) is None:
        return failure.kind != BAD_REQUEST
    return status >= 500 or status in OF_DEPLOYMENT or failure.code in NO_MODEL


def is_passing(failure: QuickAppError) -> bool:
    return isinstance(failure, ModelFailed) and failure.is_transient


def notice(candidate: Candidate, wanted: Candidate, failure: QuickAppError | None) -> Noticed:
    text = f"Answered by {candidate.title} because {wanted.title} {what_happened(failure)}."
    return Noticed(f"fallback-{candidate.name}", text)


def unfit_notice(candidate: Candidate, tokens: int) -> Noticed:
    text = (
        f"{candidate.title} was not asked: this conversation takes about {tokens:,} tokens, and it "
        f"reads {candidate.window:,}."
    )
    return Noticed(f"unfit-{candidate.name}", text)


def what_happened(failure: QuickAppError | None) -> str:
    if failure is None:
        return OUT_OF_ORDER
    if not isinstance(failure, ModelFailed):
        return "failed"
    if failure.status in OVERLOADED:
        return "was overloaded"
    if failure.reason == "timeout":
        return "did not answer in time"
    return "could not be reached" if failure.reason == "connection" else "failed"


def log(candidate: Candidate, failure: QuickAppError, left: int) -> None:
    logger.warning(
        "Deployment did not answer: deployment=%s error=%s others=%d said=%r",
        candidate.name,
        error_kind(failure),
        left,
        service_message(failure),
    )
