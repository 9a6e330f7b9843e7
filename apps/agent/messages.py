"""Defines the messages of a conversation, and their conversion to and from JSON.

The JSON is an OpenAI message with DIAL's `custom_content`, as in requests and in a conversation's
state.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from apps.agent.call_arguments import object_text
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

Role = Literal["system", "user", "assistant", "tool"]

MODEL_STATE = "orchestrator"
"""The key for the model's own state in a stored state."""
THOUGHTS = "model_reasoning"
DEPLOYMENT = "deployment"
"""The key for the deployment's name in stored reasoning. Reasoning without this key came from a
client.
"""
REFUSALS = frozenset({400, 422})
"""The status codes with which services reject requests that contain reasoning from earlier answers.
"""

Content = str | tuple[Mapping[str, Any], ...]
"""The content of a message: text, or content parts as the client wrote them (`text`, `image_url`,
…).
"""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is attached to a message, with either `data` (text or base64) or a `url`."""

    type: str = "text/markdown"
    title: str = ""
    data: str | None = None
    url: str | None = None
    reference_type: str | None = None
    reference_url: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model. `arguments` is the text of a JSON object, as returned by
    `object_text`.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Thoughts:
    """A model's reasoning, which later requests send back to it.

    Services that reason between tool calls expect the reasoning with each further call: DeepSeek
    rejects a conversation without it, and vLLM, Kimi, GLM and OpenRouter answer better with it. For
    services that reject unknown keys, such as Groq, the request is resent without it. Plain
    reasoning is needed only with tool calls.
    """

    parts: Mapping[str, str]
    """The reasoning in the service's own format, by field."""
    deployment: str = ""
    """The only deployment that receives the parts, because it wrote them. "" means any."""


