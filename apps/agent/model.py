"""What the core needs of a model, and the shape of what a model streams.

The deltas are msgspec structs because an adapter can then decode a network chunk straight into
them: one pass, no intermediate objects (the per-chunk cost of a run is mostly decoding).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from apps.agent.messages import Message
from apps.agent.tools import ToolSpec


class FunctionDelta(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class ToolCallDelta(msgspec.Struct, gc=False):
    index: int = 0
    id: str | None = None
    function: FunctionDelta | None = None


class StageDeltaPart(msgspec.Struct, gc=False):
    """A stage of the model itself ("thinking", a sub-application's step), piece by piece."""

    index: int | None = None
    name: str | None = None
    content: str | None = None
    status: str | None = None
    attachments: list[dict[str, Any]] | None = None
    parent_stage_index: int | None = None


class CustomContent(msgspec.Struct, gc=False):
    attachments: list[dict[str, Any]] | None = None
    stages: list[StageDeltaPart] | None = None
    state: dict[str, Any] | None = None


class Delta(msgspec.Struct, gc=False):
    content: str | None = None
    tool_calls: list[ToolCallDelta] | None = None
    custom_content: CustomContent | None = None
    custom_fields: Any = None
    """Of any shape; what is known of it are the `annotations` of a citing application."""
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    """What the model thinks, under the name that its service has for it: text, or it is not read."""


class TokenUsage(msgspec.Struct, gc=False):
    """The details are of any shape; `count_in` reads the numbers that are known of them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: Any = None
    completion_tokens_details: Any = None


class NamedUsage(msgspec.Struct, gc=False):
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: Any = None
    completion_tokens_details: Any = None


class Statistics(msgspec.Struct, gc=False):
    usage_per_model: list[NamedUsage] | None = None


class Choice(msgspec.Struct, gc=False):
    delta: Delta | None = None
    finish_reason: str | None = None
    logprobs: Any = None


class Chunk(msgspec.Struct, gc=False):
    """One event of a streamed completion; keys that nobody reads are skipped while decoding."""

    choices: list[Choice] = []
    usage: TokenUsage | None = None
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model.

    `parameters` are top-level fields of the completion request (`temperature`, `tool_choice`,
    `response_format`, …); `static_tools` are written into the tool list as they are.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    static_tools: Sequence[Mapping[str, Any]] = ()


class Model(Protocol):
    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Chunk], None]:
        """Ask the model; yield what each network read brought, as it comes.

        Closing the generator ends the upstream request. Raises `ModelFailed`.
        """
        ...
