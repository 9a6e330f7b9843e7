"""Streams answers from models through OpenAI's Responses API."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings

from apps.agent.messages import Content, ModelMessage
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.workspace.openai.model import make_service
from apps.workspace.responses.events import ResponseEvents, read_response
from apps.workspace.responses.kept_items import assistant_items, short_id
from apps.workspace.responses.parameters import body_fields
from apps.workspace.services.client import ModelService, encode_body
from apps.workspace.services.model import MOST_BYTES, Api, ServiceModel
from apps.workspace.services.static_tools import service_tool

RESPONSES = "responses"
MOST_EVENT_BYTES = MOST_BYTES
"""The size limit for an event in bytes. The last event repeats the whole answer, including
generated images.
"""


def make_responses_model(
    *, base_url: str, api_key: str, model: str, idle_seconds: float | None = None
) -> ServiceModel[ModelService]:
    """Create a model. `base_url` ends with the API's version. `idle_seconds` is the read timeout,
    by default the tool timeout.
    """
    service = make_service(base_url, api_key, RESPONSES)
    seconds = idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS
    return make_service_model(service, model, seconds)


def make_service_model(
    service: ModelService, model: str, idle_seconds: float
) -> ServiceModel[ModelService]:
    """Create a model. `model` is the service's name for it, and `idle_seconds` is the read timeout."""
    encode = partial(encode_responses, model=model)
    api = Api(encode, ResponseEvents, read_response, MOST_EVENT_BYTES)
    return ServiceModel(service=service, name=model, api=api, idle_seconds=idle_seconds)


def encode_responses(request: ModelRequest, model: str) -> bytes:
    """Return the JSON body of a request. Raises `BadRequest` for text that is not Unicode.

    The service stores nothing, so each request contains the whole conversation.
    """
    instructions, messages = part_system_message(request.messages)
    body: dict[str, Any] = {"model": model, "store": False, "stream": True}
    if instructions:
        body["instructions"] = instructions
    body["input"] = [item for message in messages for item in input_items(message)]
    if request.tools or request.static_tools:
        static = map(service_tool, request.static_tools)
        body["tools"] = [*map(function_tool, request.tools), *static]
    body |= body_fields(request.parameters, model)
    return encode_body(body)


def part_system_message(messages: Sequence[ModelMessage]) -> tuple[str, Sequence[ModelMessage]]:
    """Split off the system message at the beginning of the conversation. Return its text, or "",
    and the other messages.
    """
    if not messages or messages[0].role != "system":
        return "", messages
    return messages[0].text, messages[1:]


def input_items(message: ModelMessage) -> Iterable[Mapping[str, Any]]:
    match message.role:
        case "assistant":
            return assistant_items(message)
        case "tool":
            output = content_of(message.content)
            call_id = short_id(message.tool_call_id or "")
            return ({"type": "function_call_output", "call_id": call_id, "output": output},)
        case role:
            return ({"role": role, "content": content_of(message.content)},)


def content_of(content: Content) -> str | list[Mapping[str, Any]]:
    return content if isinstance(content, str) else list(map(content_part, content))


def content_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a part of a message's content to a part of an input item. Parts of unknown types
    remain unchanged.
    """
    match part:
        case {"type": "text", "text": text}:
            return {"type": "input_text", "text": text}
        case {"type": "image_url", "image_url": {"url": url, **more}}:
            return {"type": "input_image", "image_url": url, "detail": more.get("detail") or "auto"}
        case {"type": "file", "file": Mapping() as file}:
            return {"type": "input_file", **file}
        case _:
            return part


def function_tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        # If omitted, the API assumes true, which most tool schemas do not satisfy.
        "strict": bool(spec.strict),
    }