@dataclass(frozen=True, slots=True)
class ModelMessage:
    role: Role
    content: Content = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The remaining keys of `custom_content`, unchanged (`form_value`, `skills`, …)."""
    thoughts: Thoughts | None = None
    model_state: Mapping[str, Any] = field(default_factory=dict)
    """The state of the model that wrote the message. `state` belongs to the run that calls that
    model.
    """
    name: str = ""
    """The name of the message's author, if several authors have the same role."""

    @property
    def text(self) -> str:
        """Return the text parts of the content, joined by line breaks."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(p["text"]) for p in self.content if p.get("type") == "text")


def attachment_to_dict(attachment: Attachment) -> dict[str, str]:
    fields = {**asdict(attachment), "title": attachment.title or None}
    return {key: value for key, value in fields.items() if value is not None}


def attachment_from_dict(written: Mapping[str, Any]) -> Attachment:
    """Read an attachment from JSON. If it has neither `data` nor `url`, its URL is the
    `reference_url`.
    """
    url = written.get("url")
    data = written.get("data")
    reference = written.get("reference_url")
    if url is None and data is None:
        url, data = (reference, None) if reference else (None, "")
    return Attachment(
        type=written.get("type") or "text/markdown",
        title=written.get("title") or "",
        data=data,
        url=url,
        reference_type=written.get("reference_type"),
        reference_url=reference,
    )


def call_to_dict(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def call_from_dict(written: Mapping[str, Any]) -> ToolCall:
    function = written.get("function") or {}
    return ToolCall(
        str(written.get("id") or ""),
        str(function.get("name") or ""),
        object_text(function.get("arguments")),
    )


def to_dict(message: ModelMessage) -> dict[str, Any]:
    """Convert the message to JSON, without empty keys."""
    content = message.content
    written: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else [dict(part) for part in content],
    }
    if message.name:
        written["name"] = message.name
    if message.tool_calls:
        written["tool_calls"] = [call_to_dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    custom: dict[str, Any] = dict(message.extra)
    if message.attachments:
        custom["attachments"] = [attachment_to_dict(item) for item in message.attachments]
    if message.state or message.model_state or message.thoughts:
        custom["state"] = written_state(message)
    if custom:
        written["custom_content"] = custom
    return written


def written_state(message: ModelMessage) -> dict[str, Any]:
    """Return the message's state as JSON, including the model's state and reasoning."""
    state = dict(message.state)
    if message.model_state:
        state[MODEL_STATE] = dict(message.model_state)
    if (thoughts := message.thoughts) is not None:
        from_one = {DEPLOYMENT: thoughts.deployment} if thoughts.deployment else {}
        state[THOUGHTS] = {**from_one, **thoughts.parts}
    return state


def with_model_parts(message: ModelMessage) -> ModelMessage:
    """Move the model's state and reasoning from `state` into their own fields. Invalid reasoning is
    dropped, because a client may have changed the state.
    """
    written = message.state
    if MODEL_STATE not in written and THOUGHTS not in written:
        return message
    state = dict(written)
    thoughts = read_thoughts(state.pop(THOUGHTS, None))
    own = state.get(MODEL_STATE)
    if message.role == "assistant" and isinstance(own, Mapping):
        del state[MODEL_STATE]
    else:
        own = message.model_state
    return replace(message, state=state, thoughts=message.thoughts or thoughts, model_state=own)


def read_thoughts(written: Any) -> Thoughts | None:
    if not isinstance(written, Mapping):
        return None
    deployment = written.get(DEPLOYMENT, "")
    parts = {
        name: text for name, text in written.items() if name != DEPLOYMENT and isinstance(text, str)
    }
    return Thoughts(parts, deployment) if parts and isinstance(deployment, str) else None


def from_dict(written: Mapping[str, Any]) -> ModelMessage:
    """Read a message from JSON whose structure has been validated."""
    custom = dict(written.get("custom_content") or {})
    attachments = custom.pop("attachments", None) or ()
    state = custom.pop("state", None) or {}
    custom.pop("stages", None)  # shown to users, not part of the message
    content, name = written.get("content"), written.get("name")
    message = ModelMessage(
        role=written["role"],
        content=tuple(content) if isinstance(content, list) else content or "",
        tool_calls=tuple(call_from_dict(call) for call in written.get("tool_calls") or ()),
        tool_call_id=written.get("tool_call_id"),
        attachments=tuple(attachment_from_dict(item) for item in attachments),
        state=state,
        extra=custom,
        name=name if isinstance(name, str) else "",
    )
    return with_model_parts(message)


def to_dicts(messages: Iterable[ModelMessage]) -> list[dict[str, Any]]:
    return [to_dict(message) for message in messages]


def messages_json(messages: Iterable[ModelMessage]) -> str:
    """Return the messages as JSON for a log. Values that JSON does not support are converted to
    text.
    """
    return json.dumps(to_dicts(messages), default=str)


def unanswered_calls(messages: Sequence[ModelMessage]) -> tuple[ToolCall, ...]:
    """Return the tool calls at the end of the conversation that have no results."""
    results: set[str | None] = set()
    for message in reversed(messages):
        if message.role != "tool":
            return tuple(call for call in message.tool_calls if call.id not in results)
        results.add(message.tool_call_id)
    return ()


def last_calling(messages: Sequence[ModelMessage]) -> ModelMessage:
    """Return the newest message with tool calls. The messages must contain one."""
    return next(message for message in reversed(messages) if message.tool_calls)


def own_thoughts(deployment: str, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Return the messages without the reasoning of other deployments. If they contain none, return
    the same object.
    """

    def is_foreign(message: ModelMessage) -> bool:
        thoughts = message.thoughts
        return thoughts is not None and thoughts.deployment not in ("", deployment)

    if not any(map(is_foreign, messages)):
        return messages
    return [replace(one, thoughts=None) if is_foreign(one) else one for one in messages]


async def without_thoughts(
    failure: ModelFailed, messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage] | None:
    """Return the messages without reasoning if the service may have rejected it, otherwise None."""
    if failure.status not in REFUSALS or all(message.thoughts is None for message in messages):
        return None
    logger.warning(
        "The model's service may have rejected the reasoning in the conversation; removed the reasoning"
    )
    return [replace(message, thoughts=None) for message in messages]
