"""Wraps a model, and replaces request content that the model is known not to support."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import Delta, ModelRequest, WritingModel
from apps.workspace.model_capabilities import ModelCapabilities
from apps.workspace.text_tools.model import TextToolModel

PART_KINDS: Mapping[str, str] = {
    "image_url": "vision",
    "file": "documents",
    "input_audio": "audio_input",
}
"""Maps each kind of content part to the capability that it requires."""
NOUNS: Mapping[str, str] = {
    "vision": "picture",
    "documents": "document",
    "audio_input": "sound",
}


def fit_model(
    model: WritingModel, name: str, can: ModelCapabilities, *, text_tools: bool = True
) -> WritingModel:
    """Wrap a model so that content that it does not support is replaced. Return the model itself if
    nothing has to be replaced.

    If `text_tools` is True, a model without tool support writes its tool calls as text.
    """
    if can.tools is False:
        model = TextToolModel(model, name, text_tools)
    if False in (can.parallel_tools, can.vision, can.documents, can.audio_input):
        return FittedModel(model, can)
    return model


@dataclass(frozen=True, slots=True)
class FittedModel:
    """Wraps a model, and replaces each message part that the model cannot read with a line of text."""

    model: WritingModel
    can: ModelCapabilities

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model with unsupported content replaced, and yield its answer. Raises
        `ModelFailed` if the service rejects the request or fails.
        """
        return self.model.stream(self.fitted(request))

    def write(self, request: ModelRequest) -> bytes:
        return self.model.write(self.fitted(request))

    def fitted(self, request: ModelRequest) -> ModelRequest:
        messages = [readable(message, self.can) for message in request.messages]
        parameters = request.parameters
        # Services reject the field in requests without tools.
        if self.can.parallel_tools is False and request.tools:
            parameters = {**parameters, "parallel_tool_calls": False}
        return structs.replace(request, messages=messages, parameters=parameters)


def readable(message: ModelMessage, can: ModelCapabilities) -> ModelMessage:
    """Return the message with each part that the model cannot read replaced with a line of text. If
    the model can read all parts, return the message itself.
    """
    content, attachments = message.content, message.attachments
    kept = tuple(one for one in attachments if can.reads(one.type) is not False)
    lines = [left_out(one) for one in attachments if one not in kept]
    if isinstance(content, str):
        if not lines:
            return message
        return replace(message, content="\n".join((content, *lines)), attachments=kept)
    parts = [readable_part(part, can) for part in content]
    parts += [{"type": "text", "text": line} for line in lines]
    return replace(message, content=tuple(parts), attachments=kept)


def readable_part(part: Mapping[str, Any], can: ModelCapabilities) -> Mapping[str, Any]:
    kind = unread_kind(part, can)
    if not kind:
        return part
    return {"type": "text", "text": f"[A {NOUNS[kind]} is left out: you cannot read it.]"}


def unread_kind(part: Mapping[str, Any], can: ModelCapabilities) -> str:
    """Return the capability that a content part requires and the model does not have, or "" if the
    model may read the part.
    """
    kind = PART_KINDS.get(str(part.get("type")), "")
    return kind if kind and getattr(can, kind) is False else ""


def left_out(attachment: Attachment) -> str:
    title = " ".join(attachment.title.split())[:100]
    return f"[{title or 'An attachment'} ({attachment.type}) is left out: you cannot read it.]"
