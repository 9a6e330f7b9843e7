"""A tool is a value: what the model reads, and a coroutine function for us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from apps.agent.events import Emit, ModelUsage
from apps.agent.messages import Attachment, Message, ToolCall
from apps.agent.stages import SILENT, Announcement, EarlyStage, Stage, silent


@dataclass(frozen=True)
class ToolSpec:
    """What the model is told; `parameters` is a JSON Schema of type object.

    `strict` asks the service to keep to the schema; None leaves that to the service.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None

    @cached_property
    def written(self) -> msgspec.Raw:
        """The entry of a request's `tools`, encoded once for all the requests that carry it."""
        function: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if self.strict is not None:
            function["strict"] = self.strict
        return msgspec.Raw(msgspec.json.encode({"type": "function", "function": function}))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought: `content` goes to the model.

    The attachments that are `propagated`, and the `annotations`, go to the answer.
    `failure` is what went wrong where the content tells of a call that failed.
    """

    content: str
    content_type: str = "text/markdown"
    attachments: tuple[Attachment, ...] = ()
    propagated: tuple[Attachment, ...] = ()
    annotations: tuple[Mapping[str, Any], ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    failure: Exception | None = field(default=None, compare=False, repr=False)


ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A tool's result on its way to the model."""
Defer = Callable[[Stage, AbstractContextManager[object]], object]
"""Leaves the block of a stage later, as failed if an exception ends the run before."""
Spend = Callable[[Iterable[ModelUsage]], object]
"""Takes what an answer cost that broke off, and that no result can tell."""


def ignore_usage(usage: Iterable[ModelUsage]) -> None:
    """The `Spend` of a call whose cost nobody asks for."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call on its way to a tool: parsed arguments, and what the tool may need beside them."""

    id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    messages: Sequence[Message] = ()
    emit: Emit = silent
    stage: Stage = SILENT
    early: EarlyStage | None = None
    """The stage of the call, if it is open already."""
    defer: Defer | None = None
    """Keeps a stage open until the model has answered the result of the call."""
    spend: Spend = ignore_usage


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""Do the work; write progress to the stage; raise `ToolError` to tell the model no."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`toolset` is the place in the manifest that it comes from, "" if it comes from none.

    `constants` are arguments that every call has, of which the model is not told.
    """

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    announcement: Announcement | None = None
    """How its stage opens while its arguments arrive; None when it does not."""
    constants: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Toolbox:
    """The tools of one run, by name. Tools may move between the two while the run goes on.

    The model is told of those that are `listed`; `unlisted` ones answer if they are called, and
    `hidden` ones are for the platform alone.
    """

    listed: dict[str, Tool] = field(default_factory=dict)
    unlisted: dict[str, Tool] = field(default_factory=dict)
    hidden: dict[str, Tool] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """Every name that is taken."""
        return frozenset(self.listed.keys() | self.unlisted.keys() | self.hidden.keys())
