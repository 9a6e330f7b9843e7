"""Fields of a chunk that QuickApps reads, in the JSON of various services."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

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
from apps.agent.messages import Attachment
from apps.agent.model import UNNUMBERED, Delta, Finish, ReasoningDelta, StagePart, ToolCallDelta
from apps.workspace.openai.chunks import ChunkReader
from apps.workspace.openai.wire import StreamChunk
from tests.tables import each_row


def read(*chunks: dict[str, Any]) -> list[Delta]:
    reader, deltas = ChunkReader(), list[Delta]()
    for chunk in chunks:
        reader.read(msgspec.convert(chunk, StreamChunk), deltas)
    return deltas


def said(delta: dict[str, Any] | None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


def test_an_answer_is_read():
    picture = {"type": "image/png", "url": "files/a/b.png"}
    custom = {
        "attachments": [picture],
        "state": {"thread": 7},
        "stages": [{"index": 4, "name": "Look", "attachments": [picture], "parent_stage_index": 1}],
    }
    annotations = {"annotations": [{"id": "1"}, "no annotation"]}
    call = {"index": 1, "id": "a", "function": {"name": "f", "arguments": "{"}}

    found = read(
        said({"role": "assistant", "content": ""}),
        said({"content": "Hel", "refusal": "No."}),
        said({"custom_content": custom, "custom_fields": annotations}),
        said({"tool_calls": [call, {"id": "b"}]}, finish_reason="tool_calls"),
    )

    attachment = Attachment("image/png", url="files/a/b.png")
    assert found == [
        TextDelta("Hel"),
        RefusalDelta("No."),
        AttachmentAdded(attachment),
        StateSaved({"thread": 7}),
        StagePart(4, "Look", attachments=(attachment,), parent_index=1),
        AnnotationAdded({"id": "1"}),
        ToolCallDelta(1, "a", "f", "{"),
        ToolCallDelta(UNNUMBERED, "b"),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("status", "failed"),
    [("completed", False), ("COMPLETED", False), ("failed", True), ("x", True), (None, None)],
)
def test_any_status_but_completed_ends_a_stage_as_failed(status, failed):
    custom = {"stages": [{"index": 0, "status": status}]}

    assert read(said({"custom_content": custom})) == [StagePart(0, failed=failed)]


def test_stages_without_an_index_have_that_of_their_place():
    custom = {"stages": [{"name": "One"}, {"name": "Two"}]}

    assert read(said({"custom_content": custom})) == [StagePart(0, "One"), StagePart(1, "Two")]


@pytest.mark.parametrize("fields", ["text", [1], {"annotations": 5}, {"other": []}])
def test_custom_fields_of_another_shape_are_no_annotations(fields):
    assert read(said({"custom_fields": fields})) == []


def test_a_thought_that_is_written_under_two_names_is_read_once():
    """OpenRouter and vLLM do this, with lists of details next to it."""
    thought = {"reasoning_content": "", "reasoning": "Hm.", "reasoning_details": [{"text": "Hm."}]}

    assert read(said(thought)) == [ReasoningDelta("Hm.", "reasoning")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_an_empty_thought_has_a_name_as_well(name):
    """DeepSeek requires it back."""
    assert read(said({name: ""})) == [ReasoningDelta("", name)]


@each_row("odd", [7, ["a list"], {"type": "text"}, False, None])
@each_row("name", ["reasoning_content", "reasoning", "thinking", "refusal"])
def test_what_is_no_text_is_no_thought_and_breaks_nothing(name, odd):
    assert read(said({name: odd})) == []


def test_log_probabilities_stay_with_their_text_and_come_alone_where_there_is_none():
    other = {"token": "He", "logprob": -1, "bytes": [72, 101]}
    token = {"token": "It", "logprob": -0.5, "top_logprobs": [other]}
    told = {"content": [token], "refusal": [{"token": "No", "logprob": -2}], "odd": 5}
    it = TokenLogprob("It", -0.5, None, (TokenLogprob("He", -1.0, (72, 101)),))
    read_of_it = (it, TokenLogprob("No", -2.0, is_refusal=True))

    found = read(
        said({"content": "It"}, logprobs=told),
        said({"content": "."}, logprobs="nonsense"),
        said(None, logprobs=told, finish_reason="stop"),
    )

    both = [TextDelta("It", read_of_it), TextDelta("."), TextDelta("", read_of_it)]
    assert found == [*both, Finish("stop")]


# --- What it cost ------------------------------------------------------------------------------

SUM = {"prompt_tokens": 9, "completion_tokens": 3}
DETAILS = {
    "prompt_tokens_details": {"cached_tokens": 6, "audio_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
MODELS: list[dict[str, Any]] = [
    {"model": "a", "prompt_tokens": 6, "completion_tokens": 2},
    {"prompt_tokens": 3, "completion_tokens": 1},
]


def test_cached_tokens_and_those_for_thinking_are_read():
    assert read({"usage": {**SUM, **DETAILS}}) == [Usage(9, 3, cached=6, reasoning=2)]


@pytest.mark.parametrize("name", ["cache_creation_tokens", "cache_write_tokens"])
def test_tokens_written_to_the_cache_are_read(name):
    usage = {**SUM, "prompt_tokens_details": {"cached_tokens": 0, name: 4}}

    assert read({"usage": usage}) == [Usage(9, 3, cached=0, created=4)]


@each_row("odd", [None, [], "6", {}, {"cached_tokens": None}])
@each_row("count", [-1, 0.5, True, "6", 10**13])
def test_details_of_another_shape_are_not_counted(odd, count):
    details = {"completion_tokens_details": {"reasoning_tokens": count}}

    assert read({"usage": {**SUM, "prompt_tokens_details": odd, **details}}) == [Usage(9, 3)]


def test_statistics_without_details_get_those_of_the_whole_also_when_they_come_later():
    usage, statistics = {"usage": {**SUM, **DETAILS}}, {"statistics": {"usage_per_model": MODELS}}

    models = (ModelUsage("a", 6, 2, 6, None, 2), ModelUsage("", 3, 1))
    whole = Usage(9, 3, models, 6, None, 2)
    assert read(usage | statistics) == [whole]
    assert read(usage, statistics)[-1] == whole
    assert read(statistics, usage) == [
        Usage(per_model=(ModelUsage("a", 6, 2), ModelUsage("", 3, 1))),
        whole,
    ]


def test_statistics_with_details_keep_their_own():
    named = {**MODELS[0], "prompt_tokens_details": {"cached_tokens": 1}}
    statistics = {"usage_per_model": [named, MODELS[1]]}

    (usage,) = read({"usage": {**SUM, **DETAILS}, "statistics": statistics})

    models = (ModelUsage("a", 6, 2, 1), ModelUsage("", 3, 1))
    assert usage == Usage(9, 3, models, 6, None, 2)


def test_statistics_that_tell_nothing_are_no_usage():
    assert read({"statistics": {}}, {"statistics": {"usage_per_model": []}}) == []
