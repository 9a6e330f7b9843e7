"""A model is asked, again after a transient failure, and its answer read to the end."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import inf

from msgspec import structs

from apps.agent.allowance import Allowance
from apps.agent.assembly import Assembly, Reply
from apps.agent.backoff import Backoff
from apps.agent.events import Emit
from apps.agent.fallbacks import CandidateCall, FallbackChain
from apps.agent.messages import Message, own_thoughts
from apps.agent.meter import ModelCallReport, error_kind, service_message
from apps.agent.model import Model, ModelRequest, NestedRun
from apps.agent.model_stages import ModelStages
from apps.agent.tools import Spend, ignore_usage
from apps.errors import ModelFailed, QuickAppError

logger = logging.getLogger(__name__)

BACKOFF = Backoff(attempts=4, initial_delay=1.0, max_delay=30.0)
"""Three attempts after the first one, as in TidGi's retries: 7 seconds of pauses at the most, or as
many as the service wants."""
ONCE = replace(BACKOFF, attempts=1)
"""For what may have side effects."""


async def ask(
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
    """Ask once and show the answer while it arrives.

    `name` is the deployment's, for the usage. `stage_prefix` begins the ids of the model's own
    stages, None hides them; below `stage_parent` they are shown as those of a sub-application.
    `spend` is told the cost of an answer that breaks off. Raises `ModelFailed`.
    """
    stages = ModelStages(emit, stage_prefix, stage_parent) if stage_prefix is not None else None
    assembly = Assembly(emit, stages=stages, allowance=allowance, taint=request.taint)
    try:
        await RetryPolicy(ONCE).receive(model, request, assembly, name)
    except BaseException:
        spend(assembly.spent(name))
        raise
    return assembly.reply(name, call_ids(request.messages))


async def receive(
    model: Model, request: ModelRequest, assembly: Assembly, name: str, iteration: int = 1
) -> None:
    """Feed the assembly everything that the model answers, and report the call to the meter.

    The model does not see the thoughts of others. Raises as `read_answer`, and `BudgetSpent`.
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
    """Raises `ModelFailed`, also for an answer that cannot be read to its end."""
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
            # With its finish reason an answer is complete; a later failure takes nothing from it.
            if assembly.finish_reason:
                logger.warning("A model's stream broke after the answer: %s", error)
                return
            if isinstance(error, QuickAppError) or not assembly.has_begun:
                raise
            logger.exception("The answer of a model could not be read")
            raise ModelFailed(
                "The stream of the completion could not be read.", reason="stream"
            ) from error


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Asks again after a transient failure, as long as nothing of an answer has come, and then the
    deployments that answer in the place of the one that failed.

    Not for an application that plays a model: it may have side effects. No attempt begins later than
    `seconds` after the first one: a client reads the status of a failure only if it comes soon.
    """

    backoff: Backoff = BACKOFF
    wait: Callable[[float], Awaitable[object]] = asyncio.sleep
    seconds: float = inf

    async def receive(
        self,
        model: Model,
        request: ModelRequest,
        assembly: Assembly,
        name: str,
        iteration: int = 1,
    ) -> None:
        """Feed the assembly everything that the model answers. Raises `ModelFailed`."""
        if not isinstance(model, FallbackChain):
            call = partial(receive, model, request, assembly, name, iteration)
            await self.repeat(call, assembly, name)
            return

        started = time.monotonic()

        def ask_candidate(call: CandidateCall) -> Awaitable[None]:
            one = call.candidate.name
            ask = partial(receive, assembly=assembly, name=one, iteration=iteration)

            def patience() -> float:
                return min(call.patience, self.seconds - (time.monotonic() - started))

            return self.repeat(partial(call.made, ask), assembly, one, patience)

        await model.receive(request, assembly, ask_candidate)

    async def repeat(
        self,
        call: Callable[[], Awaitable[None]],
        assembly: Assembly,
        name: str,
        patience: Callable[[], float] = lambda: inf,
    ) -> None:
        """Make a call of the model, if need be again; `patience` is for all pauses.

        Raises the last `ModelFailed`.
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
                    "Model call failed and is tried again: deployment=%s attempt=%d of %d "
                    "reason=%s status=%s pause=%.3f said=%r",
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


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all tool calls: an answer may not use them again."""
    return {call.id for message in messages for call in message.tool_calls}
