"""Prepares a run: its parameters, tools, prompt and messages, and its agent loop."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import msgspec
from django.conf import settings

from apps.agent.answers.replies import BACKOFF, ONCE, RetryPolicy
from apps.agent.context.durations import Durations
from apps.agent.context.fitter import ContextFitter, ContextWindow
from apps.agent.context.summaries import ContextSummaries, SummaryRequests
from apps.agent.context.token_estimates import TokenScale
from apps.agent.ended_turns import NO_DEAD_ENDS, DeadEnds
from apps.agent.ledger import Ledger, Step
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import (
    LoopDisplay,
    LoopLimits,
    LoopSteps,
    LoopTools,
    RequestOptions,
)
from apps.agent.messages import ModelMessage, without_thoughts
from apps.agent.meter import PromptSpan
from apps.agent.model import Model
from apps.agent.records import log_event, private_names
from apps.agent.steps.results import RecordedOpening, read_opening, write_record
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.limits import KEEP_RESULT
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import BadRequest, InitializationIssue
from apps.runs.capabilities import OpenCapabilities, show_issues
from apps.runs.history import OPEN, record_state
from apps.runs.prompt import PromptContext, PromptPart, compose, join_parts, prompt_layers, spans_of
from apps.runs.requests import (
    RunRequest,
    check_client_tools,
    check_question,
    chosen_parameters,
    client_parameters,
    limit_issues,
    limit_of,
    model_parameters,
    tool_issues,
    within_limits,
    without_own_tools,
)
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)


class RunPreparation(msgspec.Struct, frozen=True):
    """A request to an application, and the application's open capabilities."""

    application: ResolvedApplication
    request: RunRequest
    conversation: Sequence[ModelMessage]
    """The request's messages, with the tool calls of earlier answers."""
    info: DeploymentInfo
    """The description of the model."""
    opening: Opening
    opened: OpenCapabilities

    @property
    def deployment_id(self) -> str:
        return self.application.deployment_id

    async def begin(self, ledger: Ledger) -> tuple[AgentLoop, Sequence[ModelMessage]] | None:
        """Return the agent loop and the messages of the first model call, or None if the prompt
        could not be built. A resumed run uses the recorded messages.
        """
        step = ledger.step(OPEN) if ledger.is_kept else None
        if step is not None:
            recorded = read_opening(step.result)
            model = await self.opening.workspace.model(self.deployment_id)
            spans = recorded.prompt
            loop = self.loop(model, recorded.parameters, ledger, spans, is_resumed=True)
            return loop, recorded.messages
        chosen = await self.parameters_and_prompt()
        if chosen is None:
            return None
        parameters, parts = chosen
        model = await self.opening.workspace.model(self.deployment_id)
        messages, spans = await self.messages(parts), spans_of(parts)
        if ledger.is_kept:
            begun = RecordedOpening(
                tuple(messages), parameters, self.opening.conversation.saved, spans
            )
            ledger.record(Step(OPEN, "open", "done", result=write_record(begun)))
        return self.loop(model, parameters, ledger, spans), messages

    async def parameters_and_prompt(
        self,
    ) -> tuple[Mapping[str, Any], Sequence[PromptPart]] | None:
        """Return the model parameters and the parts of the prompt, or None if the prompt could not
        be built. Also show all issues.
        """
        orchestrator = self.application.manifest.orchestrator
        parameters, issues = await self.parameters()
        if issues:  # These issues reveal what the deployment can do, so only callers who may use it see them.
            await self.opening.workspace.deployment(self.deployment_id)
        prompt = await self.prompt()
        missing = (prompt,) if isinstance(prompt, InitializationIssue) else ()
        endless = limit_issues(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS)
        of_capabilities = self.opened.contribution.issues
        show_issues((*of_capabilities, *issues, *endless, *missing), self.opening.emit)
        log_initialized(self.application, self.opened)
        return None if isinstance(prompt, InitializationIssue) else (parameters, prompt)

    async def parameters(self) -> tuple[Mapping[str, Any], tuple[InitializationIssue, ...]]:
        """Return the model parameters and the issues with them. Raises `BadRequest` if the model
        does not support the request.
        """
        request, own = self.request, self.application.parameters
        wanted, issues = model_parameters(
            own, self.info, request.response_format, client_parameters(request, self.info)
        )
        toolbox = self.opened.toolbox
        try:
            has_tools = bool(toolbox.listed or toolbox.unlisted or toolbox.hidden)
            check_question(
                self.conversation, self.info, has_tools=has_tools or bool(request.external)
            )
            fitting, limits = within_limits(wanted, own, request, self.info)
        except BadRequest:
            # The error reveals what the deployment supports, so only callers who may use it get it.
            await self.opening.workspace.deployment(self.deployment_id)
            raise
        count = len(toolbox.listed) + len(request.external) + len(self.info.static_tools)
        return fitting, (*issues, *limits, *tool_issues(count, self.info))

    async def prompt(self) -> Sequence[PromptPart] | InitializationIssue:
        opening = self.opening
        context = PromptContext(
            self.application,
            self.request,
            opening.workspace,
            opening.caller,
            self.conversation,
            self.opened.instructions,
        )
        try:
            return await compose(prompt_layers(), context)
        except InitializationIssue as issue:
            return issue

    async def messages(self, parts: Sequence[PromptPart]) -> Sequence[ModelMessage]:
        """Return the messages for the model: the system prompt, and the conversation after all
        history steps.
        """
        contribution = self.opened.contribution
        messages: Sequence[ModelMessage] = with_system(self.conversation, join_parts(parts))
        for step in contribution.history:
            messages = await step(messages)
        waiting = self.request.unanswered
        last = () if waiting is None else (waiting,)
        return [*map(without_content_gaps, messages), *last]

    def loop(
        self,
        model: Model,
        parameters: Mapping[str, Any],
        ledger: Ledger,
        prompt: Sequence[PromptSpan] = (),
        *,
        is_resumed: bool = False,
    ) -> AgentLoop:
        request, contribution = self.request, self.opened.contribution
        orchestrator, toolbox = self.application.manifest.orchestrator, self.opened.toolbox
        is_dial = self.opening.caller.kind == "dial"
        first = {"tool_choice": request.tool_choice} if request.tool_choice is not None else {}
        results, fitter = contribution.results, self.fitter(model, ledger)
        if ledger.is_kept:
            results = (*results, partial(record_state, ledger, self.opening.conversation.saved))
        return AgentLoop(
            model,
            self.deployment_id,
            LoopTools(
                toolbox.listed,
                toolbox.unlisted,
                toolbox.hidden,
                request.external,
                self.info.static_tools,
                private_names(toolbox),
            ),
            RequestOptions(
                parameters,
                first,
                request.requires_client_tool,
                chosen_parameters(self.application.parameters, request),
                marks_cache=self.info.features.get("cache") is True,
                prompt=prompt,
            ),
            LoopSteps(
                contribution.view,
                results,
                (*contribution.recoveries, fitter.recover, without_thoughts),
                fitter,
            ),
            LoopLimits(
                limit_of(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS),
                self.retries(ledger),
                settings.TOOL_BATCH_SECONDS or None,
                # DIAL's platform has only the iteration limit.
                failed_turns=0 if is_dial else FAILED_TURNS,
                dead_ends=NO_DEAD_ENDS if is_dial else dead_ends(),
            ),
            LoopDisplay(
                orchestrator.propagate_stages, logprobs=bool(request.parameters.get("logprobs"))
            ),
            ledger,
            is_resumed,
            self.opening.taint,
        )

    def retries(self, ledger: Ledger) -> RetryPolicy:
        return RetryPolicy(
            # A second call would execute the tools of a nested application twice.
            ONCE if self.info.is_application else BACKOFF,
            # The first heartbeat sends status 200, after which a failure has no status.
            seconds=inf if ledger.is_kept else settings.HEARTBEAT_SECONDS * RETRY_SHARE,
        )

    def fitter(self, model: Model, ledger: Ledger) -> ContextFitter:
        request, context = self.request, self.application.manifest.orchestrator.context
        requested = request.max_prompt_tokens
        # The client gets the positions of discarded messages, so they must be omitted, not
        # summarized.
        strategy = (
            "trim" if requested is not None and context.strategy != "refuse" else context.strategy
        )
        writer = SummaryRequests(model, self.deployment_id, self.info.defaults, self.opening.meter)
        return ContextFitter(
            self.deployment_id,
            ContextWindow(self.info.context_window, strategy, context.at, requested),
            Durations(context.durations),
            # An application could do more than summarize.
            ContextSummaries(None if self.info.is_application else writer, request.chat.summaries),
            self.opening.findings.get(KEEP_RESULT),
            TokenScale(request.chat.correction),
            ledger,
        )


