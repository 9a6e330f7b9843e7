"""One run: a resolved application, some messages, one answer.

No other module knows the model, the capabilities and the loop all at once.
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
from apps.agent.assembly import Allowance
from apps.agent.events import Emit, Finished, Spent, StateSaved
from apps.agent.loop import AgentLoop, Progress
from apps.agent.messages import MODEL_STATE, Message, own_thoughts, without_thoughts
from apps.agent.model import Model
from apps.agent.replies import ONCE, RetryPolicy
from apps.capabilities.registry import Completed, Completion, Opening, Prepared, Tidy
from apps.catalog.resolve import CONFIGURATION, ResolvedApplication
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.manifest import Manifest
from apps.runs.capabilities import OpenCapabilities, open_capabilities, show_issues
from apps.runs.history import HISTORY, expand, new_tool_messages, newest_state, seal
from apps.runs.prompt import (
    configured_prompt,
    inline_contexts,
    override,
    with_system,
    without_content_gaps,
)
from apps.runs.records import log_initialized, recorded, show_timings, total
from apps.runs.requests import (
    RunRequest,
    check_client_tools,
    chosen_tool,
    limit_issues,
    limit_of,
    model_parameters,
    static_tools,
    without_own_tools,
)
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
    """Answer `request`; return the text that the answer ends with, "" if it has none.

    `Finished` is the last event. The state and the usage are emitted however the run ends, even
    by a cancellation. Raises `QuickAppError`.
    """
    started = time.monotonic()
    delegate = partial(delegated, application, workspace, caller)
    workspace = workspace.inside(application.slug)
    given = expand(request.messages)
    progress = Progress(allowance=Allowance(settings.ANSWER_MAX_CHARS))
    loading = Loading(rules_of(application.manifest))
    opening = Opening(
        workspace,
        caller,
        emit,
        newest_state(given),
        demanded=chosen_tool(request.tool_choice),
        loading=loading,
        spend=progress.usage.extend,
        delegate=delegate,
        messages=given,
        skills=application.skills,
    )
    with recorded(application.slug, request.messages, progress) as outcome:
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
        outcome.finish(reason)
    return final_text(progress)


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


def final_text(progress: Progress) -> str:
    last = progress.added[-1] if progress.added else Message("tool")
    return last.text.strip() if last.role == "assistant" and not last.tool_calls else ""


async def answer(
    application: ResolvedApplication,
    request: RunRequest,
    given: Sequence[Message],
    opening: Opening,
    opened: OpenCapabilities,
    progress: Progress,
) -> str | None:
    """The finish reason; None if there is no prompt, without which no model is asked."""
    workspace, emit = opening.workspace, opening.emit
    request = without_own_tools(request, opened.toolbox)
    check_client_tools(request, opened.toolbox)
    deployment_id = application.manifest.orchestrator.deployment.id
    info = await workspace.facts(deployment_id)
    wanted, issues = model_parameters(
        application.parameters, info, request.response_format, request.parameters
    )
    if issues:  # they show what the deployment can do: only to somebody who may see it
        await workspace.deployment(deployment_id)
    prompt = await find_prompt(application, request, given, opening)
    missing = (prompt,) if isinstance(prompt, InitializationIssue) else ()
    endless = limit_issues(application.manifest.orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS)
    show_issues((*opened.contribution.issues, *issues, *endless, *missing), emit)
    log_initialized(application, opened)
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
    """Run the completions one after the other; their failures do not change the answer."""
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
    opened: OpenCapabilities,
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
        recoveries=(*opened.contribution.recoveries, without_thoughts),
        max_iterations=limit_of(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS),
        show_stages=orchestrator.propagate_stages,
        # Asked twice, an application would run its tools twice.
        retries=RetryPolicy(ONCE) if info.is_application else RetryPolicy(),
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
    opened: OpenCapabilities,
) -> Sequence[Message]:
    """The conversation with the system prompt in front, after the history steps in their order."""
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
    """The state that the next request has to bring back."""
    conversation: Sequence[Message] = progress.conversation
    for tidy in tidying:
        conversation = tidy(conversation)
    state: dict[str, Any] = {HISTORY: new_tool_messages(conversation, given)}
    for message in progress.added:
        if not message.tool_calls and message.model_state:
            state[MODEL_STATE] = message.model_state
    return state
