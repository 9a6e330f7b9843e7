"""A recording: what models and tools were asked in one run, and what they answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.tools import Tool, ToolSpec
from apps.cases.request_forms import Form, digest_of

FORMAT = 1
LARGEST = 16 * 1024 * 1024
"""Bytes of a recording that is kept."""


class ModelEntry(msgspec.Struct):
    """A call of a model: the digests of its request, and an answer or a failure."""

    key: str
    parts: dict[str, Any]
    reply: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None


class ToolEntry(msgspec.Struct):
    """A call of a tool, and its result or the error that it raised."""

    key: str
    name: str
    result: dict[str, Any] | None = None
    error: dict[str, str] | None = None


class OfferedTool(msgspec.Struct):
    """A tool of a server that is not asked during a replay."""

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


class Tape(msgspec.Struct):
    """`parts` are messages, tools and parameters by their digests; `offers` the tools of servers by
    the capability that brought them.
    """

    format: int = FORMAT
    parts: dict[str, Any] = msgspec.field(default_factory=dict)
    models: list[ModelEntry] = msgspec.field(default_factory=list)
    tools: list[ToolEntry] = msgspec.field(default_factory=list)
    offers: dict[str, list[OfferedTool]] = msgspec.field(default_factory=dict)

    def add_model(
        self,
        form: Form,
        reply: dict[str, Any] | None = None,
        failure: dict[str, Any] | None = None,
    ) -> None:
        """Keep an answer. It replaces a failure of the same request, which was asked again."""
        entry = ModelEntry(digest_of(form), self.taken_apart(form), reply, failure)
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
        self.tools.append(ToolEntry(digest_of(form), form["name"], result, error))

    def taken_apart(self, form: Form) -> dict[str, Any]:
        """The digests of the parts of a form: a conversation grows, and its beginning is kept once."""

        def kept(value: Any) -> str:
            digest = digest_of(value)
            self.parts[digest] = value
            return digest

        return {
            "deployment": form["deployment"],
            "messages": [kept(one) for one in form["messages"]],
            "tools": [kept(one) for one in form["tools"]],
            "parameters": kept(form["parameters"]),
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


def read_tape(written: Mapping[str, Any]) -> Tape:
    """Raises `msgspec.ValidationError`."""
    return msgspec.convert(written, Tape)


class Reader:
    """Finds recorded calls; the same call again gets the next recording of it, at last the last."""

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
