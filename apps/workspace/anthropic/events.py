"""Converts the streamed events and the whole messages of the Messages API to deltas.

If the service pauses an answer, the next request continues it. One `MessageEvents` object reads all
parts of the answer.
"""

from typing import Any

import msgspec

from apps.agent.events import RefusalDelta, TextDelta, Usage
from apps.agent.model import (
    Delta,
    Finish,
    ReasoningDelta,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.agent.surrogates import replace_surrogates
from apps.workspace.anthropic.contents import Block
from apps.workspace.anthropic.kept_blocks import PART, write_blocks
from apps.workspace.anthropic.token_counts import MessageTokens, read_usage, sum_usage
from apps.workspace.anthropic.wire import (
    CONTENT_EVENTS,
    STATUSES,
    BlockDelta,
    MessageEvent,
    read_event,
    read_message,
    read_object,
    well_shaped,
)
from apps.workspace.services.event_stream import finish_reason, speaks
from apps.workspace.services.failures import failure_in_stream, failure_of_empty_answer
from apps.workspace.services.halves import CutCharacters

REASONING = "thinking"
"""The API's name for a model's reasoning."""
MOST_PAUSES = 10
"""A paused answer is continued up to this many times. If it pauses again, it counts as truncated.
The service pauses after ten turns of its own tools.
"""
REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "content_filter",
}


def text_of(written: Any) -> str:
    """Return an ID or a name as text. Some services omit it or send it as a number."""
    return str(written) if isinstance(written, str | int) else ""


