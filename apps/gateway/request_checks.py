"""Checks of a chat completion request beside the types of its fields."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from django.conf import settings

from apps.errors import BadRequest
from apps.gateway.chat_requests import ChatMessage, ChatRequest, Object
from apps.gateway.refusals import invalid, invalid_structure, too_deep
from apps.runs.history import StoredCustomContent

R = TypeVar("R", bound=ChatRequest)


def read_request(body: bytes, decode: Callable[[bytes], R]) -> R:
    """Read a request and check its parts one by one. Raises `BadRequest`."""
    try:
        if not body.isascii():
            body.decode()
        request = decode(body)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error)) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadRequest(f"The request body isn't valid JSON: {error}") from error
    except RecursionError as error:
        raise too_deep(settings.GATEWAY_MAX_DEPTH) from error
    if len(request.messages) > settings.GATEWAY_MAX_MESSAGES:
        raise invalid("messages", f"Send at most {settings.GATEWAY_MAX_MESSAGES} messages.")
    check_depth(request, body, settings.GATEWAY_MAX_DEPTH)
    check_tools(request)
    for index, message in enumerate(request.messages):
        check_message(f"messages.{index}", message)
    return request


def check_depth(request: ChatRequest, body: bytes, limit: int) -> None:
    # Too few brackets for so many levels: nothing has to be counted.
    if body.count(b"[") + body.count(b"{") <= limit:
        return
    # The lowest of these values, the contents of messages, begin on the fourth level.
    level = request.objects
    for message in request.messages:
        level += (message.content, message.custom_content)
    level = [msgspec.to_builtins(item) for item in level if not isinstance(item, str)]
    for _ in range(limit - 3):
        level = [child for item in level for child in children(item)]
        if not level:
            return
    raise too_deep(limit)


def children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [value for value in item.values() if isinstance(value, dict | list)]
    if isinstance(item, list):
        return [value for value in item if isinstance(value, dict | list)]
    return []


def check_tools(request: ChatRequest) -> None:
    names = set()
    for index, tool in enumerate(request.tools or ()):
        if tool.type == "static_function":
            continue
        if tool.type != "function" or tool.function is None:
            raise invalid(
                f"tools.{index}", "Write type 'function' or 'static_function', with its object."
            )
        if tool.function.name in names:
            raise invalid(
                f"tools.{index}.function.name", f"Two tools are named '{tool.function.name}'."
            )
        names.add(tool.function.name)
    check_choice(request.tool_choice, names)


def check_choice(choice: str | Object | None, names: set[str]) -> None:
    if isinstance(choice, str) and choice not in ("auto", "none", "required"):
        raise invalid("tool_choice", "Write 'auto', 'none', 'required' or a function.")
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if choice.get("type") != "function" or not isinstance(name, str):
            raise invalid("tool_choice", "Write {'type': 'function', 'function': {'name': …}}.")


def check_message(path: str, message: ChatMessage) -> None:
    if isinstance(message.content, list):
        for index, part in enumerate(message.content):
            check_part(f"{path}.content.{index}", part)
    if message.custom_content is not None:
        check_custom(f"{path}.custom_content", message.custom_content)


def check_part(path: str, part: Object) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise invalid(f"{path}.type", "Expected `str`.")
    if kind == "text" and not isinstance(part.get("text"), str):
        raise invalid(f"{path}.text", "Expected `str`.")
    image = part.get("image_url")
    if kind == "image_url" and not (isinstance(image, dict) and isinstance(image.get("url"), str)):
        raise invalid(f"{path}.image_url.url", "Expected `str`.")


def check_custom(path: str, written: Object) -> None:
    try:
        custom = msgspec.convert(written, StoredCustomContent)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), path) from error
    for index, attachment in enumerate(custom.attachments or ()):
        given = (attachment.data, attachment.url)
        if None not in given:
            raise invalid(f"{path}.attachments.{index}", "Write 'data' or 'url', not both.")
        if given == (None, None) and attachment.reference_url is None:
            raise invalid(f"{path}.attachments.{index}", "Write 'data' or 'url'.")
