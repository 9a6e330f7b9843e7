"""Records the cost and duration of a run in the log, in a trace span and in a stage."""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from apps import tracing
from apps.agent.events import Emit, ModelUsage, StageClosed, StageDelta, StageOpened, Usage
from apps.agent.ledger import WAITING
from apps.agent.messages import ModelMessage
from apps.agent.progress import CallTiming, Progress
from apps.agent.records import log_event
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.capabilities import OpenCapabilities
from apps.runs.failures import reference_of

logger = logging.getLogger(__name__)

TIMINGS_STAGE = "execution-time"
NAMES = {"tool_calls": "external_tool_calls", WAITING: WAITING}
"""Maps the finish reasons of incomplete answers to the outcomes that are logged."""


@dataclass(slots=True)
class RequestOutcome:
    name: str = "failed"
    reference: str = ""

    def finish(self, reason: str | None) -> None:
        """Record the outcome of a run with this finish reason. None means that no model was called."""
        if reason is not None:
            self.name = NAMES.get(reason, "completed")


@contextmanager
def record_run(
    slug: str, messages: Sequence[ModelMessage], progress: Progress
) -> Iterator[RequestOutcome]:
    """Log the start and the end of the block, in which the application runs, and trace the block as
    a span.
    """
    log_event(
        logger,
        "Request received",
        deployment=slug,
        messages=len(messages),
        attachments=sum(len(message.attachments) for message in messages),
    )
    started = time.monotonic()
    outcome = RequestOutcome()
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": slug}
    try:
        with tracing.span(f"invoke_agent {slug}", attributes) as span:
            try:
                yield outcome
            finally:
                if span.is_recording():
                    spent = total(progress.usage)
                    span.set_attribute("gen_ai.usage.input_tokens", spent.input)
                    span.set_attribute("gen_ai.usage.output_tokens", spent.output)
    except asyncio.CancelledError:
        outcome.name = "cancelled"
        raise
    except Exception as error:
        outcome.reference = reference_of(error)
        raise
    finally:
        log_event(
            logger,
            "Request completed",
            outcome=outcome.name,
            iterations=progress.counts.iterations,
            tool_calls=progress.counts.tool_calls,
            duration=time.monotonic() - started,
            error_reference=outcome.reference or None,
        )


def log_initialized(application: ResolvedApplication, opened: OpenCapabilities) -> None:
    manifest, box = application.manifest, opened.toolbox
    log_event(
        logger,
        "Request initialized",
        tools=len({*box.listed, *box.unlisted, *box.hidden}),
        tool_types=sorted({toolset.type for toolset in manifest.tool_sets}),
        skills=len(application.predefined.skills) + len(manifest.skills or ()),
        contexts=len(manifest.contexts),
    )


def show_timings(timings: Sequence[CallTiming], seconds: float, emit: Emit) -> None:
    """Show the durations of all calls in a stage. `seconds` is the duration of the whole run. It is
    less than the sum of the calls if tools ran concurrently.
    """
    rows = [("Step", "Seconds"), ("---", "---:")]
    rows += [
        (f"Tool `{one.name}`" if one.is_tool else f"Model {one.name}", f"{one.seconds:.3f}")
        for one in timings
    ]
    rows += [("**Total**", f"**{seconds:.3f}**")]
    emit(StageOpened(TIMINGS_STAGE, "Execution time"))
    emit(StageDelta(TIMINGS_STAGE, "".join(f"| {left} | {right} |\n" for left, right in rows)))
    emit(StageClosed(TIMINGS_STAGE, 0.0))


def total(spent: Iterable[ModelUsage]) -> Usage:
    """Return the total usage, with one `ModelUsage` per model, in the order of first use."""
    by_model: dict[str, ModelUsage] = {}
    for item in spent:
        recorded = by_model.get(item.model)
        by_model[item.model] = item if recorded is None else add_usage(recorded, item)
    per_model = tuple(by_model.values())
    whole = reduce(add_usage, per_model, ModelUsage("", 0, 0))
    return Usage(whole.input, whole.output, per_model, whole.cached, whole.created, whole.reasoning)


def add_usage(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    return ModelUsage(
        one.model,
        one.input + other.input,
        one.output + other.output,
        sum_counts(one.cached, other.cached),
        sum_counts(one.created, other.created),
        sum_counts(one.reasoning, other.reasoning),
    )


def sum_counts(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
