"""Declares the chunks of a streamed completion, including DIAL's additions.

msgspec decodes bytes into these structs in one pass, without dictionaries, because decoding
accounts for most of a token's cost. Keys without a field are skipped.
"""

from typing import Any

import msgspec

from apps.agent.model import UNNUMBERED


class FunctionPart(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class CallPart(msgspec.Struct, gc=False):
    index: int = UNNUMBERED
    id: str | None = None
    function: FunctionPart | None = None
    name: str | None = None
    arguments: str | None = None
    """The arguments, if the service sends a call without a function object."""


class StageChunk(msgspec.Struct, gc=False):
    index: int | None = None
    name: str | None = None
    content: str | None = None
    status: str | None = None
    attachments: list[dict[str, Any]] | None = None
    parent_stage_index: int | None = None


class CustomContent(msgspec.Struct, gc=False):
    attachments: list[dict[str, Any]] | None = None
    stages: list[StageChunk] | None = None
    state: dict[str, Any] | None = None


class ChoiceDelta(msgspec.Struct, gc=False):
    content: str | None = None
    tool_calls: list[CallPart] | None = None
    custom_content: CustomContent | None = None
    custom_fields: Any = None
    """Any JSON. Only its `annotations` are read. Applications that cite sources send them."""
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    """The model's reasoning, ignored unless it is a string."""
    thought: str | None = None
    """The model's reasoning. It is not sent back, because the service does not accept it in this
    form.
    """
    function_call: FunctionPart | None = None
    """A call in the API's deprecated format."""
    reasoning_details: Any = None
    """The model's reasoning in OpenRouter's format, which is a list. Sometimes only this field
    contains the reasoning.
    """


class TokenCounts(msgspec.Struct, gc=False):
    """The token counts of a response. `model` is set only in DIAL's statistics. The details may be
    any JSON.
    """

    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: Any = None
    completion_tokens_details: Any = None


class Statistics(msgspec.Struct, gc=False):
    usage_per_model: list[TokenCounts] | None = None


class ChunkChoice(msgspec.Struct, gc=False):
    delta: ChoiceDelta | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    index: int = 0
    error: Any = None
    message: Any = None
    """The message that some services send in place of a delta's content. Other services repeat the
    whole answer in it at the end.
    """


class StreamChunk(msgspec.Struct, gc=False):
    choices: list[ChunkChoice] = []
    usage: TokenCounts | None = None
    statistics: Statistics | None = None
    error: Any = None
    """The error that a service sends in place of choices."""
