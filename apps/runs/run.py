"""Runs an application on the messages of a request, and emits one answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings

from apps import tracing
from apps.accounts.caller import Caller
from apps.agent.events import Emit, RunFinished, Spent, StateSaved
from apps.agent.ledger import NO_LEDGER, WAITING, Ledger
from apps.agent.messages import ModelMessage
from apps.agent.progress import Allowance, Progress, show_timings, total
from apps.agent.records import log_event
from apps.agent.taint import Taint
from apps.capabilities.registry import (
    CompletedAnswer,
    Completion,
    ContinuedConversation,
    Delegation,
    Opening,
    Tidy,
)
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest
from apps.runs.asking_ledger import ask_person
from apps.runs.capabilities import open_capabilities
from apps.runs.failures import reference_of
from apps.runs.history import (
    expand,
    newest_state,
    next_state,
    recorded_state,
    recorded_taint,
    seal,
)
from apps.runs.preparation import RunPreparation, prepare_run
from apps.runs.requests import RunRequest, chosen_tool
from apps.workspace.loading.shared_loads import Loading
from apps.workspace.port import KeyUse, Workspace

logger = logging.getLogger(__name__)

CALLS = "tool_calls"
"""The finish reason of an answer that is waiting for results from the client's own tools."""
KEY = "context_usage"
SOURCE = "model_usage"
"""The source of the reported context usage: the service's own token count for the newest request
and its answer.
"""
NAMES = {CALLS: "external_tool_calls", WAITING: WAITING}
"""Maps the finish reasons of incomplete answers to the outcomes that are logged."""
RECOMMENDED_FROM = 80
"""Clients should offer to compact the conversation if it uses at least this percentage of the
context window.
"""


@dataclass(frozen=True, slots=True)
class RunEnd:
    reason: str | None
    """The finish reason, or None if no model was called. A stored run with the reason `WAITING`
    resumes after a user's answer.
    """
    text: str = ""
    """The last text of the answer, or ""."""


async def run_application(
    application: ResolvedApplication,
    request: RunRequest,
    workspace: Workspace,
    caller: Caller,
    emit: Emit,
    ledger: Ledger = NO_LEDGER,
    progress: Progress | None = None,
    taint: Taint | None = None,
) -> RunEnd:
    """Answer the request. If the ledger contains steps of an interrupted run, continue after them.

    Also adds the usage to `progress`, if it is not None. `taint` belongs to the outer run, if there
    is one.

    The last event is `RunFinished`. Usage and state are emitted even if the run fails or is
    canceled, but not if it is waiting for a user. Raises `QuickAppError` if the run fails, or
    `LeaseLost` if another process has taken it over.
    """
    started = time.monotonic()
    conversation = expand(request.messages)
    taint = recorded_taint(ledger, conversation, taint)
    progress = progress or Progress()
    progress.meter = progress.meter.inside(application.slug, application.number)
    delegate = partial(run_delegation, application, workspace, caller, taint, progress)
    workspace = workspace.inside(application.slug, key_use(application.manifest))
    progress.answer.allowance = Allowance()
    loading = Loading(application.loading_rules)
    saved = recorded_state(ledger) if ledger.is_kept else {}
    opening = Opening(
        workspace,
        caller,
        emit,
        ContinuedConversation(conversation, {**newest_state(conversation), **saved}, saved),
        demanded=chosen_tool(request.tool_choice),
        application=application.slug,
        loading=loading,
        can_ask=ledger.can_ask,
        spend=progress.usage.extend,
        delegate=delegate,
        predefined=application.predefined,
        chat=request.chat,
        taint=taint,
        meter=progress.meter,
    )
    with record_run(application.slug, request.messages, progress) as outcome:
        try:
            async with open_capabilities(application, opening, request.place) as opened:
                preparation = await prepare_run(application, request, conversation, opening, opened)
                reason = await answer(preparation, progress, ledger)
        except BaseException:
            if progress.usage:
                emit(Spent(total(progress.usage)))
            raise
        outcome.finish(reason)
        if reason == WAITING:
            if ledger.is_kept:
                return RunEnd(reason)
            reason = "stop"  # The next message answers the question.
        if settings.SHOW_EXECUTION_TIME_STAGE and reason is not None:
            show_timings(progress.timings, time.monotonic() - started, emit)
        discarded = discarded_messages(request, progress)
        emit(RunFinished(reason or "stop", total(progress.usage), discarded))
    return RunEnd(reason, final_text(progress))


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


