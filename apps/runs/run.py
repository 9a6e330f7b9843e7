"""One run: a resolved application, some messages, one answer.

This is the only module that knows the model, the capabilities and the loop all at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.conf import settings

from apps.accounts.caller import Caller
from apps.agent.events import Emit, Finished, Spent, StateSaved
from apps.agent.loop import AgentLoop, Progress
from apps.agent.messages import MODEL_STATE, Message
from apps.agent.model import Model
from apps.agent.retries import ONCE, Persistence
from apps.agent.room import Room
from apps.agent.thoughts import forget, own_thoughts
from apps.capabilities.registry import Completed, Completion, Opening, Prepared, Tidy
from apps.catalog.resolve import CONFIGURATION, ResolvedApplication
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.manifest import Manifest
from apps.runs.history import HISTORY, expand, kept, newest_state
from apps.runs.issues import report
from apps.runs.opening import Opened, open_capabilities
from apps.runs.parameters import limit_issues, limit_of, overlaid, static_tools
from apps.runs.prompt import (
    configured_prompt,
    inline_contexts,
    override,
    with_system,
    without_content_gaps,
)
from apps.runs.records import recorded, tell_initialized
from apps.runs.requests import RunRequest, check_client_tools, demanded, without_own_tools
from apps.runs.sealing import seal
from apps.runs.timings import show_timings
from apps.runs.usage import total
from apps.workspace.loading.loader import Loading, rules_of
from apps.workspace.port import DeploymentInfo, Workspace

logger = logging.getLogger(__name__)

CALLS = "tool_calls"
"""The finish reason of an answer that waits for the client's own tools."""


async def run(
    application: ResolvedApplication,
    request: RunRequest,
    workspace: Workspace,
    caller: Caller,
    emit: Emit,
) -> str:
    """Answer `request`, emitting everything there is to tell; `Finished` is the last event.

    Returns the text that the answer ends with, "" if it has none. The state and the costs are
    emitted however the run ends, a cancellation included. Raises `QuickAppError`.
    """
    started = time.monotonic()
    delegate = partial(delegated, application, workspace, caller)
    workspace = workspace.inside(application.slug)
    given = expand(request.messages)
    progress = Progress(room=Room(settings.ANSWER_MAX_CHARS))
    loading = Loading(rules_of(application.manifest))
    opening = Opening(
        workspace,
        caller,
        emit,
        newest_state(given),
        demanded=demanded(request.tool_choice),
        loading=loading,
        spend=progress.usage.extend,
        delegate=delegate,
        messages=given,
        skills=application.skills,
    )
    with recorded(application.slug, request.messages, progress) as ending:
        try:
            async with open_capabilities(application, opening) as opened:
                reason = await answer(application, request, given, opening, opened, progress)
        except BaseException:
            if progress.usage:
                emit(Spent(total(progress.usage)))
            raise
        if settings.SHOW_EXECUTION_TIME_STAGE and reason is not None:
            show_timings(progress.timings, time.monotonic() - started, emit)
        emit(Finished(reason or "stop", total(progress.usage)))
        ending.finish(reason)
    return last_words(progress)


async def delegated(
    application: ResolvedApplication,
    workspace: Workspace,
    caller: Caller,
    manifest: Manifest,
    prepared: Prepared,
    question: str,
    emit: Emit,
) -> str:
    """Let the application answer under another manifest. Raises `QuickAppError`."""
    helper = replace(application, manifest=manifest, prepared=prepared)
    return await run(helper, RunRequest((Message("user", question),)), workspace, caller, emit)


def last_words(progress: Progress) -> str:
    last = progress.added[-1] if progress.added else Message("tool")
    return last.text.strip() if last.role == "assistant" and not last.tool_calls else ""


