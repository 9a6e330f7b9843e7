"""Converts chunks of a streamed completion, including DIAL's additions, to deltas."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    ModelUsage,
    RefusalDelta,
    StateSaved,
    TextDelta,
    TokenLogprob,
    Usage,
)
from apps.agent.messages import attachment_from_dict
from apps.agent.model import (
    UNNUMBERED,
    Delta,
    Finish,
    ReasoningDelta,
    StagePart,
    ToolCallDelta,
)
from apps.workspace.openai.wire import (
    CallPart,
    ChoiceDelta,
    ChunkChoice,
    CustomContent,
    FunctionPart,
    Statistics,
    StreamChunk,
    TokenCounts,
)
from apps.workspace.services.event_stream import finish_reason
from apps.workspace.services.logprobs import read_logprobs

UNNAMED = ""
"""The name of a `ReasoningDelta` whose text is not sent back to the service."""
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""The keys under which services send a model's reasoning."""
MOST_TOKENS = 10**12
"""The highest plausible token count. A larger number would not fit into a database column."""
MOST_ATTEMPTS = 8
"""The maximum number of attempts per answer to derive a template. They all fail if the service
changes the bytes around each text.
"""
SAMPLE = "sample"


class ChunkReader:
    """Converts the chunks of one answer to deltas. The token counts may be spread over several
    chunks.
    """

    def __init__(self) -> None:
        self.index: int | None = None
        """The index of the first choice that arrives. Other choices are ignored."""
        self.usage: TokenCounts | None = None
        self.statistics: Statistics | None = None
        self.has_finished = False

    def read(self, chunk: StreamChunk, deltas: list[Delta]) -> bool:
        """Append the deltas of a chunk. Return False if a choice has to be parsed leniently,
        because it has no ordinary delta.

        Raises `ModelFailed` for a finish reason that means a failure.
        """
        if chunk.usage is not None or chunk.statistics is not None:
            self.read_costs(chunk, deltas)
        for choice in chunk.choices:
            if choice.index != self.index:
                if self.index is not None:
                    continue
                self.index = choice.index
            delta = choice.delta
            if (
                delta is not None
                and choice.logprobs is None
                and choice.error is None
                and choice.message is None
            ):
                read_delta(delta, None, deltas)
            elif not read_rare_choice(choice, deltas):
                return False
            if choice.finish_reason:
                deltas.append(Finish(finish_reason(choice.finish_reason)))
                self.has_finished = True
        return True

    def read_costs(self, chunk: StreamChunk, deltas: list[Delta]) -> None:
        self.usage = chunk.usage or self.usage
        self.statistics = chunk.statistics or self.statistics
        if (usage := usage_of(self.usage, self.statistics)) is not None:
            deltas.append(usage)


def read_rare_choice(choice: ChunkChoice, deltas: list[Delta]) -> bool:
    """Append the deltas of a choice with log probabilities. Return False if the choice has to be
    parsed leniently.
    """
    if choice.logprobs is None or choice.error is not None or choice.message is not None:
        return False
    # Without text, the log probabilities arrive in an empty delta.
    delta = choice.delta or ChoiceDelta()
    logprobs = read_logprobs(choice.logprobs)
    read_delta(delta, logprobs, deltas)
    if logprobs is not None and not delta.content:
        deltas.append(TextDelta("", logprobs))
    return True


def read_delta(
    delta: ChoiceDelta, logprobs: tuple[TokenLogprob, ...] | None, deltas: list[Delta]
) -> None:
    if delta.custom_content is not None:
        deltas += read_custom(delta.custom_content)
    if delta.custom_fields is not None:
        deltas += map(AnnotationAdded, annotations_of(delta.custom_fields))
    if (
        delta.reasoning_content is not None
        or delta.reasoning is not None
        or delta.thinking is not None
        or delta.thought is not None
        or delta.reasoning_details is not None
    ):
        deltas += read_reasoning(delta)
    if delta.content:
        deltas.append(TextDelta(delta.content, logprobs))
    if delta.refusal and isinstance(delta.refusal, str):
        deltas.append(RefusalDelta(delta.refusal))
    if delta.tool_calls:
        deltas += read_calls(delta.tool_calls)
    elif delta.function_call is not None:
        deltas.append(read_call(CallPart(0, None, delta.function_call)))


def read_calls(calls: list[CallPart]) -> Iterator[ToolCallDelta]:
    if len(calls) > 1 and all(call.index == UNNUMBERED for call in calls):
        for position, call in enumerate(calls):
            call.index = position
    return map(read_call, calls)


def read_call(call: CallPart) -> ToolCallDelta:
    function = call.function or FunctionPart(call.name, call.arguments)
    return ToolCallDelta(call.index, call.id or "", function.name or "", function.arguments or "")


def read_reasoning(delta: ChoiceDelta) -> Iterator[ReasoningDelta]:
    """Yield the reasoning in the first field that is not empty, otherwise an empty delta. Some
    services fill two fields, and others send only empty fields.
    """
    written = [(name, getattr(delta, name)) for name in REASONING_KEYS]
    written += ((UNNAMED, delta.thought), (UNNAMED, details_text(delta.reasoning_details)))
    texts = [ReasoningDelta(text, name) for name, text in written if isinstance(text, str)]
    if texts:
        yield next((one for one in texts if one.text), texts[0])