class MessageEvents:
    """Reads the events of an answer."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        """All blocks so far, in order."""
        self.fragments: list[str] = []
        """The fragments of the last block's text, thinking or tool input."""
        self.first_input: ToolCallDelta | None = None
        """The tool input with which the last block began. It is used if no fragments follow."""
        self.first = 0
        """The number of blocks in the earlier parts of the answer."""
        self.pauses = 0
        self.spent: Usage | None = None
        """The usage of the earlier parts of the answer."""
        self.counts: MessageTokens | None = None
        self.is_done = False
        self.has_finished = False
        self.has_understood = False
        self.is_paused = False
        """True if another request must continue the answer."""
        self.halves = CutCharacters()

    def resume(self) -> None:
        """Prepare to read the next part of an answer that the service paused."""
        self.first = len(self.blocks)
        self.pauses += 1
        self.spent, self.counts = self.usage, None
        self.is_done = self.has_finished = self.is_paused = False

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Convert an event to deltas. Raises `ModelFailed` if the event is an error or cannot be
        parsed.
        """
        event = read_event(payload, self.halves)
        self.has_understood = self.has_understood or event.type in CONTENT_EVENTS
        if event.type == "content_block_delta":
            if event.delta is not None:
                self.read_delta(event.delta, self.first + event.index, deltas)
        elif event.type == "error" or name == b"error":
            raise failure_in_stream(replace_surrogates(payload), STATUSES)
        else:
            self.read_rare(event, deltas)

    def read_delta(self, delta: BlockDelta, index: int, deltas: list[Delta]) -> None:
        """Add a delta to its block. Citations and unknown kinds of deltas are skipped."""
        if delta.text:
            self.fragments.append(delta.text)
            deltas.append(TextDelta(delta.text))
        elif delta.partial_json:
            self.fragments.append(delta.partial_json)
            self.first_input = None
            if self.blocks and self.blocks[-1]["type"] == "tool_use":
                deltas.append(ToolCallDelta(index, arguments=delta.partial_json))
        elif delta.thinking:
            self.fragments.append(delta.thinking)
            deltas.append(ReasoningDelta(delta.thinking, REASONING))
        elif delta.signature and self.blocks:
            self.blocks[-1]["signature"] = delta.signature

    def read_rare(self, event: MessageEvent, deltas: list[Delta]) -> None:
        if event.type == "content_block_start" and event.content_block is not None:
            self.begin_block(event.content_block, self.first + event.index, deltas)
        elif event.type == "content_block_stop":
            self.end_block(deltas)
        elif event.type == "message_start" and event.message is not None:
            self.counts = event.message.usage
        elif event.type == "message_delta" and event.delta is not None:
            if event.usage is not None:
                self.counts = event.usage.over(self.counts)
            if event.delta.stop_reason:
                self.finish(event.delta.stop_reason, event.delta.stop_details, deltas)
        elif event.type == "message_stop":
            self.is_done = True

    def begin_block(self, block: Block, index: int, deltas: list[Delta]) -> None:
        """Begin a block. If the answer is not streamed, the block is already complete."""
        self.end_block(deltas)  # Some services do not end blocks.
        # Token counts are reported with the first block, because the request may be retried until
        # then.
        if not self.blocks and self.usage is not None:
            deltas.append(self.usage)
        self.blocks.append(well_shaped(block))
        match block:
            case {"type": "text", "text": str(text)} if text:
                deltas.append(TextDelta(text))
            case {"type": "thinking", "thinking": str(text)} if text:
                deltas.append(ReasoningDelta(text, REASONING))
            case {"type": "tool_use"}:
                call_id, name = text_of(block.get("id")), text_of(block.get("name"))
                deltas.append(ToolCallDelta(index, call_id, name))
                if first_input := block.get("input"):
                    arguments = msgspec.json.encode(first_input).decode()
                    self.first_input = ToolCallDelta(index, arguments=arguments)
            case {"type": "web_search_tool_result" | "web_fetch_tool_result"}:
                deltas.append(UntrustedRead("a web search"))
            case {"type": "mcp_tool_result"}:
                deltas.append(UntrustedRead("results of an MCP server"))
            case _:
                pass  # Stored, but not shown.

    def end_block(self, deltas: list[Delta]) -> None:
        """Complete the last block by joining its fragments."""
        if self.first_input is not None:
            deltas.append(self.first_input)
            self.first_input = None
        whole = "".join(self.fragments)
        self.fragments = []
        if not whole or not self.blocks:
            return
        block = self.blocks[-1]
        if block["type"] in ("text", "thinking"):
            block[block["type"]] += whole
        else:
            block["input"] = read_object(whole)

    def finish(self, reason: str, details: Any, deltas: list[Delta]) -> None:
        """End the answer. Raises `ModelFailed` if the finish reason means a failure."""
        known = REASONS.get(reason) or finish_reason(reason)
        self.has_finished = True
        self.end_block(deltas)
        if self.usage is not None:
            deltas.append(self.usage)
        is_calling = any(block["type"] == "tool_use" for block in self.blocks)
        if reason == "pause_turn" and is_calling:
            known = "tool_calls"  # The next request has to contain the results.
        elif reason == "pause_turn" and self.pauses < MOST_PAUSES:
            self.is_paused = True
            return
        said = details.get("explanation") if isinstance(details, dict) else None
        if reason == "refusal" and isinstance(said, str) and not self.blocks:
            deltas.append(RefusalDelta(said))
        # The API ignores the thinking in an earlier answer without calls.
        if is_calling and (kept := write_blocks(self.blocks)):
            deltas.append(ThoughtPart(PART, kept))
        deltas.append(Finish(known))

    @property
    def usage(self) -> Usage | None:
        return sum_usage(self.spent, read_usage(self.counts))

    def read_whole(self, data: bytes) -> list[Delta]:
        """Convert an answer that is not streamed to deltas. Raises `ModelFailed` if it is an error
        or cannot be parsed.
        """
        message = read_message(data)
        if message.type == "error":
            raise failure_in_stream(replace_surrogates(data), STATUSES)
        deltas: list[Delta] = []
        self.counts = message.usage
        for index, block in enumerate(message.content, self.first):
            self.begin_block(block, index, deltas)
        if not message.stop_reason and not speaks(deltas):
            raise failure_of_empty_answer()
        self.finish(message.stop_reason or "end_turn", message.stop_details, deltas)
        return deltas
