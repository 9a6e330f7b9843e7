"""One run: a resolved application, some messages, one answer.

This is the only module that knows the model, the capabilities and the loop all at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.accounts.caller import Caller
from apps.agent.events import Emit, Finished, StateSaved
from apps.agent.loop import AgentLoop, Progress
from apps.agent.messages import Message
from apps.agent.model import Model
from apps.agent.replies import MODEL_STATE
from apps.agent.retries import RetriedModel
from apps.agent.tools import ToolSpec
from apps.capabilities.registry import Opening
from apps.catalog.resolve import ResolvedApplication
from apps.errors import BadRequest
from apps.runs.history import HISTORY, expand, kept, newest_state, promote
from apps.runs.issues import report
from apps.runs.opening import Opened, open_capabilities
from apps.runs.parameters import overlaid
from apps.runs.prompt import (
    configured_prompt,
    inline_contexts,
    override,
    with_system,
    without_content_gaps,
)
from apps.runs.timings import show_timings
from apps.runs.usage import total
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked: the conversation, and what the client wants of this one answer.

    `external` are the client's own tools by name; `tool_choice` and `response_format` are passed
    to the model as they came.
    """

    messages: tuple[Message, ...]
    external: Mapping[str, ToolSpec] = field(default_factory=dict)
    tool_choice: Any = None
    response_format: Any = None


async def run(
    application: ResolvedApplication,
    request: RunRequest,
    workspace: Workspace,
    caller: Caller,
    emit: Emit,
) -> None:
    """Answer `request`, emitting everything there is to tell; `Finished` is the last event.

    The state is emitted however the run ends, a cancellation included. Raises `QuickAppError`.
    """
    started = time.monotonic()
    workspace = workspace.inside(application.slug)
    given = expand(request.messages)
    opening = Opening(workspace, caller, emit, newest_state(given))
    progress = Progress()
    outcome = "failed"
    try:
        async with open_capabilities(application, opening) as opened:
            check_client_tools(request, opened.toolbox.names)
            deployment_id = application.manifest.orchestrator.deployment.id
            info = await workspace.deployment(deployment_id)
            wanted, refused = overlaid(application.parameters, info, request.response_format)
            report((*opened.contribution.issues, *refused), emit)
            model = await workspace.model(deployment_id)
            loop = make_loop(application, request, model, wanted, opened)
            messages = await prepare_messages(application, given, workspace, opened)
            try:
                reason = await loop.run(messages, emit, progress)
            finally:
                emit(StateSaved({**opening.saved, **state_of(messages, given, progress)}))
        if settings.SHOW_EXECUTION_TIME_STAGE:
            show_timings(progress.timings, time.monotonic() - started, emit)
        emit(Finished(reason, total(progress.usage)))
        outcome = reason
    except asyncio.CancelledError:
        outcome = "cancelled"
        raise
    finally:
        logger.info(
            "Request completed: application=%s outcome=%s tool_calls=%d seconds=%.3f",
            application.slug,
            outcome,
            sum(len(message.tool_calls) for message in progress.added),
            time.monotonic() - started,
        )


def make_loop(
    application: ResolvedApplication,
    request: RunRequest,
    model: Model,
    parameters: Mapping[str, Any],
    opened: Opened,
) -> AgentLoop:
    orchestrator = application.manifest.orchestrator
    deployment_id = orchestrator.deployment.id
    first = {"tool_choice": request.tool_choice} if request.tool_choice is not None else {}
    return AgentLoop(
        model=RetriedModel(model, deployment_id),
        name=deployment_id,
        tools=opened.toolbox.listed,
        unlisted=opened.toolbox.unlisted,
        external=request.external,
        parameters=parameters,
        first_parameters=first,
        view=(promote, *opened.contribution.view),
        results=opened.contribution.results,
        max_iterations=application.max_iterations(settings.DEFAULT_AGENT_MAX_ITERATIONS),
        show_stages=orchestrator.propagate_stages,
    )


def check_client_tools(request: RunRequest, taken: Collection[str]) -> None:
    """Raises `BadRequest` when the client's wishes cannot be met."""
    clashes = sorted(request.external.keys() & set(taken))
    if clashes:
        names = ", ".join(f"'{name}'" for name in clashes)
        raise BadRequest(
            "Client tool name is taken",
            f"The application already has a tool named {names}; rename the tool in 'tools'.",
        )
    choice = request.tool_choice
    forced = choice == "required" or isinstance(choice, Mapping)
    if forced and not taken and not request.external:
        raise BadRequest(
            "tool_choice requires at least one tool to be configured",
            "Cannot enforce tool_choice: no tools are available. Configure at least one tool "
            "set or use tool_choice='auto'.",
        )


async def prepare_messages(
    application: ResolvedApplication,
    given: Sequence[Message],
    workspace: Workspace,
    opened: Opened,
) -> Sequence[Message]:
    """The conversation as it is kept: system prompt in front, history steps applied in order."""
    manifest = application.manifest
    prompt = override(given, allowed=settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE)
    prompt = prompt or await configured_prompt(manifest, workspace)
    instructions = opened.contribution.instructions
    parts = (prompt, *inline_contexts(manifest), *instructions)
    messages: Sequence[Message] = with_system(given, parts)
    for step in opened.contribution.history:
        messages = await step(messages)
    return [without_content_gaps(message) for message in messages]


def state_of(
    messages: Sequence[Message], given: Sequence[Message], progress: Progress
) -> dict[str, Any]:
    """What the next request has to bring back."""
    state: dict[str, Any] = {HISTORY: kept([*messages, *progress.added], given)}
    for message in progress.added:
        if not message.tool_calls and MODEL_STATE in message.state:
            state[MODEL_STATE] = message.state[MODEL_STATE]
    return state
