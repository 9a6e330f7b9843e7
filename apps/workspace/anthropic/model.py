"""Streams answers from models through Anthropic's Messages API."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, ModelRequest
from apps.agent.tools import ToolSpec
from apps.workspace.anthropic.contents import PDF, Block, message_blocks, text_block, without_blanks
from apps.workspace.anthropic.events import MessageEvents
from apps.workspace.anthropic.kept_blocks import THOUGHTS, answer_blocks, usable_id
from apps.workspace.anthropic.parameters import (
    FORMER_VERSION,
    Fields,
    ModelTraits,
    write_parameters,
)
from apps.workspace.model_capabilities import token_limit
from apps.workspace.services.client import Headers, ModelService, encode_body
from apps.workspace.services.model import Api, ServiceModel
from apps.workspace.services.static_tools import service_tool

MESSAGES = "messages"
CACHED: Block = {"type": "ephemeral"}
PICTURES = "image/*"
CAPABILITIES: Mapping[str, str] = {
    "vision": "image_input",
    "documents": "pdf_input",
    "structured_output": "structured_outputs",
    "reasoning": "thinking",
}
"""Maps a deployment's capability columns to the names of capabilities in the service's model
list.
"""


@dataclass(frozen=True, slots=True)
class AnthropicModel:
    service: ModelService
    name: str
    """The service's name for the model."""
    traits: ModelTraits
    idle_seconds: float
    """The read timeout in seconds."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield its answer. If the service pauses the answer, continue it with
        another request. Raises `ModelFailed` if the service rejects the request or fails.
        """
        events = MessageEvents()
        while True:
            inner = ServiceModel(self.service, self.name, self.api(events), self.idle_seconds)
            async with aclosing(inner.stream(request)) as batches:
                async for batch in batches:
                    yield batch
            if not events.is_paused:
                return
            events.resume()

    def write(self, request: ModelRequest) -> bytes:
        return self.api(MessageEvents()).encode(request)

    def api(self, events: MessageEvents) -> Api:
        encode = partial(
            encode_anthropic, model=self.name, traits=self.traits, begun=tuple(events.blocks)
        )
        return Api(encode, lambda: events, events.read_whole)


def key_headers(api_key: str, features: Mapping[str, Any]) -> Headers:
    version = ModelTraits.of(features).version
    headers: Headers = (("anthropic-version", version),)
    if not api_key:
        return headers
    if version == FORMER_VERSION:
        return (*headers, ("x-api-key", api_key))
    return (*headers, ("Authorization", f"Bearer {api_key}"))


def make_anthropic_model(
    *,
    base_url: str,
    api_key: str,
    model: str,
    features: Mapping[str, Any] | None = None,
    idle_seconds: float | None = None,
) -> AnthropicModel:
    """Create a model. `base_url` ends with the API's version. `features` are the deployment's
    features, which `ModelTraits` reads. `idle_seconds` is the read timeout, by default the tool
    timeout.
    """
    return AnthropicModel(
        ModelService(base_url, MESSAGES, key_headers(api_key, features or {})),
        model,
        ModelTraits.of(features or {}),
        idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )


def encode_anthropic(
    request: ModelRequest, model: str, traits: ModelTraits, begun: Sequence[Block] = ()
) -> bytes:
    """Return the JSON body of a request. `begun` contains the blocks of an answer that this request
    continues.

    Messages come last, so that all requests in a conversation begin with the same bytes. Raises
    `BadRequest` for text that is not Unicode.
    """
    tools = [*map(write_tool, request.tools), *map(service_tool, request.static_tools)]
    system = [text_block(m.text) for m in request.messages if m.role == "system" and m.text.strip()]
    messages = write_messages(request.messages)
    if said := without_blanks(begun):
        messages.append({"role": "assistant", "content": said})
    parameters = write_parameters(request.parameters, traits, model, has_tools=bool(tools))
    body: Fields = {"model": model, **allowed_thinking(parameters, messages), "stream": True}
    if tools:
        body["tools"] = mark_blocks(tools)
    if system:
        body["system"] = mark_blocks(system)
    body["messages"] = marked_messages(messages)
    return encode_body(body)


def write_tool(spec: ToolSpec) -> Fields:
    written: Fields = {
        "name": spec.name,
        "description": spec.description,
        "input_schema": {"type": "object", **spec.parameters},
    }
    if spec.strict is not None:
        written["strict"] = spec.strict
    return written


def write_messages(messages: Sequence[ModelMessage]) -> list[Fields]:
    """Convert messages to the API's format. Consecutive messages with the same role are joined.
    Tool results have the role `user`.
    """
    written: list[Fields] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(blocks_of(message))
        if not blocks:
            continue
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    return written


def blocks_of(message: ModelMessage) -> Iterator[Block]:
    match message.role:
        case "assistant":
            yield from answer_blocks(message)
        case "tool":
            result: Block = {"type": "tool_result", "tool_use_id": usable_id(message.tool_call_id)}
            content = message_blocks(message)
            if content:
                result["content"] = content
            yield result
        case "user":
            yield from message_blocks(message)
        case "system":
            pass  # The system prompt comes before all messages.


def allowed_thinking(parameters: Fields, messages: Sequence[Fields]) -> Fields:
    """Drop the thinking budget if the current turn did not begin with a thought, because the API
    would reject it. Another model or a client may have begun the turn.
    """
    thinking = parameters.get("thinking")
    if not isinstance(thinking, Mapping) or thinking.get("type") != "enabled":
        return parameters
    for message in reversed(messages):
        content = message["content"]
        if message["role"] == "assistant":
            if content[0]["type"] in THOUGHTS:
                continue
            return {name: value for name, value in parameters.items() if name != "thinking"}
        if content[0]["type"] != "tool_result":
            break
    return parameters


def marked_messages(messages: list[Fields]) -> list[Fields]:
    """Mark the last block before the newest message for the prompt cache. All blocks up to this
    block were part of the previous request.
    """
    if len(messages) < 2:
        return messages
    before = messages[-2]
    return [*messages[:-2], {**before, "content": mark_blocks(before["content"])}, messages[-1]]


def mark_blocks(blocks: list[Block]) -> list[Block]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": CACHED}]


def columns_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deployment's column values for a model in the service's model list: features,
    attachment types, capabilities and token limits.
    """
    limits = (("context_window", "max_input_tokens"), ("max_output_tokens", "max_tokens"))
    kinds = ((PICTURES, "image_input"), (PDF, "pdf_input"))
    return {
        "features": features_of(facts),
        "input_attachment_types": [kind for kind, name in kinds if can(facts, name)],
        **{column: token_limit(facts.get(name)) for column, name in limits},
        **{column: is_supported(facts, name) for column, name in CAPABILITIES.items()},
    }


def features_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features that describe how to request thinking from the model. `ModelTraits` reads
    them.
    """
    has_budget = can(facts, "thinking", "types", "enabled")
    is_adaptive = can(facts, "thinking", "types", "adaptive")
    return {"thinking": "budget"} if has_budget and not is_adaptive else {}


def can(facts: Mapping[str, Any], *path: str) -> bool:
    return is_supported(facts, *path) is True


def is_supported(facts: Mapping[str, Any], *path: str) -> bool | None:
    """Return True if the model list reports the feature at this path as supported, False if it
    reports it as unsupported, and None if the list does not contain it.
    """
    found: Any = facts.get("capabilities")
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    supported = found.get("supported") if isinstance(found, Mapping) else None
    return supported if isinstance(supported, bool) else None
