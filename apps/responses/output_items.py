"""Builds the output items of a response, and encodes each change as a frame."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from apps.agent.events import TokenLogprob
from apps.responses.resource import Item, Resource, write_logprobs

TEXT, REFUSAL, SUMMARY = "output_text", "refusal", "summary_text"


class PartKind(NamedTuple):
    """The JSON keys and event names of a type of content part."""

    field: str
    """The key of the part's text."""
    item: str
    """The type of the item that contains the part."""
    parts: str
    """The item's key for the list of such parts."""
    position: str
    """The key of the part's index in this list."""
    event: str
    """The prefix of the events about the part."""
    text_event: str
    """The prefix of the events about the part's text."""


KINDS = {
    TEXT: PartKind("text", "message", "content", "content_index", "content_part", "output_text"),
    REFUSAL: PartKind("refusal", "message", "content", "content_index", "content_part", "refusal"),
    SUMMARY: PartKind(
        *("text", "reasoning", "summary", "summary_index"),
        *("reasoning_summary_part", "reasoning_summary_text"),
    ),
}
PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "function_call_output": "fco",
    "custom_tool_call_output": "ctco",
    "compaction": "cmp",
}
"""Maps item types to the prefixes of their IDs."""

_encode = msgspec.json.Encoder().encode


class OpenPart:
    """A content part that is being streamed. The start of its frames is encoded only once."""

    def __init__(self, kind: str, location: Mapping[str, Any]) -> None:
        self.kind = kind
        self.location = location
        self.deltas: list[str] = []
        self.logprobs: list[TokenLogprob] = []
        self.annotations: list[dict[str, Any]] = []
        name = f"response.{KINDS[kind].text_event}.delta"
        probabilities: dict[str, Any] = {"logprobs": []} if kind == TEXT else {}
        head = _encode({"type": name, **location, **probabilities})[:-1]
        self.before = b'event: %b\ndata: %b,"sequence_number":' % (name.encode(), head)

    def written(self) -> dict[str, Any]:
        part: dict[str, Any] = {"type": self.kind, KINDS[self.kind].field: "".join(self.deltas)}
        if self.kind == TEXT:
            part |= {"annotations": self.annotations, "logprobs": write_logprobs(self.logprobs)}
        return part


def event_frame(event: str, number: int, **fields: Any) -> bytes:
    name = f"response.{event}"
    written = _encode({"type": name, "sequence_number": number, **fields})
    return b"event: %b\ndata: %b\n\n" % (name.encode(), written)


class OutputItems:
    """Builds the output items of a response, and encodes frames with consecutive sequence numbers.

    With `counts_characters`, a text uses one number per character, so that a replay has the same
    numbers regardless of how the model split the text. Frames up to number `after` are omitted.
    """

    def __init__(
        self, resource: Resource, number: int, *, counts_characters: bool = False, after: int = -1
    ) -> None:
        self.resource = resource
        self.number = number
        self.counts_characters = counts_characters
        self.after = after
        self.frames: list[bytes] = []
        self.item: Item | None = None
        self.part: OpenPart | None = None

    def take_frames(self) -> bytes:
        """Return the frames since the last call."""
        frames = b"".join(self.frames)
        self.frames.clear()
        return frames

    def frame(self, event: str, **fields: Any) -> None:
        if self.number > self.after:
            self.frames.append(event_frame(event, self.number, **fields))
        self.number += 1

    def add_delta(self, part: OpenPart, text: str) -> None:
        part.deltas.append(text)
        if self.counts_characters:
            first, self.number = self.number, self.number + len(text) - 1
            text = text[max(0, self.after + 1 - first) :]
        if text or not self.counts_characters:
            self.frames.append(b'%b%d,"delta":%b}\n\n' % (part.before, self.number, _encode(text)))
        self.number += 1

    def open(self, kind: str, **fields: Any) -> Item:
        self.close()
        common = {
            "id": self.resource.next_id(PREFIXES[kind]),
            "type": kind,
            "status": "in_progress",
        }
        self.item = item = {**common, **fields}
        self.frame("output_item.added", output_index=len(self.resource.output), item=item)
        return item

    def open_message(self) -> Item:
        return self.open("message", role="assistant", content=[])

    def open_reasoning(self, **fields: Any) -> Item:
        return self.open("reasoning", summary=[], **fields)

    def close(self, status: str = "completed") -> None:
        item = self.item
        if item is None:
            return
        self.close_part(item)
        item["status"] = status
        self.frame("output_item.done", output_index=len(self.resource.output), item=item)
        self.resource.output.append(item)
        self.item = None

    def open_part(self, kind: str) -> OpenPart:
        """Return the open content part of this type. If there is none, close any other part and
        begin a new one, if necessary in a new item.
        """
        part = self.part
        if part is not None and part.kind == kind:
            return part
        item, wanted = self.item, KINDS[kind].item
        if item is None or item["type"] != wanted:
            item = self.open_message() if wanted == "message" else self.open_reasoning()
        self.close_part(item)
        parts = item[KINDS[kind].parts]
        location = {"item_id": item["id"], "output_index": len(self.resource.output)}
        self.part = part = OpenPart(kind, {**location, KINDS[kind].position: len(parts)})
        self.frame(f"{KINDS[kind].event}.added", **part.location, part=part.written())
        return part

    def close_part(self, item: Item) -> None:
        part = self.part
        if part is None:
            return
        self.part, written, names = None, part.written(), KINDS[part.kind]
        item[names.parts].append(written)
        text = {names.field: written[names.field]}
        probabilities = {"logprobs": written["logprobs"]} if part.kind == TEXT else {}
        self.frame(f"{names.text_event}.done", **part.location, **text, **probabilities)
        self.frame(f"{names.event}.done", **part.location, part=written)
