"""The demo's answers as the deltas of the model port."""

from __future__ import annotations

from collections.abc import Sequence

from apps.agent.model import Choice, Chunk, Delta, FunctionDelta, TokenUsage, ToolCallDelta


def text_delta(text: str) -> Chunk:
    return Chunk([Choice(Delta(content=text))])


def call_delta(index: int, call_id: str, tool: str) -> Chunk:
    """The beginning of a call; its arguments follow."""
    return Chunk(
        [Choice(Delta(tool_calls=[ToolCallDelta(index, call_id, FunctionDelta(tool, ""))]))]
    )


def arguments_delta(index: int, piece: str) -> Chunk:
    delta = ToolCallDelta(index, function=FunctionDelta(arguments=piece))
    return Chunk([Choice(Delta(tool_calls=[delta]))])


def ending(reason: str, asked: int, said: int) -> Sequence[Chunk]:
    """`asked` and `said` are tokens."""
    return [Chunk([Choice(Delta(), reason)]), Chunk(usage=TokenUsage(asked, said))]
