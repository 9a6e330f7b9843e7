"""Defines the options of the agent loop: tools, requests, steps, limits and display."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from typing import Any

import msgspec

from apps.agent.answers.replies import RetryPolicy
from apps.agent.calls import argument_problem, refuse_call, static_names
from apps.agent.context.fitter import ContextFitter
from apps.agent.ended_turns import NO_DEAD_ENDS, DeadEnds
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.meter import PromptSpan
from apps.agent.recovery import Recovery
from apps.agent.stages import Announcement
from apps.agent.tools import ResultStep, Tool, ToolResult, ToolSpec

ViewStep = Callable[[Sequence[ModelMessage]], Awaitable[Sequence[ModelMessage]]]
"""A function that returns the messages for a model call, given the conversation. The conversation
itself does not change.
"""


class LoopTools(msgspec.Struct, frozen=True):
    """The tools of a run by name."""

    listed: Mapping[str, Tool] = {}
    """Tools that model requests list. Capabilities can add tools during the run."""
    unlisted: Mapping[str, Tool] = {}
    """Tools that the model can call even though model requests do not list them."""
    hidden: Mapping[str, Tool] = {}
    """Tools that only the platform can call."""
    external: Mapping[str, ToolSpec] = {}
    """Tools that the client executes."""
    static: Sequence[Mapping[str, Any]] = ()
    """Tools that the model's service executes."""
    private: Set[str] = frozenset()
    """Tools whose arguments and results are not logged."""

    @property
    def static_names(self) -> frozenset[str]:
        return static_names(self.static)

    def find(self, name: str) -> Tool | None:
        return self.listed.get(name) or self.unlisted.get(name)

    def announcement(self, name: str) -> Announcement | None:
        tool = None if name in self.external else self.find(name)
        return tool.announcement if tool is not None else None

    @property
    def text_tools(self) -> frozenset[str]:
        """Return the names of the client's tools that take plain text."""
        return frozenset(name for name, spec in self.external.items() if spec.takes_text)

    def is_for_client(self, call: ToolCall) -> bool:
        """Return True if the client must execute the call: it is for one of the client's tools, and
        its arguments can be parsed.
        """
        return call.name in self.external and not argument_problem(call)

    def refuse(self, call: ToolCall) -> ToolResult:
        """Return the error for a call that cannot be executed."""
        if call.name in self.external:
            return ToolResult(argument_problem(call))
        there = (*self.listed, *self.external)
        return refuse_call(call.name, self.hidden, self.static_names, there)


class RequestOptions(msgspec.Struct, frozen=True):
    """The options of a model request, except messages and tools."""

    parameters: Mapping[str, Any] = {}
    first_parameters: Mapping[str, Any] = {}
    """Parameters for the first model call only. If `tool_choice` were repeated, the run would never
    end.
    """
    requires_external: bool = False
    """If True, `first_parameters` apply until the model calls an external tool, and only external
    tools are offered after the first call.
    """
    chosen: Set[str] = frozenset()
    """The parameters that the manifest or the client has set."""
    marks_cache: bool = False
    prompt: Sequence[PromptSpan] = ()


class LoopSteps(msgspec.Struct, frozen=True):
    """The functions that change messages."""

    view: Sequence[ViewStep] = ()
    """Functions that run before each model call."""
    results: Sequence[ResultStep] = ()
    """Functions that run after each tool call."""
    recoveries: Sequence[Recovery] = ()
    """Functions that are tried in order, once per run, if the model fails."""
    fitter: ContextFitter | None = None
    """Shortens conversations that exceed the context window. If it is None, everything is sent."""


class LoopLimits(msgspec.Struct, frozen=True):
    iterations: int = 15
    """The maximum number of model calls."""
    retries: RetryPolicy = msgspec.field(default_factory=RetryPolicy)
    batch_seconds: float | None = None
    """The timeout for all tool calls of one answer."""
    failed_turns: int = 0
    """The run ends after this many consecutive turns in which every call failed. 0 means never."""
    dead_ends: DeadEnds = NO_DEAD_ENDS
    """If the model's text matches one of these expressions, its tool calls are dropped and the run
    ends.
    """


class LoopDisplay(msgspec.Struct, frozen=True):
    """Decides what the answer shows: the stages that the model reports, and the log probabilities
    of its tokens.
    """

    stages: bool = True
    logprobs: bool = False
