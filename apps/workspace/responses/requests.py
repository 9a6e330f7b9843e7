"""A request of the Responses API, made of the neutral one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.agent.messages import Content, Message
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.workspace.responses.kept_items import assistant_items, short_id
from apps.workspace.responses.parameters import body_fields
from apps.workspace.services.request_bodies import encode_body
from apps.workspace.services.static_tools import service_tool


def encode_request(request: ModelRequest, model: str) -> bytes:
    """The JSON body. Raises `BadRequest` for text that is not Unicode.

    Nothing is stored at the service, so each request has the whole conversation.
    """
    instructions, messages = parted(request.messages)
    body: dict[str, Any] = {"model": model, "store": False, "stream": True}
    if instructions:
        body["instructions"] = instructions
    body["input"] = [item for message in messages for item in input_items(message)]
    if request.tools or request.static_tools:
        static = map(service_tool, request.static_tools)
        body["tools"] = [*map(function_tool, request.tools), *static]
    body |= body_fields(request.parameters, model)
    return encode_body(body)


def parted(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The text of the system message that begins the conversation, and the messages after it."""
    if not messages or messages[0].role != "system":
        return "", messages
    return messages[0].text, messages[1:]


def input_items(message: Message) -> Iterable[Mapping[str, Any]]:
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
    """A part of a completion's message as one of an input item; unknown ones as they are."""
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
        # Left out, it means true here, and most schemas of tools are not written for that.
        "strict": bool(spec.strict),
    }
