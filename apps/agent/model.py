"""The port of a model, and the deltas that a model streams.

Deltas are plain values without any vendor's names; an adapter makes them of its service's chunks.
They are msgspec structs where there may be one for each token: a frozen dataclass takes five times
as long to make.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from typing import Any, Protocol, runtime_checkable

import msgspec

from apps.agent.events import Event, Usage
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import Attachment, Message
from apps.agent.meter import NO_METER, Meter
from apps.agent.sent_request import PromptSpan
from apps.agent.taint import Taint
from apps.agent.tools import ToolSpec


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the model's reasoning; `name` is the service's for it, as in `Thoughts`."""

    text: str
    name: str


class ThoughtPart(msgspec.Struct, frozen=True, gc=False):
    """A part of the answer's `Thoughts` as the service wants it back; it is not shown.

    An answer that has any is kept with these alone, without the text of its `ReasoningDelta`s.
    """

    name: str
    text: str


class UntrustedRead(msgspec.Struct, frozen=True, gc=False):
    """The model's service has read something untrusted for this answer, as with a tool of its own.

    `source` is as in `Taint`.
    """

    source: str


class Payer(msgspec.Struct, frozen=True, gc=False):
    """Says before the answer whose key its service was asked with."""

    is_person: bool


UNNUMBERED = -1
"""The `index` of a piece that its service has not numbered: it continues the newest call."""


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of a call; `index` tells the calls of an answer apart, where their ids do not."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class StagePart(msgspec.Struct, frozen=True, gc=False):
    """A piece of a stage that the model itself shows ("thinking", a step of an application).

    `failed` is None while the stage goes on.
    """

    index: int
    name: str = ""
    content: str = ""
    failed: bool | None = None
    attachments: tuple[Attachment, ...] = ()
    parent_index: int | None = None


class Finish(msgspec.Struct, frozen=True, gc=False):
    """The end of the answer; only its `Usage` may still follow."""

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
"""A piece of an answer. Of the events, a model sends text, refusals, attachments, annotations and
its state; an application inside of another one sends all that it emits."""


class ModelRequest(msgspec.Struct, frozen=True):
    """One question to a model.

    `parameters` are top-level fields of the completion request (`temperature`, `tool_choice`,
    `response_format`, …); `static_tools` are written into the tool list as they are. `ledger` and
    `taint` are for an application that plays the model: its steps, and what the asking run has read.
    `marks_cache`: the service keeps the beginnings of requests up to marks, if it is sent any.
    `meter` hears of the call. `chosen` are the names of parameters that somebody wrote and that hold
    for every deployment; others may be its defaults. `lists_static`: the `static_tools` are all those
    of the deployment. `prompt` says what the system prompt was composed of, and `private` names the
    tools whose calls are for the person alone. `purpose` is what the call is for where it is for no
    answer, such as `title`.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    parameters: Mapping[str, Any] = {}
    static_tools: Sequence[Mapping[str, Any]] = ()
    ledger: Ledger = NO_LEDGER
    taint: Taint | None = None
    marks_cache: bool = False
    meter: Meter = NO_METER
    chosen: Set[str] = frozenset()
    lists_static: bool = False
    prompt: Sequence[PromptSpan] = ()
    private: Set[str] = frozenset()
    purpose: str = ""


class Model(Protocol):
    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Ask the model; yield what each network read brought, as it comes.

        Closing the generator ends the upstream request. Raises `ModelFailed`.
        """
        ...


@runtime_checkable
class WritingModel(Model, Protocol):
    """A model that tells what it sends."""

    def write(self, request: ModelRequest) -> bytes:
        """The JSON of the request, as `stream` sends it. Raises `BadRequest`."""
        ...


class NestedRun:
    """A base of models that are runs: the meter hears of the calls inside, not of the run."""
