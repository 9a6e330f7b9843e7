"""Defines the interface of a model: its request, the deltas that it streams, and its complete
answer.

An adapter creates the deltas from its service's chunks. Frequent deltas are structs, because
creating a frozen dataclass takes five times as long.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec

from apps.agent.events import Event, ModelUsage, Usage
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.meter import NO_METER, Meter, PromptSpan
from apps.agent.taint import Taint
from apps.agent.tools import ToolSpec


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """A chunk of the model's reasoning."""

    text: str
    name: str
    """The field of the service's response that contained the text."""


class ThoughtPart(msgspec.Struct, frozen=True, gc=False):
    """Part of the reasoning in the service's own format, which users do not see. Such parts are
    stored instead of the plain reasoning.
    """

    name: str
    text: str


class UntrustedRead(msgspec.Struct, frozen=True, gc=False):
    """Reports that the model's service has read untrusted content, for example with its own web
    search. `source` describes the content to users.
    """

    source: str


class Payer(msgspec.Struct, frozen=True, gc=False):
    """Reports, before an answer, whose API key is used: the user's own (`is_person`) or the
    installation's.
    """

    is_person: bool


UNNUMBERED = -1
"""The `index` of a delta without a number, which continues the newest call."""


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A chunk of a tool call. `index` identifies the call, because IDs can be missing or repeat."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class StagePart(msgspec.Struct, frozen=True, gc=False):
    """A chunk of a stage that the model reports, such as "Thinking" or a step of an application.
    `failed` is None while the stage is open.
    """

    index: int
    name: str = ""
    content: str = ""
    failed: bool | None = None
    attachments: tuple[Attachment, ...] = ()
    parent_index: int | None = None


class Finish(msgspec.Struct, frozen=True, gc=False):
    """Ends the answer. Only the answer's `Usage` can follow."""

    reason: str


Delta = (
    Event
    | ReasoningDelta
    | ThoughtPart
    | UntrustedRead
    | Payer
    | ToolCallDelta
    | StagePart
    | Usage
    | Finish
)
"""A chunk of a streamed answer. If the model is an application, the deltas include the events of
its run.
"""


class ModelRequest(msgspec.Struct, frozen=True):
    messages: Sequence[ModelMessage]
    tools: Sequence[ToolSpec] = ()
    parameters: Mapping[str, Any] = {}
    """Fields of the completion request, such as `temperature`."""
    static_tools: Sequence[Mapping[str, Any]] = ()
    """Tools that the model's service runs. They are sent unchanged."""
    ledger: Ledger = NO_LEDGER
    taint: Taint | None = None
    """`ledger` and `taint` are used only if the model is an application."""
    marks_cache: bool = False
    """True if the service caches the request up to each cache mark in it."""
    meter: Meter = NO_METER
    chosen: Set[str] = frozenset()
    """The parameters that were set explicitly. They apply to every deployment."""
    lists_static: bool = False
    """True if `static_tools` contains all static tools of the deployment."""
    prompt: Sequence[PromptSpan] = ()
    """The parts of the system prompt."""
    private: Set[str] = frozenset()
    """The tools whose calls only the user may see."""
    purpose: str = ""
    """The purpose of a call that produces no answer, such as `title`, or ""."""


class Model(Protocol):
    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield the deltas from each network read as one batch.

        Closing the generator cancels the request. Raises `ModelFailed`.
        """
        ...


@runtime_checkable
class WritingModel(Model, Protocol):
    """A model that can also return the request that it would send."""

    def write(self, request: ModelRequest) -> bytes:
        """Return the JSON that `stream` would send. Raises `BadRequest`."""
        ...


class NestedRun:
    """The base class of models that are applications. Each answer of such a model is a nested run.
    The meter counts the calls inside a nested run, but not the run itself.
    """


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's complete answer. `usage` is empty if the `deployment` reported none."""

    message: ModelMessage
    finish_reason: str
    usage: tuple[ModelUsage, ...]
    annotations: tuple[Mapping[str, Any], ...] = ()
    deployment: str = field(default="", compare=False)