async def run_delegation(
    application: ResolvedApplication,
    workspace: Workspace,
    caller: Caller,
    taint: Taint,
    around: Progress,
    delegation: Delegation,
    emit: Emit,
    ledger: Ledger = NO_LEDGER,
) -> str | None:
    """Run the same application with another manifest, inside the run with the progress `around`,
    and return the answer. Return None if the answer is waiting for a user. Raises `QuickAppError`
    if the run fails.
    """
    inside = replace(application, manifest=delegation.manifest, prepared=delegation.prepared)
    request = RunRequest((ModelMessage("user", delegation.question),))
    progress = delegation.progress
    progress.meter = around.meter
    progress.counts.rounds.outer = around.counts.rounds if delegation.counts else None
    end = await run_application(inside, request, workspace, caller, emit, ledger, progress, taint)
    return None if end.reason == WAITING else end.text


def key_use(manifest: Manifest) -> KeyUse:
    keys = manifest.features.model_keys if manifest.features is not None else None
    if keys is None or keys.mode == "platform_only":
        return "platform"
    return "person_first" if keys.platform_pays else "person"


def discarded_messages(request: RunRequest, progress: Progress) -> tuple[int, ...] | None:
    """Return the indexes of the client's messages that were omitted, or None if the client set no
    limit.
    """
    if request.max_prompt_tokens is None:
        return None
    left_out = 0 if progress.fitter is None else progress.fitter.cut.now.left_out
    asked = [place for place, one in enumerate(request.messages) if one.role == "user"]
    end = asked[left_out] if left_out < len(asked) else 0
    return tuple(place for place in range(end) if request.messages[place].role != "system")


def final_text(progress: Progress) -> str:
    last = progress.conversation.added[-1] if progress.conversation.added else ModelMessage("tool")
    return last.text.strip() if last.role == "assistant" and not last.tool_calls else ""


async def answer(preparation: RunPreparation, progress: Progress, ledger: Ledger) -> str | None:
    """Run the agent loop. Return the finish reason, or None if the prompt could not be built and no
    model was called.
    """
    begun = await preparation.begin(ledger)
    if begun is None:
        return None
    loop, messages = begun
    progress.fitter = loop.steps.fitter
    opening, contribution = preparation.opening, preparation.opened.contribution
    tidying: Sequence[Tidy] = ()
    reason = ""
    try:
        reason = await loop.run(messages, opening.emit, progress)
        if reason != CALLS:  # With the results of the client's tools, the answer continues.
            tidying = contribution.tidying
    finally:
        if reason != WAITING or not ledger.is_kept:
            state = next_state(preparation.conversation, progress, tidying)
            application = preparation.application
            state |= context_usage(application.manifest, progress)
            state |= ask_person(ledger, application, opening.caller, progress, opening.emit)
            untrusted = opening.taint.state if opening.taint.sources else {}
            opening.emit(StateSaved(seal({**opening.conversation.saved, **untrusted, **state})))
    if reason not in (CALLS, WAITING):
        await complete(contribution.completions, progress)
    return reason


async def complete(completions: Sequence[Completion], progress: Progress) -> None:
    """Run the capabilities' follow-up work, one capability after the other. Errors are logged and
    do not change the answer.
    """
    completed = CompletedAnswer(
        progress.conversation.messages, progress.counts.iterations, progress.counts.tool_calls
    )
    for completion in completions:
        try:
            await completion(completed)
        except Exception:
            logger.exception("The follow-up work of an answer failed; the answer is not affected")


def context_usage(manifest: Manifest, progress: Progress) -> dict[str, Any]:
    """Return the context usage as part of the state. Return {} if the manifest does not enable it,
    or if the context window or the service's token count is unknown.

    Estimates are not reported, because they do not include files, tools and reasoning.
    """
    setting = manifest.features.context_usage if manifest.features is not None else None
    fitter = progress.fitter
    if setting is None or not setting.enabled or fitter is None:
        return {}
    limit, tokens = fitter.window.size, fitter.counted_after(progress)
    if not limit or tokens is None:
        return {}
    percent = round(100 * tokens / limit, 1)
    return {
        KEY: {
            "percent": percent,
            "limit_tokens": limit,
            "compaction_recommended": percent >= RECOMMENDED_FROM,
            "source": SOURCE,
        }
    }
