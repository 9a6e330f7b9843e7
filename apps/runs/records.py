"""What the operator reads of a request: when it came, what it had, how it ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.trace import Span

from apps import tracing
from apps.agent.loop import Progress
from apps.agent.messages import Message
from apps.agent.records import record
from apps.catalog.resolve import ResolvedApplication
from apps.runs.failures import reference_of
from apps.runs.opening import Opened
from apps.runs.usage import total

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Ending:
    outcome: str = "failed"
    reference: str = ""

    def finish(self, reason: str | None) -> None:
        """`reason` is why the model stopped, None if it was not asked."""
        if reason is not None:
            self.outcome = "external_tool_calls" if reason == "tool_calls" else "completed"


@contextmanager
def recorded(slug: str, messages: Sequence[Message], progress: Progress) -> Iterator[Ending]:
    """A line before the block, and one behind it, however it is left; a span around it."""
    record(
        logger,
        "Request received",
        deployment=slug,
        messages=len(messages),
        attachments=sum(len(message.attachments) for message in messages),
    )
    started = time.monotonic()
    ending = Ending()
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": slug}
    try:
        with tracing.span(f"invoke_agent {slug}", attributes) as span:
            try:
                yield ending
            finally:
                note_usage(span, progress)
    except asyncio.CancelledError:
        ending.outcome = "cancelled"
        raise
    except Exception as error:
        ending.reference = reference_of(error)
        raise
    finally:
        record(
            logger,
            "Request completed",
            outcome=ending.outcome,
            iterations=progress.iterations,
            tool_calls=progress.tool_calls,
            duration=time.monotonic() - started,
            error_reference=ending.reference or None,
        )


def note_usage(span: Span, progress: Progress) -> None:
    if not span.is_recording():
        return
    spent = total(progress.usage)
    span.set_attribute("gen_ai.usage.input_tokens", spent.input)
    span.set_attribute("gen_ai.usage.output_tokens", spent.output)


def tell_initialized(application: ResolvedApplication, opened: Opened) -> None:
    manifest = application.manifest
    record(
        logger,
        "Request initialized",
        tools=len(opened.toolbox.names),
        tool_types=sorted({toolset.type for toolset in manifest.tool_sets}),
        skills=len(application.skills) + len(manifest.skills or ()),
        contexts=len(manifest.contexts),
    )
