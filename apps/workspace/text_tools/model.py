"""Wraps models without tool support. Such models write their tool calls as text, or receive no tools."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from apps.agent.events import TextDelta
from apps.agent.model import Delta, Finish, ModelRequest, WritingModel
from apps.agent.tools import ToolSpec
from apps.workspace.services.client import log_left_out
from apps.workspace.text_tools.calls import CallReader
from apps.workspace.text_tools.messages import text_messages

OF_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})


@dataclass(frozen=True, slots=True)
class TextToolModel:
    """A model whose tool calls are written and parsed as text.

    If `has_tools` is False, tools are omitted from requests, and the omission is logged.
    """

    model: WritingModel
    name: str
    has_tools: bool = True

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield its answer with the tool calls in its text converted to deltas.
        Raises `ModelFailed` if the service fails.
        """
        offered = self.offered(request)
        async with aclosing(self.model.stream(in_text(request, offered))) as batches:
            if not offered:
                async for batch in batches:
                    yield batch
                return
            reader = CallReader()
            async for batch in batches:
                if read := [one for delta in batch for one in read_delta(reader, delta)]:
                    yield read
            if rest := reader.end():
                yield rest

    def write(self, request: ModelRequest) -> bytes:
        return self.model.write(in_text(request, self.offered(request)))

    def offered(self, request: ModelRequest) -> Sequence[ToolSpec]:
        if request.static_tools or (request.tools and not self.has_tools):
            log_left_out(self.name, "tools")
        may_call = self.has_tools and request.parameters.get("tool_choice") != "none"
        return request.tools if may_call else ()


def in_text(request: ModelRequest, offered: Sequence[ToolSpec]) -> ModelRequest:
    """Return the request with the offered tools, earlier calls and their results as text."""
    return replace(
        request,
        messages=text_messages(request.messages, offered, request.parameters),
        parameters=without_tool_fields(request.parameters),
        tools=(),
        static_tools=(),
    )


def without_tool_fields(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in parameters.items() if name not in OF_TOOLS}


def read_delta(reader: CallReader, delta: Delta) -> Sequence[Delta]:
    match delta:
        case TextDelta(text):
            read = reader.feed(text)
            return [delta] if read == [TextDelta(text)] else read
        case Finish(reason):
            rest = reader.end()
            is_calling = reader.calls and reason == "stop"
            return [*rest, Finish("tool_calls") if is_calling else delta]
        case _:
            return [delta]
