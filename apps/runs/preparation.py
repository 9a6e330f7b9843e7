"""Everything that is known before the model of a run is first asked, and the loop made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from math import inf
from typing import Any

import msgspec
from django.conf import settings
from msgspec import structs

from apps.agent.backoff import Backoff
from apps.agent.context_fitter import ContextFitter
from apps.agent.context_window import Window
from apps.agent.dead_ends import NO_DEAD_ENDS, DeadEnds
from apps.agent.ledger import Ledger, Step
from apps.agent.loop import AgentLoop
from apps.agent.messages import Message, without_thoughts
from apps.agent.model import Model
from apps.agent.replies import BACKOFF, ONCE, RetryPolicy
from apps.agent.sent_request import PromptSpan
from apps.agent.step_results import RecordedOpening, read_opening, write
from apps.agent.summaries import SummaryWriter
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.limits import KEEP_RESULT
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import BadRequest, InitializationIssue
from apps.runs.capabilities import OpenCapabilities, show_issues
from apps.runs.layers import (
    PromptContext,
    PromptPart,
    compose,
    joined,
    prompt_layers,
    spans_of,
)
from apps.runs.model_limits import check_question, within_limits
from apps.runs.prompt import with_system, without_content_gaps
from apps.runs.records import log_initialized
from apps.runs.requests import (
    RunRequest,
    asked_parameters,
    check_client_tools,
    chosen_parameters,
    limit_issues,
    limit_of,
    model_parameters,
    without_own_tools,
)
from apps.runs.result_durations import result_durations
from apps.runs.saved_state import OPEN, record_state
from apps.workspace.port import DeploymentInfo
from apps.workspace.services.static_tools import listed_tools


class Preparation(msgspec.Struct, frozen=True):
    """A request to an application whose capabilities are open; `info` is about its model.

    `given` are the messages of the request with the tool calls of earlier answers.
    """

    application: ResolvedApplication
    request: RunRequest
    given: Sequence[Message]
    info: DeploymentInfo
    opening: Opening
    opened: OpenCapabilities

    @property
    def deployment_id(self) -> str:
        return self.application.deployment_id

    async def begin(self, ledger: Ledger) -> tuple[AgentLoop, Sequence[Message]] | None:
        """The loop, and what the model is first asked with; None if there is no prompt.

        A run that goes on asks with the messages that it began with.
        """
        step = ledger.step(OPEN)
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
            begun = RecordedOpening(tuple(messages), parameters, self.opening.saved, spans)
            ledger.record(Step(OPEN, "open", "done", result=write(begun)))
        return self.loop(model, parameters, ledger, spans), messages

    async def parameters_and_prompt(
        self,
    ) -> tuple[Mapping[str, Any], Sequence[PromptPart]] | None:
        """None without a prompt. Shows the issues that all parts of the application have by now."""
        orchestrator = self.application.manifest.orchestrator
        wanted, issues = await self.parameters()
        if issues:  # they show what the deployment can do: only to somebody who may see it
            await self.opening.workspace.deployment(self.deployment_id)
        prompt = await self.prompt()
        missing = (prompt,) if isinstance(prompt, InitializationIssue) else ()
        endless = limit_issues(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS)
        of_capabilities = self.opened.contribution.issues
        show_issues((*of_capabilities, *issues, *endless, *missing), self.opening.emit)
        log_initialized(self.application, self.opened)
        return None if isinstance(prompt, InitializationIssue) else (wanted, prompt)

    async def parameters(self) -> tuple[Mapping[str, Any], tuple[InitializationIssue, ...]]:
        """Raises `BadRequest` for a request that the model is known not to answer."""
        request, own = self.request, self.application.parameters
        wanted, issues = model_parameters(
            own, self.info, request.response_format, asked_parameters(request, self.info)
        )
        toolbox = self.opened.toolbox
        try:
            has_tools = bool(toolbox.listed or toolbox.unlisted or toolbox.hidden)
            check_question(self.given, self.info, has_tools=has_tools or bool(request.external))
            fitting, limits = within_limits(wanted, own, request, self.info)
        except BadRequest:
            # It tells what the deployment can do: only somebody who may see it.
            await self.opening.workspace.deployment(self.deployment_id)
            raise
        return fitting, (*issues, *limits)

    async def prompt(self) -> Sequence[PromptPart] | InitializationIssue:
        opening = self.opening
        context = PromptContext(
            self.application,
            self.request,
            opening.workspace,
            opening.caller,
            self.given,
            self.opened.instructions,
        )
        try:
            return await compose(prompt_layers(), context)
        except InitializationIssue as issue:
            return issue

    async def messages(self, parts: Sequence[PromptPart]) -> Sequence[Message]:
        """The conversation with the system prompt in front, after the history steps in their order."""
        contribution = self.opened.contribution
        messages: Sequence[Message] = with_system(self.given, joined(parts))
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
        fitter = self.fitter(model, ledger)
        loop = AgentLoop(
            model=model,
            name=self.deployment_id,
            tools=toolbox.listed,
            unlisted=toolbox.unlisted,
            hidden=toolbox.hidden,
            external=request.external,
            parameters=parameters,
            first_parameters=first,
            static_tools=listed_tools(self.info.defaults, self.info.id),
            view=contribution.view,
            results=contribution.results,
            recoveries=(*contribution.recoveries, fitter.recover, without_thoughts),
            max_iterations=limit_of(orchestrator, settings.DEFAULT_AGENT_MAX_ITERATIONS),
            show_stages=orchestrator.propagate_stages,
            # Asked twice, an application would run its tools twice.
            retries=RetryPolicy(
                ONCE if self.info.is_application else backoff(settings.MODEL_RETRY_SECONDS),
                # The first heartbeat opens a stream with the status 200.
                seconds=inf if ledger.is_kept else settings.HEARTBEAT_SECONDS * RETRY_SHARE,
            ),
            requires_external=request.requires_client_tool,
            shows_logprobs=bool(request.parameters.get("logprobs")),
            batch_seconds=settings.TOOL_BATCH_SECONDS or None,
            # DIAL's platform goes on until the limit of turns.
            failed_turns=0 if is_dial else settings.FAILED_TURNS_MOST,
            dead_ends=NO_DEAD_ENDS if is_dial else dead_ends(),
            ledger=ledger,
            taint=self.opening.taint,
            marks_cache=self.info.features.get("cache") is True,
            chosen=chosen_parameters(self.application.parameters, request),
            private=toolbox.private,
            fitter=fitter,
            prompt=prompt,
        )
        if not ledger.is_kept:
            return loop
        return structs.replace(
            loop,
            results=(*contribution.results, partial(record_state, ledger, self.opening.saved)),
            is_resumed=is_resumed,
        )

    def fitter(self, model: Model, ledger: Ledger) -> ContextFitter:
        request, wanted = self.request, self.application.manifest.orchestrator.context
        asked = request.max_prompt_tokens
        # A client that sets a limit is told which of its messages were discarded.
        strategy = "trim" if asked is not None and wanted.strategy != "refuse" else wanted.strategy
        writer = SummaryWriter(model, self.deployment_id, self.info.defaults, self.opening.meter)
        return ContextFitter(
            self.deployment_id,
            Window(self.info.context_window, strategy, wanted.at, asked),
            result_durations(wanted),
            # Asked for a summary, an application might do more than that.
            writer=None if self.info.is_application else writer,
            keep_result=self.opening.known.get(KEEP_RESULT),
            summaries=request.summaries,
            correction=request.correction,
            ledger=ledger,
        )


RETRY_SHARE = 2 / 3
"""Of the time until the first heartbeat, for attempts at the model of a run over the gateway."""


@cache
def backoff(initial_delay: float) -> Backoff:
    return replace(BACKOFF, initial_delay=initial_delay)


def dead_ends() -> DeadEnds:
    return DeadEnds(settings.DEAD_END_PHRASES if settings.DEAD_END_CHECK else ())


async def prepare(
    application: ResolvedApplication,
    request: RunRequest,
    given: Sequence[Message],
    opening: Opening,
    opened: OpenCapabilities,
) -> Preparation:
    """Raises `BadRequest` for tools of the client that the application cannot have."""
    request = without_own_tools(request, opened.toolbox)
    check_client_tools(request, opened.toolbox)
    info = await opening.workspace.facts(application.deployment_id)
    return Preparation(application, request, given, info, opening, opened)
