"""The JSON body of a request for a completion."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from apps.agent.call_names import is_usable, usable_name
from apps.agent.messages import Message, to_dict
from apps.agent.model import ModelRequest
from apps.workspace.openai.cache_marks import Fields, Tool, marked_messages, marked_tools
from apps.workspace.openai.chunks import REASONING_KEYS
from apps.workspace.services.request_bodies import encode_body


def encode_request(request: ModelRequest, model: str, *, dial: bool) -> bytes:
    """The JSON body of a request; only DIAL gets `custom_content`.

    The request's `parameters` do not override our keys, but `stream_options: null` leaves that key
    out, for services that refuse it. Raises `BadRequest` for text that is not Unicode.
    """
    body = dict(request.parameters)
    options = body.pop("stream_options", {})
    body["model"] = model
    names = {spec.name for spec in request.tools}
    messages: list[Fields] = [
        message_fields(with_usable_names(message, names), dial=dial) for message in request.messages
    ]
    has_marks = dial and request.marks_cache
    body["messages"] = marked_messages(request.messages, messages) if has_marks else messages
    body["stream"] = True
    if options is not None:
        body["stream_options"] = {"include_usage": True, **options}
    tools: list[Tool] = [*(spec.written for spec in request.tools), *request.static_tools]
    if tools:
        body["tools"] = marked_tools(tools) if has_marks else tools
    return encode_body(body)


def with_usable_names(message: Message, names: Set[str]) -> Message:
    """The message with names of calls that the API accepts: an older one may have any."""
    if all(call.name in names or is_usable(call.name) for call in message.tool_calls):
        return message
    calls = (
        call if call.name in names else replace(call, name=usable_name(call.name))
        for call in message.tool_calls
    )
    return replace(message, tool_calls=tuple(calls))


def message_fields(message: Message, *, dial: bool) -> dict[str, Any]:
    """A model gets its own state at the top level, where it wrote it, and its reasoning as fields."""
    thoughts, own = message.thoughts, message.model_state
    if thoughts is None and not own:
        fields = to_dict(message)
    else:
        state = {**message.state, **own}
        fields = to_dict(replace(message, state=state, thoughts=None, model_state={}))
    if thoughts is not None:
        fields |= {name: thoughts.parts[name] for name in REASONING_KEYS if name in thoughts.parts}
    if not dial:
        fields.pop("custom_content", None)
    return fields
