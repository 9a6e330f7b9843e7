"""Defines the recording of a run: its model and tool calls, with their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.tools import Tool, ToolSpec
from apps.cases.request_forms import Form, request_digest

FORMAT = 1
LARGEST = 16 * 1024 * 1024
"""A stored recording can have at most this many bytes of JSON."""


class ModelEntry(msgspec.Struct):
    """A recorded model call: the digests of the request's parts, and the answer or the failure."""

    key: str
    parts: dict[str, Any]
    reply: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None


class ToolEntry(msgspec.Struct):
    """A recorded tool call with its result or its error."""

    key: str
    name: str
    result: dict[str, Any] | None = None
    error: dict[str, str] | None = None


class OfferedTool(msgspec.Struct):
    """A tool that a server listed. A replay does not call the server."""

    name: str
    description: str
    parameters: dict[str, Any]
    toolset: str = ""
    is_private: bool = False
    is_read_only: bool = False

    @classmethod
    def of(cls, tool: Tool) -> OfferedTool:
        spec = tool.spec
        return cls(
            *(spec.name, spec.description, dict(spec.parameters)),
            *(tool.toolset, tool.is_private, tool.is_read_only),
        )

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)


class Recording(msgspec.Struct):
    """The model and tool calls of a run, with their results."""

    format: int = FORMAT
    parts: dict[str, Any] = msgspec.field(default_factory=dict)
    """Maps digests to messages, tools and parameters."""
    models: list[ModelEntry] = msgspec.field(default_factory=list)
    tools: list[ToolEntry] = msgspec.field(default_factory=list)
    offers: dict[str, list[OfferedTool]] = msgspec.field(default_factory=dict)
    """Maps capabilities to the tools that their servers listed."""

    def add_model(
        self,
        form: Form,
        reply: dict[str, Any] | None = None,
        failure: dict[str, Any] | None = None,
    ) -> None:
        """Record a model call. The outcome of a retry replaces the failure that preceded it."""
        entry = ModelEntry(request_digest(form), self.store_parts(form), reply, failure)
        if self.models and self.models[-1].key == entry.key and self.models[-1].failure is not None:
            self.models[-1] = entry
        else:
            self.models.append(entry)

    def add_tool(
        self,
        form: Form,
        result: dict[str, Any] | None = None,
        error: dict[str, str] | None = None,
    ) -> None:
        self.tools.append(ToolEntry(request_digest(form), form["name"], result, error))

    def store_parts(self, form: Form) -> dict[str, Any]:
        """Store the parts of a model request, and return their digests. Equal parts are stored
        once, because later requests repeat earlier messages.
        """

        def store(value: Any) -> str:
            digest = request_digest(value)
            self.parts[digest] = value
            return digest

        return {
            "deployment": form["deployment"],
            "messages": [store(one) for one in form["messages"]],
            "tools": [store(one) for one in form["tools"]],
            "parameters": store(form["parameters"]),
        }

    def form_of(self, entry: ModelEntry) -> Form:
        parts = entry.parts
        return {
            "deployment": parts["deployment"],
            "messages": [self.parts[one] for one in parts["messages"]],
            "tools": [self.parts[one] for one in parts["tools"]],
            "parameters": self.parts[parts["parameters"]],
        }

    def write(self) -> dict[str, Any]:
        written: dict[str, Any] = msgspec.to_builtins(self)
        return written

    @property
    def is_too_large(self) -> bool:
        return len(msgspec.json.encode(self)) > LARGEST


def read_recording(written: Mapping[str, Any]) -> Recording:
    """Parse a recording. Raises `msgspec.ValidationError` if it is invalid."""
    return msgspec.convert(written, Recording)


class RecordingReader:
    """Finds recorded calls. If equal calls were recorded several times, they are returned in order.
    Further equal calls get the last recording again.
    """

    def __init__(self, entries: Sequence[Any]) -> None:
        self.by_key: dict[str, list[Any]] = {}
        for entry in entries:
            self.by_key.setdefault(entry.key, []).append(entry)
        self.taken: dict[str, int] = {}

    def find(self, key: str) -> Any | None:
        found = self.by_key.get(key)
        if not found:
            return None
        number = self.taken.get(key, 0)
        self.taken[key] = number + 1
        return found[min(number, len(found) - 1)]
