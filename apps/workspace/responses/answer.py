"""Converts the output items of an answer to deltas as they arrive.

Services stream an item in parts, send it when it is complete, or send it with the whole response.
Each part of an item is converted once.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from apps.agent.call_arguments import encode_json
from apps.agent.events import AnnotationAdded, AttachmentAdded, RefusalDelta, TextDelta, Usage
from apps.agent.model import (
    Delta,
    Finish,
    ReasoningDelta,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.errors import ModelFailed
from apps.workspace.openai.chunks import count_in
from apps.workspace.responses.builtin_tools import (
    closed_stage,
    opened_stage,
    picture_of,
    untrusted_source,
)
from apps.workspace.responses.kept_items import (
    BETWEEN_TEXTS,
    ITEMS,
    kept_items,
    mappings,
    text_field,
)
from apps.workspace.services.failures import (
    LASTING,
    TRANSIENT,
    clean_text,
    is_filled,
    status_of_code,
    tidy_message,
)
from apps.workspace.services.logprobs import read_logprobs

Item = Mapping[str, Any]
THINKING = "reasoning"
"""The name of each `ReasoningDelta` that contains the model's reasoning or a summary of it."""
INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "server_is_overloaded": 503,
        "vector_store_timeout": 504,
        "invalid_request_error": 400,
        "invalid_prompt": 400,
        "invalid_encrypted_content": 400,
        "bio_policy": 400,
        "data_residency_mismatch": 400,
        "misalignment_policy_violation": 400,
    }
)
"""Maps error codes that only this API uses to HTTP status codes, in addition to `CODE_STATUSES`."""
PICTURES = ("image_", "invalid_image", "invalid_base64_image", "unsupported_image", "empty_image")
"""The prefixes of error codes that report an unusable image in the request."""