RETRY_SHARE = 2 / 3
"""If the run is not stored, retries of a model call may take this fraction of the time until the
first heartbeat.
"""
FAILED_TURNS = 2
"""A run ends after this many consecutive turns in which all calls failed."""


def dead_ends() -> DeadEnds:
    return DeadEnds(settings.DEAD_END_PHRASES)


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


async def prepare_run(
    application: ResolvedApplication,
    request: RunRequest,
    conversation: Sequence[ModelMessage],
    opening: Opening,
    opened: OpenCapabilities,
) -> RunPreparation:
    """Prepare a run. Raises `BadRequest` if the application cannot accept the client's tools."""
    request = without_own_tools(request, opened.toolbox)
    check_client_tools(request, opened.toolbox)
    info = await opening.workspace.facts(application.deployment_id)
    return RunPreparation(application, request, conversation, info, opening, opened)


def with_system(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """Return the messages with `text` as their only system message, or without a system message if
    it is "".
    """
    rest = [message for message in messages if message.role != "system"]
    return [ModelMessage("system", text), *rest] if text else rest


def without_content_gaps(message: ModelMessage) -> ModelMessage:
    """Replace the content of an empty assistant message with a space, because models would reject
    empty content.
    """
    if message.role == "assistant" and not message.content and not message.tool_calls:
        return replace(message, content=" ")
    return message
