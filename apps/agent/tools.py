"""Defines a tool as a value: its specification for the model, and the coroutine function that
executes a call.
"""

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
    """The specification of a tool that the model receives. `parameters` is a JSON Schema of type
    object.

    With `strict`, the service must follow the schema exactly; None selects the service's default.
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

    `content` is sent to the model. `propagated` and `annotations` are added to the answer, and
    `pictures` are added to its text. `failure` is set if the content describes a failed call. With
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
    """A result that is not available yet. When a user has answered one of the `interactions`, the
    call is made again.

    If a run inside the call is waiting, `interactions` is empty. If the run cannot wait, the model
    gets `content`.
    """

    content: str = (
        "Error: this tool has to ask the user, which is impossible in this conversation. "
        "Continue without it, and mention what you left out."
    )
    interactions: tuple[InteractionRequest, ...] = ()


ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A function that changes a tool's result before the model gets it."""
Defer = Callable[[Stage, AbstractContextManager[object]], object]
"""A function that keeps a stage open and closes it later. If an exception ends the run, the stage
is closed as failed.
"""
Spend = Callable[[Iterable[ModelUsage]], object]
"""A function that receives the usage of an interrupted answer, which has no result."""


def ignore_usage(usage: Iterable[ModelUsage]) -> None:
    """Ignore the usage. Used as the `Spend` function of a call whose usage is not counted."""


class Invocation(msgspec.Struct, frozen=True):
    """The input of a tool call: its parsed arguments and its context."""

    id: str
    arguments: Mapping[str, Any] = {}
    messages: Sequence[ModelMessage] = ()
    emit: Emit = silent
    stage: Stage = SILENT
    early: EarlyStage | None = None
    """The call's stage if it is already open, otherwise None."""
    defer: Defer | None = None
    """Keeps a stage open until the model has answered the call's result."""
    spend: Spend = ignore_usage
    ledger: Ledger = NO_LEDGER
    key: str = ""
    """The key of the call's step in the ledger."""
    answers: Mapping[InteractionKind, InteractionRequest] = {}
    """Users' answers to the interactions that an earlier attempt of this call requested."""


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""A function that executes a call. It writes its progress to the stage, and raises `ToolError` to
report a failure to the model.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a run can call.

    `toolset` is the path of its toolset in the manifest, or "" if there is none. `constants` are
    arguments of every call, hidden from the model. `is_repeatable` means that two calls have the
    effect of one. `is_private` means that only the user may see arguments and results; logs and
    operators see only their lengths. `is_read_only` means that a call changes nothing. `full_name`
    is the name on its server and in the manifest, after the toolset's name. It is "" if the name
    for models is the same.
    """

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    announcement: Announcement | None = None
    """Opens the stage while the arguments arrive. If None, the stage opens when the call is
    executed.
    """
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_repeatable: bool = False
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run by name, which may move between groups during the run.

    The `listed` tools are offered to the model. The model can also call the `unlisted` tools. Only
    the platform can call the `hidden` tools.
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
