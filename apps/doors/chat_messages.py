"""Validates messages of the chat completions API, and converts them to `ModelMessage`s.

Other APIs convert their messages to this format first. Unknown keys are ignored, because each DIAL
release adds some. msgspec structs are ten times faster than pydantic here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from apps.agent.call_arguments import object_text
from apps.agent.messages import Attachment, ModelMessage, Thoughts, ToolCall, attachment_from_dict
from apps.agent.tools import ToolSpec
from apps.doors.bodies import invalid, invalid_structure
from apps.runs.history import StoredCustomContent

Object = dict[str, Any]
SYSTEM = ("system", "developer")
FORM_FIELD = "answer"
"""The form field that contains the user's answer."""


class FunctionCall(Struct, gc=False):
    name: str
    arguments: str | Object | None = ""


class RequestedCall(Struct):
    id: str
    function: FunctionCall


class ChatMessage(Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Object] | None = None
    tool_calls: list[RequestedCall] | None = None
    tool_call_id: str | None = None
    custom_content: Object | None = None
    reasoning_content: Any = None
    name: Any = None
    refusal: Any = None
    function_call: Any = None
    audio: Any = None


def to_message(written: ChatMessage, external: dict[str, ToolSpec]) -> ModelMessage:
    """Convert a message. Calls to the client's own tools, which are in `external`, remain. Calls to
    the application's tools are removed, because the message's state contains them.
    """
    custom = dict(written.custom_content or {})
    attachments: tuple[Attachment, ...] = tuple(
        attachment_from_dict(item) for item in custom.pop("attachments", None) or ()
    )
    state = custom.pop("state", None) or {}
    custom.pop("stages", None)  # These parts are for users only, not for the model.
    content = written.content
    calls = tuple(
        ToolCall(call.id, call.function.name, object_text(call.function.arguments))
        for call in written.tool_calls or ()
        if call.function.name in external
    )
    has_thought = calls and isinstance(written.reasoning_content, str)
    return ModelMessage(
        # `developer` is OpenAI's newer name for `system`.
        role="system" if written.role == "developer" else written.role,  # type: ignore[arg-type]
        content=tuple(content) if isinstance(content, list) else content or "",
        tool_calls=calls,
        tool_call_id=written.tool_call_id,
        attachments=attachments,
        state=state,
        extra=custom,
        thoughts=Thoughts({"reasoning_content": written.reasoning_content})
        if has_thought
        else None,
    )


def form_answer(messages: Sequence[ModelMessage]) -> Any:
    """Return the user's answer in the form of the last message, or None."""
    form = messages[-1].extra.get("form_value") if messages else None
    return form.get(FORM_FIELD) if isinstance(form, Mapping) else None


def check_message(path: str, message: ChatMessage) -> None:
    if isinstance(message.content, list):
        for index, part in enumerate(message.content):
            check_part(f"{path}.content.{index}", part)
    if message.custom_content is not None:
        check_custom(f"{path}.custom_content", message.custom_content)


def check_part(path: str, part: Object) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise invalid(f"{path}.type", "Send a string.")
    if kind == "text" and not isinstance(part.get("text"), str):
        raise invalid(f"{path}.text", "Send a string.")
    image = part.get("image_url")
    if kind == "image_url" and not (isinstance(image, dict) and isinstance(image.get("url"), str)):
        raise invalid(f"{path}.image_url.url", "Send a string.")


def check_custom(path: str, written: Object) -> None:
    try:
        custom = msgspec.convert(written, StoredCustomContent)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), path) from error
    for index, attachment in enumerate(custom.attachments or ()):
        given = (attachment.data, attachment.url)
        if None not in given:
            raise invalid(f"{path}.attachments.{index}", "Send 'data' or 'url', not both.")
        if given == (None, None) and attachment.reference_url is None:
            raise invalid(f"{path}.attachments.{index}", "Send 'data' or 'url'.")
