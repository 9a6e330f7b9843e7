"""A tool is a value: what the model reads, and a coroutine function for us."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from apps.agent.early import Announcement, EarlyStage
from apps.agent.events import Emit, ModelUsage
from apps.agent.messages import Attachment, Message
from apps.agent.stages import SILENT, Stage, silent


@dataclass(frozen=True)
class ToolSpec:
    """What the model is told; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @cached_property
    def written(self) -> msgspec.Raw:
        """The entry of a request's `tools`, encoded once for all the requests that carry it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return msgspec.Raw(msgspec.json.encode({"type": "function", "function": function}))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought: `content` goes to the model, `propagated` attachments to the answer."""

    content: str
    content_type: str = "text/markdown"
    attachments: tuple[Attachment, ...] = ()
    propagated: tuple[Attachment, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()


Defer = Callable[[AbstractContextManager[object]], object]
"""Leaves the block later, as failed if an exception ends the run before."""


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


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""Do the work; write progress to the stage; raise `ToolError` to tell the model no."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`toolset` is the place in the manifest that it comes from, "" if it comes from none."""

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    announcement: Announcement | None = None
    """How its stage opens while its arguments arrive; None when it does not."""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run, by name. Tools may move between the two while the run goes on.

    The model is told of those that are `listed`; `unlisted` ones answer if they are called.
    """

    listed: dict[str, Tool] = field(default_factory=dict)
    unlisted: dict[str, Tool] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """Every name that is taken."""
        return frozenset(self.listed.keys() | self.unlisted.keys())
