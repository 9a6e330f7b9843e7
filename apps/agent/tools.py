"""Defines tools: the specification for the model, the function that executes a call, and the call's
input and result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from apps.agent.context.token_estimates import text_tokens
from apps.agent.events import Emit, ModelUsage
from apps.agent.ledger import NO_LEDGER, InteractionKind, InteractionRequest, Ledger
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.stages import SILENT, Announcement, Stage, silent

if TYPE_CHECKING:
    from apps.agent.turn_stages import EarlyStage


@dataclass(frozen=True)
class ToolSpec:
    """The specification of a tool that the model receives."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """The JSON Schema of the arguments, of type object."""
    strict: bool | None = None
    """If True, arguments must follow the schema exactly. None means the service's default."""
    takes_text: bool = False
    """True for a client's tool that takes plain text."""

    @cached_property
    def written(self) -> msgspec.Raw:
        """Return the tool's JSON in a request. It is encoded once for all requests."""
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
        """Return the estimated number of tokens that the tool adds to a request."""
        return text_tokens(bytes(self.written).decode())


@dataclass(frozen=True, slots=True)
class ToolResult:
    content: str
    """The text of the result for the model."""
    content_type: str = "text/markdown"
    attachments: tuple[Attachment, ...] = ()
    propagated: tuple[Attachment, ...] = ()
    """Attachments that the result adds to the answer."""
    pictures: tuple[Attachment, ...] = ()
    """Images that the result adds to the answer's text."""
    annotations: tuple[Mapping[str, Any], ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    failure: Exception | None = field(default=None, compare=False, repr=False)
    """The failure that the content describes, or None."""
    ends_turn: bool = False
    """True if the result ends the run without another model call."""
    answer: str = ""
    """The text that is appended to the answer if `ends_turn` is True."""
    rounds: int = 0
    """The number of model calls that the tool made."""


@dataclass(frozen=True, slots=True)
class PendingResult(ToolResult):
    """The placeholder for a missing result. The call is made again after a user has answered the
    `interactions`.
    """

    content: str = (
        "Error: this tool has to ask the user, which is impossible in this conversation. "
        "Continue without it, and mention what you left out."
    )
    """The error for the model, if the run cannot wait."""
    interactions: tuple[InteractionRequest, ...] = ()
    """The questions to the user, or () if a nested run is waiting."""


ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A function that changes a tool's result before the model receives it."""
Defer = Callable[[Stage, AbstractContextManager[object]], object]
"""A function that keeps a stage open and closes it later, as failed if an exception ends the run.
"""
Spend = Callable[[Iterable[ModelUsage]], object]
"""A function that receives the usage of an interrupted answer, which has no result."""


def ignore_usage(usage: Iterable[ModelUsage]) -> None:
    """Ignore the usage. This is the `Spend` function of a call whose usage is not counted."""


class Invocation(msgspec.Struct, frozen=True):
    """The input of a tool call: the parsed arguments and the context of the call."""

    id: str
    arguments: Mapping[str, Any] = {}
    messages: Sequence[ModelMessage] = ()
    emit: Emit = silent
    stage: Stage = SILENT
    early: EarlyStage | None = None
    """The call's stage, if it opened before the call was complete, otherwise None."""
    defer: Defer | None = None
    """The function that keeps a stage open until the model has answered the call's result, or
    None.
    """
    spend: Spend = ignore_usage
    ledger: Ledger = NO_LEDGER
    key: str = ""
    """The key of the call's step in the ledger."""
    answers: Mapping[InteractionKind, InteractionRequest] = {}
    """The questions that this call has asked before, with the user's answers, by kind."""


CallTool = Callable[[Invocation], Coroutine[Any, Any, ToolResult]]
"""A function that executes a call, and writes to its stage. It raises `ToolError` to report a
failure to the model.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a run can call."""

    spec: ToolSpec
    call: CallTool
    toolset: str = ""
    """The path of the tool's toolset in the manifest, or ""."""
    announcement: Announcement | None = None
    """Options for a stage that opens while the arguments are arriving. If None, the stage opens
    when the call is executed.
    """
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are added to each call and that the model does not see."""
    is_repeatable: bool = False
    """True if repeating a call has no further effect."""
    is_private: bool = False
    """True if only the user can see the arguments and results."""
    is_read_only: bool = False
    """True if a call changes nothing."""
    full_name: str = ""
    """The name in the manifest, with its toolset, or "" if it equals the name that models see."""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run by name, in three groups. Tools can move between the groups during the
    run.
    """

    listed: dict[str, Tool] = field(default_factory=dict)
    """Tools that model requests list."""
    unlisted: dict[str, Tool] = field(default_factory=dict)
    """Tools that the model can call even though model requests do not list them."""
    hidden: dict[str, Tool] = field(default_factory=dict)
    """Tools that only the platform can call."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.listed.keys() | self.unlisted.keys() | self.hidden.keys())
