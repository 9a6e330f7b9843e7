"""A tool is a value: a specification for the model, and a coroutine function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from apps.agent.early_stages import EarlyStage
from apps.agent.estimate import text_tokens
from apps.agent.events import Emit, ModelUsage
from apps.agent.ledger import NO_LEDGER, Interaction, InteractionKind, Ledger
from apps.agent.messages import Attachment, Message, ToolCall
from apps.agent.stages import SILENT, Announcement, Stage, silent


@dataclass(frozen=True)
class ToolSpec:
    """The tool as the model sees it; `parameters` is a JSON Schema of type object.

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

    @cached_property
    def tokens(self) -> int:
        """The estimate of what it takes of a request."""
        return text_tokens(bytes(self.written).decode())


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: `content` goes to the model, `propagated` and `annotations` into the
    answer, `pictures` into its text. `failure` is set where the content describes a failed call.

    `ends_turn`: once the other calls of the round have ended, the run does, and no model is asked
    again. `answer` is then the text that the answer ends with, "" for none. `rounds` are the calls of
    models inside of it that count for the run.
    """

    content: str
    content_type: str = "text/markdown"
    attachments: tuple[Attachment, ...] = ()
    propagated: tuple[Attachment, ...] = ()
    pictures: tuple[Attachment, ...] = ()
    annotations: tuple[Mapping[str, Any], ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    failure: Exception | None = field(default=None, compare=False, repr=False)
    ends_turn: bool = False
    answer: str = ""
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Pending(ToolResult):
    """No result yet: the call is made again once somebody has answered one of the `interactions`.

    There are none if a run inside of the call waits. `content` is for the model of a run that
    cannot wait.
    """

    content: str = (
        "Error: this tool has to ask a person, and nobody can be asked in this conversation. "
        "Go on without it, and say what was left out."
    )
    interactions: tuple[Interaction, ...] = ()


ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A tool's result on its way to the model."""
Defer = Callable[[Stage, AbstractContextManager[object]], object]
"""Keeps a stage open, to leave its block later; as failed if an exception ends the run."""
Spend = Callable[[Iterable[ModelUsage]], object]
"""Takes the usage of an answer that broke off, which no result can carry."""


def ignore_usage(usage: Iterable[ModelUsage]) -> None:
    """The `Spend` of a call whose cost nobody asks for."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call on its way to a tool: its parsed arguments and its surroundings."""

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
    ledger: Ledger = NO_LEDGER
    key: str = ""
    """Of the step that the call is in the ledger."""
    answers: Mapping[InteractionKind, Interaction] = field(default_factory=dict)
    """What people answered to the interactions of an earlier `Pending`."""


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""Do the work; write progress to the stage; raise `ToolError` to tell the model no."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`toolset` is its place in the manifest, "" for none. `constants` are arguments of every call
    that the model does not see. `is_repeatable`: two calls have the effect of one. `is_private`:
    arguments and results are for the person alone; logs and operators see how long they are.
    `is_read_only`: a call changes nothing anywhere. `full_name` is how its server and the manifest
    spell it, with the toolset's name in front, "" if models see the same name.
    """

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    announcement: Announcement | None = None
    """Opens its stage while the arguments arrive; None: the stage opens with the call."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_repeatable: bool = False
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run, by name. Tools may move from one group to another during the run.

    The model sees the `listed` ones and can also call the `unlisted`; only the platform calls the
    `hidden` ones.
    """

    listed: dict[str, Tool] = field(default_factory=dict)
    unlisted: dict[str, Tool] = field(default_factory=dict)
    hidden: dict[str, Tool] = field(default_factory=dict)

    @property
    def private(self) -> frozenset[str]:
        """The names of private tools."""
        groups = (self.listed, self.unlisted, self.hidden)
        return frozenset(n for group in groups for n, tool in group.items() if tool.is_private)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.listed.keys() | self.unlisted.keys() | self.hidden.keys())
