"""Calls a model, with retries after transient failures, and reads its complete answer."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import inf
from typing import Any

from msgspec import structs

from apps.agent.answers.assembly import Assembly
from apps.agent.answers.model_fallbacks import CandidateCall, FallbackChain
from apps.agent.backoff import Backoff
from apps.agent.events import Emit
from apps.agent.messages import ModelMessage, own_thoughts
from apps.agent.meter import ModelCallReport, error_kind, service_message
from apps.agent.model import Model, ModelRequest, NestedRun, Reply
from apps.agent.progress import Allowance, RunAnswer
from apps.agent.tools import Spend, ignore_usage
from apps.agent.turn_stages import ModelStages
from apps.errors import ModelFailed, QuickAppError

logger = logging.getLogger(__name__)

BACKOFF = Backoff(attempts=4, initial_delay=1.0, max_delay=30.0)
"""The retry policy of model calls: up to three retries. The pauses take up to 7 seconds in total,
or as long as the service's `Retry-After`.
"""
ONCE = replace(BACKOFF, attempts=1)
"""The retry policy of calls with possible side effects: no retry."""


async def ask_model(
    model: Model,
    request: ModelRequest,
    emit: Emit,
    *,
    name: str,
    stage_prefix: str | None = None,
    stage_parent: str | None = None,
    spend: Spend = ignore_usage,
    allowance: Allowance | None = None,
) -> Reply:
    """Call the model once, emit the answer as it arrives, and return it.

    Usage is reported for the deployment `name`. The model's stages are nested in the stage
    `stage_parent`, and their IDs begin with `stage_prefix`. If `stage_prefix` is None, the stages
    are hidden. `spend` is called with the usage of an incomplete answer. Raises `ModelFailed`.
    """
    stages = ModelStages(emit, stage_prefix, stage_parent) if stage_prefix is not None else None
    answer = RunAnswer(allowance=allowance or Allowance())
    assembly = Assembly(emit, stages=stages, answer=answer, taint=request.taint)
    try:
        await RetryPolicy(ONCE).receive(model, request, assembly, name)
    except BaseException:
        spend(assembly.spent(name))
        raise
    return assembly.reply(name, call_ids(request.messages))


async def receive(
    model: Model, request: ModelRequest, assembly: Assembly, name: str, iteration: int = 1
) -> None:
    """Add the model's answer to the assembly, and report the call to the meter.

    Removes the reasoning of deployments other than `name` from the request. Raises `BudgetSpent` or
    any error that `read_answer` raises.
    """
    if isinstance(model, NestedRun):
        await read_answer(model, request, assembly)
        return
    reservation = await request.meter.admit(name, request)
    if reservation is not None:
        for notice in reservation.notices:
            assembly.emit(notice)
    started, error, said = time.monotonic(), "", ""
    assembly.deployment = name
    request = with_own_thoughts(request, name)
    try:
        await read_answer(model, request, assembly)
    except BaseException as failure:
        error, said = error_kind(failure), service_message(failure)
        raise
    finally:
        first = assembly.first_text_at
        report = ModelCallReport(
            name,
            time.monotonic() - started,
            assembly.spent(name),
            iteration,
            None if first is None else first - started,
            assembly.finish_reason,
            error,
            assembly.is_paid_by_person,
            reservation,
            request.purpose,
            said,
        )
        request.meter.model_called(report)


async def read_answer(model: Model, request: ModelRequest, assembly: Assembly) -> None:
    """Add the model's answer to the assembly. Raises `ModelFailed` if the answer is interrupted."""
    with assembly.stages or nullcontext():
        try:
            async with aclosing(model.stream(request)) as batches:
                async for batch in batches:
                    for delta in batch:
                        assembly.feed(delta)
                    if assembly.is_too_long:
                        assembly.cut()
                        break
        except Exception as error:
            # After the finish reason, the answer is complete.
            if assembly.finish_reason:
                logger.warning(
                    "A model's stream disconnected after its response was complete: %s", error
                )
                return
            if isinstance(error, QuickAppError) or not assembly.has_begun:
                raise
            logger.exception("Failed to read a model's response")
            raise ModelFailed(
                "The stream of the completion could not be read.", reason="stream"
            ) from error


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retries transient failures, and then calls fallbacks, unless an answer has begun. No attempt
    begins later than `seconds` after the first one.

    Do not use it to call applications, because their calls can have side effects.
    """

    backoff: Backoff = BACKOFF
    wait: Callable[[float], Awaitable[object]] = asyncio.sleep
    seconds: float = inf

    def receive(
        self,
        model: Model,
        request: ModelRequest,
        assembly: Assembly,
        name: str,
        iteration: int = 1,
    ) -> Coroutine[Any, Any, None]:
        """Add the model's answer to the assembly, with retries and fallbacks. Raises
        `ModelFailed`.
        """
        # This is not a coroutine itself, because each chunk of an answer passes through every
        # coroutine.
        if not isinstance(model, FallbackChain):
            call = partial(receive, model, request, assembly, name, iteration)
            return self.repeat(call, assembly, name)

        started = time.monotonic()

        def ask_candidate(call: CandidateCall) -> Coroutine[Any, Any, None]:
            one = call.candidate.name
            ask = partial(receive, assembly=assembly, name=one, iteration=iteration)

            def patience() -> float:
                return min(call.patience, self.seconds - (time.monotonic() - started))

            return self.repeat(partial(call.make, ask), assembly, one, patience)

        return model.receive(request, assembly, ask_candidate)

    async def repeat(
        self,
        call: Callable[[], Awaitable[None]],
        assembly: Assembly,
        name: str,
        patience: Callable[[], float] = lambda: inf,
    ) -> None:
        """Make a call, with retries. `patience` returns the maximum total pause in seconds. Raises
        the last `ModelFailed` if no attempt succeeds.
        """
        waited, started = 0.0, time.monotonic()
        for attempt in count(1):
            try:
                await call()
                return
            except ModelFailed as failure:
                passed = max(waited, time.monotonic() - started)
                left = min(patience() - waited, self.seconds - passed)
                pause = self.backoff.pause(attempt, failure.retry_after, left)
                if pause is None or assembly.has_begun or not failure.is_transient:
                    raise
                logger.warning(
                    "Model call failed, retrying: deployment=%s attempt=%d of %d "
                    "reason=%s status=%s pause=%.3f service_message=%r",
                    name,
                    attempt,
                    self.backoff.attempts,
                    failure.reason,
                    failure.status,
                    pause,
                    failure.said,
                )
            await self.wait(pause)
            waited += pause


def with_own_thoughts(request: ModelRequest, name: str) -> ModelRequest:
    messages = own_thoughts(name, request.messages)
    return request if messages is request.messages else structs.replace(request, messages=messages)


def call_ids(messages: Iterable[ModelMessage]) -> set[str]:
    """Return the IDs of all tool calls in the messages, which a new answer must not reuse."""
    return {call.id for message in messages for call in message.tool_calls}