async def answer(
    application: ResolvedApplication,
    request: RunRequest,
    given: Sequence[Message],
    opening: Opening,
    opened: Opened,
    progress: Progress,
) -> str | None:
    """The finish reason; None if there is no prompt, without which no model is asked."""
    workspace, emit = opening.workspace, opening.emit
    request = without_own_tools(request, opened.toolbox)
    check_client_tools(request, opened.toolbox)
    deployment_id = application.manifest.orchestrator.deployment.id
    info = await workspace.facts(deployment_id)
    wanted, issues = overlaid(
        application.parameters, info, request.response_format, request.parameters
    )
    if issues:  # they show what the deployment can do: only to somebody who may see it
        await workspace.deployment(deployment_id)
    prompt = await find_prompt(application, request, given, opening)
    missing = (prompt,) if isinstance(prompt, InitializationIssue) else ()
    endless = limit_issues(application.manifest.orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS)
    report((*opened.contribution.issues, *issues, *endless, *missing), emit)
    tell_initialized(application, opened)
    if isinstance(prompt, InitializationIssue):
        return None
    model = await workspace.model(deployment_id)
    loop = make_loop(application, request, model, wanted, info, opened)
    messages = await prepare_messages(application, request, given, prompt, opened)
    tidying: Sequence[Tidy] = ()
    try:
        reason = await loop.run(messages, emit, progress)
        if reason != CALLS:  # with the results of the client's tools, the answer goes on
            tidying = opened.contribution.tidying
    finally:
        emit(StateSaved(seal({**opening.saved, **state_of(given, progress, tidying)})))
    if reason != CALLS:
        await complete(opened.contribution.completions, progress)
    return reason


async def complete(completions: Sequence[Completion], progress: Progress) -> None:
    """What is to be done after an answer, one after the other; the answer stands whatever it does."""
    completed = Completed(progress.conversation, progress.iterations, progress.tool_calls)
    for completion in completions:
        try:
            await completion(completed)
        except Exception:
            logger.exception("What follows an answer failed; the answer stands")


def make_loop(
    application: ResolvedApplication,
    request: RunRequest,
    model: Model,
    parameters: Mapping[str, Any],
    info: DeploymentInfo,
    opened: Opened,
) -> AgentLoop:
    orchestrator = application.manifest.orchestrator
    deployment_id = orchestrator.deployment.id
    first = {"tool_choice": request.tool_choice} if request.tool_choice is not None else {}
    return AgentLoop(
        model=model,
        name=deployment_id,
        tools=opened.toolbox.listed,
        unlisted=opened.toolbox.unlisted,
        hidden=opened.toolbox.hidden,
        external=request.external,
        parameters=parameters,
        first_parameters=first,
        static_tools=static_tools(info),
        view=(partial(own_thoughts, deployment_id), *opened.contribution.view),
        results=opened.contribution.results,
        recoveries=(*opened.contribution.recoveries, forget),
        max_iterations=limit_of(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS),
        show_stages=orchestrator.propagate_stages,
        # The tools of an application would work twice.
        persistence=Persistence(ONCE) if info.is_application else Persistence(),
        requires_external=request.requires_client_tool,
        shows_logprobs=bool(request.parameters.get("logprobs")),
    )


async def find_prompt(
    application: ResolvedApplication,
    request: RunRequest,
    given: Sequence[Message],
    opening: Opening,
) -> str | InitializationIssue:
    may_replace = settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE
    prompt = override(given, allowed=may_replace) or (request.instructions if may_replace else "")
    try:
        return prompt or await configured_prompt(
            application.manifest, opening.workspace, opening.caller.locale
        )
    except QuickAppError as error:
        return InitializationIssue(f"orchestrator.system_prompt: {error}", section=CONFIGURATION)


async def prepare_messages(
    application: ResolvedApplication,
    request: RunRequest,
    given: Sequence[Message],
    prompt: str,
    opened: Opened,
) -> Sequence[Message]:
    """The conversation as it is kept: system prompt in front, history steps applied in order."""
    instructions = opened.contribution.instructions
    added = "" if settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE else request.instructions
    parts = (prompt, *inline_contexts(application.manifest), *instructions, added)
    messages: Sequence[Message] = with_system(given, parts)
    for step in opened.contribution.history:
        messages = await step(messages)
    return [without_content_gaps(message) for message in messages]


def state_of(
    given: Sequence[Message], progress: Progress, tidying: Sequence[Tidy]
) -> dict[str, Any]:
    """What the next request has to bring back."""
    conversation: Sequence[Message] = progress.conversation
    for tidy in tidying:
        conversation = tidy(conversation)
    state: dict[str, Any] = {HISTORY: kept(conversation, given)}
    for message in progress.added:
        if not message.tool_calls and message.model_state:
            state[MODEL_STATE] = message.model_state
    return state
