"""A tool as a value: a specification for the model, and a coroutine function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from apps.agent.context.token_estimates import text_tokens
from apps.agent.events import Emit, ModelUsage
from apps.agent.ledger import NO_LEDGER, InteractionKind, InteractionRequest, Ledger
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.stages import SILENT, Announcement, EarlyStage, Stage, silent


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema of type object.

    `strict` asks the service to follow the schema exactly; None leaves that to the service.
    `takes_text` marks a client's tool whose calls contain text instead of JSON (`TEXT_INPUT`).
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None
    takes_text: bool = False

    @cached_property
    def written(self) -> msgspec.Raw:
        """Return the entry in a request's `tools`, encoded once for all requests."""
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
        """Return the estimated tokens of the tool in a request."""
        return text_tokens(bytes(self.written).decode())


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call.

    `content` is sent to the model, `propagated` and `annotations` are added to the answer, and
    `pictures` to its text. `failure` is set if the content describes a failed call. With
    `ends_turn`, the run ends after the other calls of the same answer, without calling the model
    again; the answer then ends with the text `answer`. `rounds` counts the model calls inside the
    tool, which count towards the run's limit.
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
    """A result that is not available yet. The call is made again once a user has answered one of
    the `interactions`.

    `interactions` is empty if a run inside the call is waiting. `content` is for the model of a run
    that cannot wait.
    """

    content: str = (
        "Error: this tool has to ask the user, which is impossible in this conversation. "
        "Continue without it, and mention what you left out."
    )
    interactions: tuple[InteractionRequest, ...] = ()


ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""Changes a tool's result before the model gets it."""
Defer = Callable[[Stage, AbstractContextManager[object]], object]
"""Keeps a stage open and leaves its block later. An exception that ends the run closes the stage as
failed.
"""
Spend = Callable[[Iterable[ModelUsage]], object]
"""Receives the usage of an interrupted answer, which no result can contain."""


def ignore_usage(usage: Iterable[ModelUsage]) -> None:
    """Ignore the usage. This is the `Spend` of a call whose usage is not counted."""


class Invocation(msgspec.Struct, frozen=True):
    """A call as a tool receives it: its parsed arguments, and the context of the call."""

    id: str
    arguments: Mapping[str, Any] = {}
    messages: Sequence[ModelMessage] = ()
    emit: Emit = silent
    stage: Stage = SILENT
    early: EarlyStage | None = None
    """The call's stage if it is already open, else None."""
    defer: Defer | None = None
    """Keeps a stage open until the model has answered the call's result."""
    spend: Spend = ignore_usage
    ledger: Ledger = NO_LEDGER
    key: str = ""
    """The key of the call's step in the ledger."""
    answers: Mapping[InteractionKind, InteractionRequest] = {}
    """Users' answers to the interactions of an earlier `Pending`."""


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""Executes a call: it writes progress to the stage, and raises `ToolError` to report a failure to
the model.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a run can call.

    `toolset` is the path of its toolset in the manifest, or "" if there is none. `constants` are
    arguments of every call, hidden from the model. `is_repeatable` means that two calls have the
    effect of one. `is_private` means that only the user may see arguments and results; logs and
    operators see only their lengths. `is_read_only` means that a call changes nothing. `full_name`
    is the name on its server and in the manifest, after the toolset's name, or "" if models see the
    same name.
    """

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    announcement: Announcement | None = None
    """Opens the stage while the arguments arrive. If None, the call opens it."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_repeatable: bool = False
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run by name, which may move between groups during the run.

    The model sees the `listed` tools and can also call `unlisted` ones. Only the platform can call
    the `hidden` ones.
    """

    listed: dict[str, Tool] = field(default_factory=dict)
    unlisted: dict[str, Tool] = field(default_factory=dict)
    hidden: dict[str, Tool] = field(default_factory=dict)

    @property
    def private(self) -> frozenset[str]:
        """Return the names of private tools."""
        groups = (self.listed, self.unlisted, self.hidden)
        return frozenset(n for group in groups for n, tool in group.items() if tool.is_private)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.listed.keys() | self.unlisted.keys() | self.hidden.keys())
