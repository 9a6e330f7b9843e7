"""Describes the capabilities of a model, merged from several sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from apps.workspace.media_types import matches_any

ATTACHMENT_KINDS: Mapping[str, str] = {
    "vision": "image/png",
    "documents": "application/pdf",
    "audio_input": "audio/mpeg",
}
"""Maps each capability to a typical media type that requires it."""


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """The capabilities of a model. None means unknown: the model is then called as if it had the
    capability.
    """

    tools: bool | None = None
    """The model can call tools in the API's own format."""
    parallel_tools: bool | None = None
    """The model can make several tool calls in one answer."""
    vision: bool | None = None
    """The model accepts images in a message."""
    documents: bool | None = None
    """The model accepts PDFs in a message."""
    audio_input: bool | None = None
    """The model accepts audio in a message."""
    audio_output: bool | None = None
    structured_output: bool | None = None
    """The model follows a JSON Schema (`response_format` of the type `json_schema`)."""
    reasoning: bool | None = None
    caching: bool | None = None
    """The service caches request prefixes."""
    context_window: int | None = None
    """The maximum size of a conversation in tokens."""
    max_output_tokens: int | None = None
    """The maximum size of an answer in tokens."""

    def over(self, other: "ModelCapabilities") -> Self:
        """Return these capabilities, with each unknown value replaced by the value in `other`."""
        found = {name: getattr(self, name) for name in CAPABILITIES}
        return type(self)(
            **{n: getattr(other, n) if value is None else value for n, value in found.items()}
        )

    def reads(self, media_type: str) -> bool | None:
        """Return True if the model can read content of this type, False if it cannot, and None if
        this is unknown.
        """
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
"""Maps each capability to the DIAL feature that implies it."""


def read_features(features: Mapping[str, Any]) -> ModelCapabilities:
    """Return the capabilities that a deployment's features imply. `features` is in DIAL's format."""
    values = {name: features.get(feature) for name, feature in FEATURES.items()}
    flags = {name: flag for name, flag in values.items() if isinstance(flag, bool)}
    if features.get("reasoning_efforts"):
        flags["reasoning"] = True
    return ModelCapabilities(
        **flags, max_output_tokens=token_limit(features.get("max_output_tokens"))
    )


def token_limit(value: Any) -> int | None:
    """Return a limit in tokens, or None if the value is not a positive integer."""
    return value if type(value) is int and 0 < value < 2**31 else None


def read_types(types: Sequence[str]) -> ModelCapabilities:
    """Return the capabilities that the accepted attachment types imply. A missing type implies
    nothing.
    """
    reads = {name: matches_any(kind, types) or None for name, kind in ATTACHMENT_KINDS.items()}
    return ModelCapabilities(**reads)
