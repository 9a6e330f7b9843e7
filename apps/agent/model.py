"""The interface of a model, the deltas that a model streams, and its complete answer.

Deltas are plain, vendor-neutral values; an adapter creates them from its service's chunks. Deltas
that may arrive for every token are msgspec structs, because creating a frozen dataclass takes five
times as long.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from apps.agent.events import Event, ModelUsage, Usage
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.meter import NO_METER, Meter, PromptSpan
from apps.agent.taint import Taint
from apps.agent.tools import ToolSpec


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the model's reasoning. `name` is the service's field name for it, as in
    `Thoughts`.
    """

    text: str
    name: str


class ThoughtPart(msgspec.Struct, frozen=True, gc=False):
    """A part of the answer's `Thoughts`, in the format that the service expects in later requests.
    It is not shown to users.

    If an answer has such parts, they are stored in place of the text of its `ReasoningDelta`s.
    """

    name: str
    text: str


class UntrustedRead(msgspec.Struct, frozen=True, gc=False):
    """Reports that the model's service has read untrusted content for this answer, for example with
    its own tool.

    `source` describes the content in words for users, as in `Taint`.
    """

    source: str


class Payer(msgspec.Struct, frozen=True, gc=False):
    """Reports, before the answer, whether the service was called with the user's or the
    installation's key.
    """

    is_person: bool


UNNUMBERED = -1
"""The `index` of a delta without a number. Such a delta continues the newest call."""


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of a tool call. `index` distinguishes the calls of an answer if they have no distinct
    IDs.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class StagePart(msgspec.Struct, frozen=True, gc=False):
    """A piece of a stage that the model itself reports, such as "Thinking" or a step of an
    application.

    `failed` is None while the stage is open.
    """

    index: int
    name: str = ""
    content: str = ""
    failed: bool | None = None
    attachments: tuple[Attachment, ...] = ()
    parent_index: int | None = None


class Finish(msgspec.Struct, frozen=True, gc=False):
    """Ends the answer. Only its `Usage` may still follow."""

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
"""A piece of an answer: text, a refusal, an attachment, an annotation or state. A nested
application also sends its other events.
"""


class ModelRequest(msgspec.Struct, frozen=True):
    """A request to a model.

    `parameters` are top-level fields of the completion request (`temperature`, `tool_choice`,
    `response_format`, …). `static_tools` are added to the tool list unchanged; `lists_static` means
    that the list contains all static tools of the deployment. `ledger` and `taint` are for an
    application used as the model: its steps, and the untrusted content that the calling run has
    read. `marks_cache` means that the service caches the beginning of a request up to each mark.
    `meter` receives the report of the call. `chosen` contains the names of the parameters that were
    set explicitly and apply to every deployment; other parameters may be defaults of this
    deployment. `prompt` lists the parts of the system prompt. `private` contains the names of the
    tools whose calls only the user may see. `purpose` is the reason for a call that does not
    produce an answer, such as `title`.
    """

    messages: Sequence[ModelMessage]
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
        """Call the model, and yield the deltas of each network read in one batch.

        Closing the generator ends the upstream request. Raises `ModelFailed`.
        """
        ...


@runtime_checkable
class WritingModel(Model, Protocol):
    """A model that can show the request that it would send."""

    def write(self, request: ModelRequest) -> bytes:
        """Return the JSON that `stream` would send. Raises `BadRequest`."""
        ...


class NestedRun:
    """The base class of models whose answers are nested runs. The meter receives the calls inside
    such a run, but not the run itself.
    """


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's complete answer. `usage` is empty if the `deployment` that answered reported
    none.
    """

    message: ModelMessage
    finish_reason: str
    usage: tuple[ModelUsage, ...]
    annotations: tuple[Mapping[str, Any], ...] = ()
    deployment: str = field(default="", compare=False)


def usage_by_model(usage: Usage | None, deployment: str) -> tuple[ModelUsage, ...]:
    """Return the usage of an answer by model, or () if there is none. An entry without a name gets
    the name of the deployment.
    """
    if usage is None:
        return ()
    if usage.per_model:
        found = usage.per_model
        return tuple(one if one.model else replace(one, model=deployment) for one in found)
    counts = (usage.input, usage.output, usage.cached, usage.created, usage.reasoning)
    return (ModelUsage(deployment, *counts),)
