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
    """The tools of a run by name.

    The request lists the `listed` tools, which capabilities can extend during the run, and the
    `external` tools, which the client executes. The model can also call `unlisted` tools, but no
    `hidden` ones. `static` tools are executed by the model's service. Arguments and results of
    `private` tools are not logged.
    """

    listed: Mapping[str, Tool] = {}
    unlisted: Mapping[str, Tool] = {}
    hidden: Mapping[str, Tool] = {}
    external: Mapping[str, ToolSpec] = {}
    static: Sequence[Mapping[str, Any]] = ()
    private: Set[str] = frozenset()

    @property
    def callable(self) -> Set[str]:
        """Return the names of the tools that the model may call."""
        return self.listed.keys() | self.unlisted.keys() | self.external.keys()

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
    """The options of a request, apart from messages and tools.

    `first_parameters` apply to the first model call only, because a repeated `tool_choice` would
    never end. With `requires_external`, they apply until the model calls an external tool, and only
    external tools are offered after the first call. `chosen` are the names of the parameters that
    the manifest or the client set. `prompt` lists the parts of the system prompt.
    """

    parameters: Mapping[str, Any] = {}
    first_parameters: Mapping[str, Any] = {}
    requires_external: bool = False
    chosen: Set[str] = frozenset()
    marks_cache: bool = False
    prompt: Sequence[PromptSpan] = ()


class LoopSteps(msgspec.Struct, frozen=True):
    """The functions that change messages.

    `view` steps run before each model call, and `results` steps after each tool call. If the model
    fails, `recoveries` are tried in order, once per run. `fitter` shortens conversations that
    exceed the context window. If it is None, everything is sent.
    """

    view: Sequence[ViewStep] = ()
    results: Sequence[ResultStep] = ()
    recoveries: Sequence[Recovery] = ()
    fitter: ContextFitter | None = None


class LoopLimits(msgspec.Struct, frozen=True):
    """The limits of a run.

    `iterations` is the maximum number of model calls. `batch_seconds` is the timeout for all calls
    of one answer. The run ends after `failed_turns` consecutive turns in which every call failed; 0
    means never. If the model's text matches one of the `dead_ends`, its calls are dropped and the
    run ends.
    """

    iterations: int = 15
    retries: RetryPolicy = msgspec.field(default_factory=RetryPolicy)
    batch_seconds: float | None = None
    failed_turns: int = 0
    dead_ends: DeadEnds = NO_DEAD_ENDS


class LoopDisplay(msgspec.Struct, frozen=True):
    """Decides what the answer shows: the stages that the model reports, and the log probabilities
    of its tokens.
    """

    stages: bool = True
    logprobs: bool = False
