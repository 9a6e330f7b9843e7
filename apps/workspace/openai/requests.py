"""The body of a completion request, written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from apps.agent.messages import Message, to_dict
from apps.agent.model import ModelRequest
from apps.errors import BadRequest
from apps.workspace.openai.chunks import THOUGHT_NAMES


def write(request: ModelRequest, model: str, *, dial: bool) -> bytes:
    """JSON as the service reads it; only DIAL gets `custom_content`.

    `parameters` cannot replace what is ours, except that `stream_options` set to null leaves it
    out, for services that refuse it. Raises `BadRequest` for text that is not Unicode.
    """
    body = dict(request.parameters)
    options = body.pop("stream_options", {})
    body["model"] = model
    body["messages"] = [written(message, dial=dial) for message in request.messages]
    body["stream"] = True
    if options is not None:
        body["stream_options"] = {"include_usage": True, **options}
    tools = [*(spec.written for spec in request.tools), *request.static_tools]
    if tools:
        body["tools"] = tools
    try:
        return msgspec.json.encode(body, enc_hook=as_dict)
    except UnicodeEncodeError as error:
        raise BadRequest(
            "Text that is not Unicode", "A message contains half of a character; send it again."
        ) from error


def written(message: Message, *, dial: bool) -> dict[str, Any]:
    """A model reads its own state at the top level, where it left it, and its thoughts as fields."""
    thoughts, own = message.thoughts, message.model_state
    if thoughts is None and not own:
        fields = to_dict(message)
    else:
        state = {**message.state, **own}
        fields = to_dict(replace(message, state=state, thoughts=None, model_state={}))
    if thoughts is not None:
        fields |= {name: thoughts.parts[name] for name in THOUGHT_NAMES if name in thoughts.parts}
    if not dial:
        fields.pop("custom_content", None)
    return fields


def as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")