class ResponseAnswer:
    """Converts the parts of one answer to deltas, and stores its state. The number of an item is
    its position in the output, as the service sends it, unless several items have the same
    position.
    """

    def __init__(self) -> None:
        self.items: dict[int, Item] = {}
        """Maps item numbers to the items that have arrived completely."""
        self.begun: set[int] = set()
        self.call_ids: dict[int, str] = {}
        """Maps the number of a function call to its call ID."""
        self.latest: dict[int, int] = {}
        """Maps each number that the service sends to our number for the newest call that has it."""
        self.streamed: set[int] = set()
        """The numbers of the items that have arrived at least in part."""
        self.cited: set[int] = set()
        self.lengths: dict[int, int] = {}
        """Maps the number of an item to the length of its text in characters."""

    def begin(self, index: int, item: Item, deltas: list[Delta]) -> None:
        """Append the delta that begins a call or a tool's stage, unless the item has already begun.
        Most of the item's content arrives later.
        """
        index = self.number_of(index, item)
        if index in self.begun:
            return
        self.begun.add(index)
        if item.get("type") == "function_call":
            id, name = text_field(item, "call_id"), text_field(item, "name")
            deltas.append(ToolCallDelta(index, id, name))
        elif (stage := opened_stage(index, item)) is not None:
            deltas.append(stage)

    def number_of(self, index: int, item: Item) -> int:
        """Return the number that distinguishes an item from all others, because some services send
        the same number for all calls.
        """
        call_id = text_field(item, "call_id")
        if item.get("type") != "function_call" or not call_id:
            return index
        number = index
        if self.call_ids.get(index, call_id) != call_id:
            known = [number for number, one in self.call_ids.items() if one == call_id]
            number = known[0] if known else max(self.begun, default=index) + 1
        self.call_ids[number] = call_id
        self.latest[index] = number
        return number

    def say(self, index: int, text: str, deltas: list[Delta], logprobs: Any = None) -> None:
        if text or logprobs:
            text = self.take_text(index, text)
            probabilities = read_logprobs({"content": logprobs}) if logprobs else None
            deltas.append(TextDelta(text, probabilities))

    def refuse(self, index: int, text: str, deltas: list[Delta]) -> None:
        if text:
            deltas.append(RefusalDelta(self.take_text(index, text)))

    def take_text(self, index: int, text: str) -> str:
        """Return the text, with a separator before it if it begins a new item and an earlier item
        had text.
        """
        length = self.lengths.get(index)
        if length is None:
            length = 0
            self.streamed.add(index)
            if self.lengths:
                text = BETWEEN_TEXTS + text
        self.lengths[index] = length + len(text)
        return text

    def think(self, index: int, text: str, deltas: list[Delta]) -> None:
        self.streamed.add(index)
        deltas.append(ReasoningDelta(text, THINKING))

    def argue(self, index: int, arguments: str, deltas: list[Delta]) -> None:
        index = self.latest.get(index, index)
        if arguments:
            self.streamed.add(index)
            deltas.append(ToolCallDelta(index, arguments=arguments))

    def cite(self, index: int, annotation: Any, deltas: list[Delta]) -> None:
        """Append an annotation in the format of the chat completions API, with its fields under the
        name of its type.
        """
        if isinstance(annotation, Mapping) and (kind := text_field(annotation, "type")):
            self.cited.add(index)
            fields = {name: value for name, value in annotation.items() if name != "type"}
            deltas.append(AnnotationAdded({"type": kind, kind: fields}))

    def end(self, index: int, item: Item, deltas: list[Delta]) -> None:
        """Append the deltas of a complete item, without the parts that have already arrived."""
        index = self.number_of(index, item)
        if index in self.items:
            return
        self.begin(index, item, deltas)
        self.items[index] = item
        match item.get("type"):
            case "message":
                self.end_message(index, item, deltas)
            case "reasoning" if index not in self.streamed:
                parts = mappings(item.get("summary")) or mappings(item.get("content"))
                if text := BETWEEN_TEXTS.join(text_field(part, "text") for part in parts):
                    self.think(index, text, deltas)
            case "function_call" if index not in self.streamed:
                self.streamed.add(index)
                deltas.append(ToolCallDelta(index, arguments=arguments_in(item)))
            case _ if opened_stage(index, item) is not None:
                self.end_tool(index, item, deltas)

    def end_tool(self, index: int, item: Item, deltas: list[Delta]) -> None:
        deltas.append(closed_stage(index, item))
        if source := untrusted_source(item):
            deltas.append(UntrustedRead(source))
        if (picture := picture_of(item)) is not None:
            deltas.append(AttachmentAdded(picture))

    def end_message(self, index: int, item: Item, deltas: list[Delta]) -> None:
        has_come, is_cited = index in self.streamed, index in self.cited
        for part in mappings(item.get("content")):
            if not has_come:
                self.say(index, text_field(part, "text"), deltas, part.get("logprobs"))
                self.refuse(index, text_field(part, "refusal"), deltas)
            if not is_cited:
                for annotation in mappings(part.get("annotations")):
                    self.cite(index, annotation, deltas)

    def finish(self, response: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Append the deltas of the final response that have not arrived yet. Raises `ModelFailed`
        if the response reports a failure.
        """
        for index, item in enumerate(mappings(response.get("output"))):
            self.end(index, item, deltas)
        usage = usage_of(response.get("usage"))
        deltas += [usage] if usage is not None else []
        reason = self.finish_reason(response)
        ordered = [(self.items[index], self.lengths.get(index, 0)) for index in sorted(self.items)]
        if kept := kept_items(ordered):
            deltas.append(ThoughtPart(ITEMS, kept))
        deltas.append(Finish(reason))

    def finish_reason(self, response: Mapping[str, Any]) -> str:
        """Return the finish reason of a response. Raises `ModelFailed` if the response reports a
        failure.
        """
        error, status = response.get("error"), response.get("status")
        if isinstance(error, Mapping) and is_filled(error):
            raise failure_of_response(error)
        if status == "incomplete":
            return INCOMPLETE.get(
                text_field(response.get("incomplete_details"), "reason"), "length"
            )
        if status not in (None, "completed") or not isinstance(response.get("output"), list):
            raise ModelFailed(
                "The model's service did not complete its response.", reason="unreadable"
            )
        is_calling = any(item.get("type") == "function_call" for item in self.items.values())
        return "tool_calls" if is_calling else "stop"


def arguments_in(item: Item) -> str:
    """Return the arguments of a call as JSON. Some services send them as an object."""
    arguments = item.get("arguments")
    if isinstance(arguments, Mapping):
        return encode_json(arguments)
    return text_field(item, "arguments")


def usage_of(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    input_details = usage.get("input_tokens_details")
    output_details = usage.get("output_tokens_details")
    return Usage(
        count_in(usage, "input_tokens") or 0,
        count_in(usage, "output_tokens") or 0,
        cached=count_in(input_details, "cached_tokens"),
        created=count_in(input_details, "cache_write_tokens"),
        reasoning=count_in(output_details, "reasoning_tokens"),
    )


def failure_of_response(error: Mapping[str, Any]) -> ModelFailed:
    """Return the failure for the `error` in a failed response or an error event."""
    code, kind = clean_text(error.get("code")), clean_text(error.get("type"))
    status = status_of(code) or status_of(kind)
    return ModelFailed(
        "The model's service aborted its response with an error.",
        status=status,
        is_transient=status in TRANSIENT and code not in LASTING,
        reason="stream",
        said=tidy_message(clean_text(error.get("message"))),
        code=code,
        kind="" if kind == "error" else kind,
    )


def status_of(code: str) -> int | None:
    if code.startswith(PICTURES):
        return 400
    return STATUSES.get(code) or status_of_code(code)