def details_text(details: Any) -> str | None:
    """Return the text in a list of reasoning details, or None if there are none. Encrypted details
    have no text.
    """
    items = details if isinstance(details, list) else ()
    written = [one.get("text") or one.get("summary") for one in items if isinstance(one, Mapping)]
    return "".join(one for one in written if isinstance(one, str)) or None


def read_custom(custom: CustomContent) -> Iterator[Delta]:
    for written in custom.attachments or ():
        yield AttachmentAdded(attachment_from_dict(written))
    if custom.state:
        yield StateSaved(custom.state)
    for position, stage in enumerate(custom.stages or ()):
        yield StagePart(
            position if stage.index is None else stage.index,
            stage.name or "",
            stage.content or "",
            stage.status.lower() != "completed" if stage.status else None,
            tuple(attachment_from_dict(written) for written in stage.attachments or ()),
            stage.parent_stage_index,
        )


def annotations_of(fields: Any) -> list[Mapping[str, Any]]:
    """Return the annotations in the `custom_fields` of a delta; malformed annotations are
    skipped.
    """
    written = fields.get("annotations") if isinstance(fields, Mapping) else None
    return [one for one in written if isinstance(one, Mapping)] if isinstance(written, list) else []


def usage_of(usage: TokenCounts | None, statistics: Statistics | None) -> Usage | None:
    """Return the token counts of an answer, or None if the service reported none. The counts are
    listed by model if the statistics list models.
    """
    named = statistics.usage_per_model if statistics is not None else None
    items = [counts_of(item) for item in named or ()]
    if usage is None:
        return Usage(per_model=tuple(items)) if items else None
    whole = counts_of(usage)
    if items and all(item.cached is item.created is item.reasoning is None for item in items):
        # DIAL's statistics have no details, so the total's details are attributed to the first
        # model.
        items[0] = replace(
            items[0], cached=whole.cached, created=whole.created, reasoning=whole.reasoning
        )
    return Usage(
        whole.input, whole.output, tuple(items), whole.cached, whole.created, whole.reasoning
    )


def counts_of(counts: TokenCounts) -> ModelUsage:
    input_details, output_details = counts.prompt_tokens_details, counts.completion_tokens_details
    created = count_in(input_details, "cache_creation_tokens")
    return ModelUsage(
        counts.model,
        counts.prompt_tokens,
        counts.completion_tokens,
        count_in(input_details, "cached_tokens"),
        count_in(input_details, "cache_write_tokens") if created is None else created,
        count_in(output_details, "reasoning_tokens"),
    )


def count_in(details: Any, name: str) -> int | None:
    """Return the count `name` from the details of the token counts, or None if it is missing or
    invalid.
    """
    found = details.get(name) if isinstance(details, dict) else None
    return found if type(found) is int and 0 <= found <= MOST_TOKENS else None


class TextForm:
    """A template for chunks that differ only in one text, as nearly all chunks of an answer do.
    Chunks that fit it need no parsing.

    Services repeat everything around the text byte for byte, so the text of the next chunk is
    between the same bytes. A template is used only after checking that a different text between
    these bytes is decoded correctly.
    """

    def __init__(self) -> None:
        self.before = b""
        self.after = b""
        self.least = sys.maxsize
        """The size in bytes of the shortest chunk that fits this template."""
        self.make: Callable[[str], Delta] = TextDelta
        self.attempts = 0

    def read(self, payload: bytes) -> Delta | None:
        """Return the delta of a chunk that fits this template, or None for any other chunk."""
        before, after = self.before, self.after
        if not (
            len(payload) >= self.least and payload.startswith(before) and payload.endswith(after)
        ):
            return None
        try:
            text = payload[len(before) : -len(after)].decode()
        except UnicodeDecodeError:
            return None
        return self.make(text) if is_plain(text) else None

    def learn(self, payload: bytes, said: Sequence[Delta]) -> bool:
        """Derive the template from a chunk and its deltas `said`, if they are a single text. Return
        False after too many attempts.
        """
        match said:
            case [TextDelta(text, None)] if text and is_plain(text):
                make: Callable[[str], Delta] = TextDelta
            case [ReasoningDelta(text, name)] if text and is_plain(text):
                make = partial(ReasoningDelta, name=name)
            case _:
                return True
        self.attempts += 1
        before, quoted, after = payload.partition(b'"%b"' % text.encode())
        before, after = before + quoted[:1], quoted[-1:] + after
        if deltas_of(before + SAMPLE.encode() + after) == [make(SAMPLE)]:
            self.before, self.after, self.make = before, after, make
            self.least = len(before) + 1 + len(after)
        return self.attempts < MOST_ATTEMPTS


def is_plain(text: str) -> bool:
    """Return True if JSON represents the text without escapes."""
    return text.isprintable() and '"' not in text and "\\" not in text


def deltas_of(payload: bytes) -> list[Delta]:
    deltas: list[Delta] = []
    try:
        ChunkReader().read(msgspec.json.decode(payload, type=StreamChunk), deltas)
    except msgspec.MsgspecError:
        return []
    return deltas
