"""One run: a resolved application, some messages, one answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings

from apps.accounts.caller import Caller
from apps.agent.allowance import Allowance
from apps.agent.events import Emit, Finished, Spent, StateSaved
from apps.agent.ledger import NO_LEDGER, WAITING, Ledger
from apps.agent.messages import Message
from apps.agent.progress import Progress
from apps.agent.taint import Taint, recorded_taint
from apps.capabilities.registry import Completed, Completion, Delegation, Opening, Tidy
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest
from apps.runs.asking_ledger import ask_person
from apps.runs.capabilities import open_capabilities
from apps.runs.context_usage import context_usage
from apps.runs.history import expand, newest_state, seal
from apps.runs.preparation import Preparation, prepare
from apps.runs.records import recorded, show_timings, total
from apps.runs.requests import RunRequest, chosen_tool
from apps.runs.saved_state import recorded_state, state_of
from apps.workspace.loading.shared_loads import Loading
from apps.workspace.port import KeyUse, Workspace

logger = logging.getLogger(__name__)

CALLS = "tool_calls"
"""The finish reason of an answer that waits for the client's own tools."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended: `text` is what the answer ends with, "" if it has none.

    `reason` is the finish reason, None if no model was asked. With `WAITING` a run that is kept has
    not ended: it is to be run again once somebody has answered.
    """

    reason: str | None
    text: str = ""


async def run(
    application: ResolvedApplication,
    request: RunRequest,
    workspace: Workspace,
    caller: Caller,
    emit: Emit,
    ledger: Ledger = NO_LEDGER,
    progress: Progress | None = None,
    taint: Taint | None = None,
) -> RunEnd:
    """Answer `request`, from where the `ledger` ends; a new `progress` tells a caller what it cost.
    `taint` is that of the run around it.

    `Finished` is the last event. The state and the usage are emitted however the run ends, even
    by a cancellation, but not while it waits for somebody. Raises `QuickAppError`, `LeaseLost`.
    """
    started = time.monotonic()
    given = expand(request.messages)
    taint = recorded_taint(ledger, given, taint)
    progress = progress or Progress()
    progress.meter = progress.meter.inside(application.slug, application.number)
    delegate = partial(delegated, application, workspace, caller, taint, progress)
    workspace = workspace.inside(application.slug, key_use(application.manifest))
    progress.allowance = Allowance(settings.ANSWER_MAX_CHARS)
    loading = Loading(application.loading_rules)
    saved = recorded_state(ledger)
    opening = Opening(
        workspace,
        caller,
        emit,
        {**newest_state(given), **saved},
        saved,
        demanded=chosen_tool(request.tool_choice),
        application=application.slug,
        loading=loading,
        can_ask=ledger.can_ask,
        spend=progress.usage.extend,
        delegate=delegate,
        messages=given,
        skills=application.skills,
        search_conversations=request.search_conversations,
        schedules=request.schedules,
        prompts=application.prompts,
        places=application.places,
        agents=application.agents,
        taint=taint,
        meter=progress.meter,
    )
    with recorded(application.slug, request.messages, progress) as outcome:
        try:
            async with open_capabilities(application, opening, request.place) as opened:
                preparation = await prepare(application, request, given, opening, opened)
                reason = await answer(preparation, progress, ledger)
        except BaseException:
            if progress.usage:
                emit(Spent(total(progress.usage)))
            raise
        outcome.finish(reason)
        if reason == WAITING:
            if ledger.is_kept:
                return RunEnd(reason)
            reason = "stop"  # the next message answers what was asked
        if settings.SHOW_EXECUTION_TIME_STAGE and reason is not None:
            show_timings(progress.timings, time.monotonic() - started, emit)
        discarded = discarded_messages(request, progress)
        emit(Finished(reason or "stop", total(progress.usage), discarded))
    return RunEnd(reason, final_text(progress))


async def delegated(
    application: ResolvedApplication,
    workspace: Workspace,
    caller: Caller,
    taint: Taint,
    around: Progress,
    delegation: Delegation,
    emit: Emit,
    ledger: Ledger = NO_LEDGER,
) -> str | None:
    """Let the application answer under another manifest, inside of the run whose progress is
    `around`. Raises `QuickAppError`.
    """
    inside = replace(application, manifest=delegation.manifest, prepared=delegation.prepared)
    request = RunRequest((Message("user", delegation.question),))
    progress = delegation.progress
    progress.meter = around.meter
    progress.rounds.outer = around.rounds if delegation.counts else None
    end = await run(inside, request, workspace, caller, emit, ledger, progress, taint)
    return None if end.reason == WAITING else end.text


def key_use(manifest: Manifest) -> KeyUse:
    keys = manifest.features.model_keys if manifest.features is not None else None
    if keys is None or keys.mode == "platform_only":
        return "platform"
    return "person_first" if keys.platform_pays else "person"


def discarded_messages(request: RunRequest, progress: Progress) -> tuple[int, ...] | None:
    """The places of the client's messages that were left out; None if it has set no limit."""
    if request.max_prompt_tokens is None:
        return None
    left_out = 0 if progress.fitter is None else progress.fitter.cut.left_out
    asked = [place for place, one in enumerate(request.messages) if one.role == "user"]
    end = asked[left_out] if left_out < len(asked) else 0
    return tuple(place for place in range(end) if request.messages[place].role != "system")


def final_text(progress: Progress) -> str:
    last = progress.added[-1] if progress.added else Message("tool")
    return last.text.strip() if last.role == "assistant" and not last.tool_calls else ""


async def answer(preparation: Preparation, progress: Progress, ledger: Ledger) -> str | None:
    """The finish reason; None if there is no prompt, without which no model is asked."""
    begun = await preparation.begin(ledger)
    if begun is None:
        return None
    loop, messages = begun
    progress.fitter = loop.fitter
    opening, contribution = preparation.opening, preparation.opened.contribution
    tidying: Sequence[Tidy] = ()
    reason = ""
    try:
        reason = await loop.run(messages, opening.emit, progress)
        if reason != CALLS:  # with the results of the client's tools, the answer goes on
            tidying = contribution.tidying
    finally:
        if reason != WAITING or not ledger.is_kept:
            state = state_of(preparation.given, progress, tidying)
            application = preparation.application
            state |= context_usage(application.manifest, progress)
            state |= ask_person(ledger, application, opening.caller, progress, opening.emit)
            opening.emit(StateSaved(seal({**opening.saved, **opening.taint.state, **state})))
    if reason not in (CALLS, WAITING):
        await complete(contribution.completions, progress)
    return reason


async def complete(completions: Sequence[Completion], progress: Progress) -> None:
    """Run the completions one after the other; their failures do not change the answer."""
    completed = Completed(progress.conversation, progress.iterations, progress.tool_calls)
    for completion in completions:
        try:
            await completion(completed)
        except Exception:
            logger.exception("What follows an answer failed; the answer stands")
