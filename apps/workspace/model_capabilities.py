"""What a model can do, and the layers of knowledge about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from apps.workspace.media_types import matches

ATTACHMENT_KINDS: Mapping[str, str] = {
    "vision": "image/png",
    "documents": "application/pdf",
    "audio_input": "audio/mpeg",
}
"""A usual media type of what each capability reads."""


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """None is unknown: the model is asked as if nothing were said, and nothing is refused.

    - `tools`: calls of tools in the API's own form; `parallel_tools`: several in one answer.
    - `vision`, `documents`, `audio_input`: reads pictures, PDFs, sound in a message.
    - `audio_output`: answers with sound.
    - `structured_output`: keeps to a JSON Schema (`response_format` of the type `json_schema`).
    - `reasoning`: thinks before it answers.
    - `caching`: its service keeps the beginnings of requests.
    - `context_window` and `max_output_tokens`: tokens of a conversation, and of an answer.
    """

    tools: bool | None = None
    parallel_tools: bool | None = None
    vision: bool | None = None
    documents: bool | None = None
    audio_input: bool | None = None
    audio_output: bool | None = None
    structured_output: bool | None = None
    reasoning: bool | None = None
    caching: bool | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None

    def over(self, other: "ModelCapabilities") -> Self:
        """These, with those of `other` where they are unknown."""
        found = {name: getattr(self, name) for name in CAPABILITIES}
        return type(self)(
            **{n: getattr(other, n) if value is None else value for n, value in found.items()}
        )

    def reads(self, media_type: str) -> bool | None:
        """Whether it reads a part of that type; None when unknown, and for other types."""
        family = media_type.partition("/")[0].strip().lower()
        kind = media_type.partition(";")[0].strip().lower()
        if family == "image":
            return self.vision
        if family == "audio":
            return self.audio_input
        return self.documents if kind == ATTACHMENT_KINDS["documents"] else None


CAPABILITIES = tuple(field.name for field in fields(ModelCapabilities))
LIMITS = ("context_window", "max_output_tokens")
FLAGS = tuple(name for name in CAPABILITIES if name not in LIMITS)
UNKNOWN = ModelCapabilities()
FEATURES: Mapping[str, str] = {
    "tools": "tools",
    "parallel_tools": "parallel_tool_calls",
    "caching": "cache",
}
"""Capabilities that DIAL's features have, and their names there."""


def read_features(features: Mapping[str, Any]) -> ModelCapabilities:
    """Those that DIAL's features tell, and the `max_output_tokens` among them."""
    told = {name: features.get(feature) for name, feature in FEATURES.items()}
    flags = {name: flag for name, flag in told.items() if isinstance(flag, bool)}
    if features.get("reasoning_efforts"):
        flags["reasoning"] = True
    return ModelCapabilities(**flags, max_output_tokens=tokens(features.get("max_output_tokens")))


def tokens(value: Any) -> int | None:
    """A limit; None for anything but a count."""
    return value if type(value) is int and 0 < value < 2**31 else None


def read_types(types: Sequence[str]) -> ModelCapabilities:
    """What the types of attachments say that a model takes; of the others they say nothing."""
    reads = {name: matches(kind, types) or None for name, kind in ATTACHMENT_KINDS.items()}
    return ModelCapabilities(**reads)
