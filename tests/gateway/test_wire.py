from __future__ import annotations

import json

import pytest
from aidial_sdk.utils.merge_chunks import cleanup_indices, merge_chat_completion_chunks

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    ModelUsage,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    TokenLogprob,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment, ToolCall
from apps.gateway.routing import DIAL, OPENAI
from tests.contract import proves
from tests.tables import each_row

USAGE = Usage(10, 5, (ModelUsage("large", 7, 4), ModelUsage("small", 3, 1)))
PICTURE = Attachment("image/png", "Map", url="files/b/map.png")
NOTE = Attachment("text/plain", "Note", data="12", reference_url="https://example.com")
RUN: list[Event] = [
    StageOpened("a", "Search"),
    StageDelta("a", "> q"),
    StageRenamed("a", " (weather)"),
    StageOpened("b", "Reading", "a"),
    StageAttachment("b", NOTE),
    StageDelta("b", "two "),
    StageDelta("b", "parts"),
    StageAttachment("b", PICTURE),
    StageClosed("b", 0.2, failed=True),
    StageClosed("a", 0.25, is_timed=True, excused=True),
    TextDelta("It is 12°"),
    AttachmentAdded(PICTURE),
    TextDelta('C "now"\n'),
    AttachmentAdded(NOTE),
    AnnotationAdded({"id": "a", "pages": [1]}),
    NoticeAdded("fallback", "B answered."),
    SubagentStarted("t:1:0:c", "c", "Look around"),
    SubagentEnded("t:1:0:c", "done"),
    TodoChanged("- [ ] a"),
    StateSaved({"tool_execution_history": [{"role": "tool", "content": "12"}], "k": {"n": [1]}}),
    RunFinished("stop", USAGE),
]


ANSWERED_BY = NoticeAdded("fallback", "B answered.")
THINKING: list[Event] = [
    StageOpened("t1", "Thinking", is_reasoning=True),
    Reasoning("t1", "First "),
    Reasoning("t1", "this."),
    StageClosed("t1", 0.5),
    StageOpened("a", "Search"),
    StageClosed("a", 0.25),
    StageOpened("t2", "Thinking", is_reasoning=True),
    Reasoning("t2", "Then that."),
    StageClosed("t2", 0.5),
    TextDelta("Done."),
    RefusalDelta(" No more."),
    RunFinished("stop", Usage(10, 5, (ModelUsage("large", 10, 5, 4, 1, 0),), 4, 1, 0)),
]
"""A model's reasoning before each of two calls, and its refusal."""


def deltas(events):
    """Return the deltas of each event, without the common fields of all chunks."""
    encoder = OPENAI.encoder("app")
    return [json.loads(encoder.frame(event)[6:])["choices"][0]["delta"] for event in events]


def merged(events, dialect):
    encoder = dialect.encoder("app")
    frames = (encoder.opening() + encoder.encode(events)).decode().split("\n\n")
    chunks = [json.loads(frame.removeprefix("data: ")) for frame in frames if frame]
    return merge_chat_completion_chunks(*chunks)


def test_text_is_the_only_thing_in_its_chunk():
    frame = OPENAI.encoder("my-app").encode([TextDelta('a "b"\n')])
    chunk = json.loads(frame.removeprefix(b"data: "))

    assert frame.endswith(b"\n\n")
    assert frame.count(b"\n") == 2
    assert {key: chunk[key] for key in ("object", "model", "usage", "choices")} == {
        "object": "chat.completion.chunk",
        "model": "my-app",
        "usage": None,
        "choices": [{"index": 0, "finish_reason": None, "delta": {"content": 'a "b"\n'}}],
    }
    assert chunk["id"].startswith("chatcmpl-")
    assert isinstance(chunk["created"], int)


def test_the_choice_is_opened_with_its_role():
    chunk = json.loads(OPENAI.encoder("app").opening().removeprefix(b"data: "))

    assert chunk["choices"] == [{"index": 0, "finish_reason": None, "delta": {"role": "assistant"}}]


@proves("10.1", "10.2")
def test_stages_are_numbered_in_one_sequence_and_know_their_parent():
    written = [delta["custom_content"]["stages"] for delta in deltas(RUN[:10])]

    assert [stage for (stage,) in written] == [
        {"index": 0, "name": "Search", "status": None},
        {"index": 0, "content": "> q", "status": None},
        {"index": 0, "name": " (weather)", "status": None},
        {"index": 1, "name": "Reading", "status": None, "parent_stage_index": 0},
        {
            "index": 1,
            "status": None,
            "attachments": [
                {
                    "index": 0,
                    "type": "text/plain",
                    "title": "Note",
                    "data": "12",
                    "reference_url": "https://example.com",
                }
            ],
        },
        {"index": 1, "content": "two ", "status": None},
        {"index": 1, "content": "parts", "status": None},
        {
            "index": 1,
            "status": None,
            "attachments": [
                {"index": 1, "type": "image/png", "title": "Map", "url": "files/b/map.png"}
            ],
        },
        {"index": 1, "status": "failed"},
        {"index": 0, "name": " [0.25s]", "status": "completed"},
    ]


def test_an_id_that_comes_again_begins_another_stage():
    written = deltas([StageOpened("a", "One"), StageOpened("a", "Two"), StageDelta("a", "x")])

    assert [delta["custom_content"]["stages"][0]["index"] for delta in written] == [0, 1, 1]


def test_attachments_of_the_answer_have_a_sequence_of_their_own():
    written = deltas([StageOpened("a", "S"), AttachmentAdded(PICTURE), AttachmentAdded(NOTE)])

    assert [item["index"] for d in written[1:] for item in d["custom_content"]["attachments"]] == [
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"input": "*** Begin Patch"}', "*** Begin Patch"),
        ('{"patch": "x"}', '{"patch": "x"}'),
        ('{"input": 5}', '{"input": 5}'),
    ],
)
def test_calls_of_custom_tools_have_a_text(arguments, text):
    event = ToolCallsRequested((ToolCall("c1", "patch", arguments),), frozenset({"patch"}))
    called = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": text}}

    assert deltas([event]) == [{"content": None, "tool_calls": [{"index": 0, **called}]}]


def test_calls_of_client_tools_are_numbered():
    calls = (ToolCall("c1", "weather", '{"city": "Oslo"}'), ToolCall("c2", "time", "{}"))

    assert deltas([ToolCallsRequested(calls)]) == [
        {
            "content": None,
            "tool_calls": [
                {
                    "index": 0,
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
                },
                {
                    "index": 1,
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "time", "arguments": "{}"},
                },
            ],
        }
    ]


def test_an_annotation_leaves_as_it_came():
    (delta,) = deltas([AnnotationAdded({"id": "a", "pages": [1]})])

    assert delta == {"custom_fields": {"annotations": [{"id": "a", "pages": [1]}]}}


def test_a_notice_leaves_as_a_stage_of_its_own():
    opened, notice, closed = deltas([StageOpened("a", "Search"), ANSWERED_BY, StageClosed("a", 1)])

    told = {"index": 1, "name": "B answered.", "status": "completed"}
    assert notice == {"custom_content": {"stages": [told]}}
    assert [delta["custom_content"]["stages"][0]["index"] for delta in (opened, closed)] == [0, 0]


def test_what_a_failed_run_cost_leaves_with_its_state_before_the_error(settings):
    settings.SHOW_USAGE_STATISTICS = True
    encoder = OPENAI.encoder("app")

    assert encoder.encode([StateSaved({"k": 1}), Spent(USAGE)]) == b""
    state, cost = encoder.error({}).decode().split("\n\n")[:2]

    assert json.loads(state[6:])["choices"][0]["delta"] == {"custom_content": {"state": {"k": 1}}}
    chunk = json.loads(cost[6:])
    assert chunk["choices"] == [{"index": 0, "finish_reason": None, "delta": {}}]
    assert chunk["usage"]["total_tokens"] == 15
    assert [item["model"] for item in chunk["statistics"]["usage_per_model"]] == ["large", "small"]


def test_the_state_leaves_whole_right_before_the_end():
    encoder = OPENAI.encoder("app")

    assert encoder.encode([StateSaved({"k": 1})]) == b""
    state, last = encoder.encode([RunFinished("stop", USAGE)]).decode().split("\n\n")[:2]

    assert json.loads(state[6:])["choices"][0]["delta"] == {"custom_content": {"state": {"k": 1}}}
    assert json.loads(last[6:])["choices"][0]["finish_reason"] == "stop"


@proves("R-28")
def test_the_last_chunk_has_the_finish_reason_the_usage_and_the_statistics(settings):
    settings.SHOW_USAGE_STATISTICS = True

    chunk = json.loads(OPENAI.encoder("app").encode([RunFinished("length", USAGE)])[6:])

    assert chunk["choices"] == [{"index": 0, "finish_reason": "length", "delta": {}}]
    assert chunk["usage"] == {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    assert chunk["statistics"] == {
        "usage_per_model": [
            {"index": 0, "model": "large", "prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11},
            {"index": 1, "model": "small", "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
        ]
    }  # fmt: skip


def test_the_share_of_each_model_is_told_only_where_the_installation_says_so():
    chunk = json.loads(OPENAI.encoder("app").encode([RunFinished("stop", USAGE)])[6:])

    assert chunk["usage"] == {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    assert "statistics" not in chunk


@proves("D-32")
@pytest.mark.parametrize("discarded", [(), (1, 2)])
def test_a_client_that_set_a_limit_is_told_which_messages_were_discarded(discarded):
    finished = RunFinished("stop", USAGE, discarded)
    completion = OPENAI.whole("app")
    completion.feed([finished])

    chunk = json.loads(OPENAI.encoder("app").encode([finished])[6:])

    assert chunk["statistics"] == {"discarded_messages": list(discarded)}
    assert completion.to_dict()["statistics"] == chunk["statistics"]


def test_usage_that_nobody_told_is_null():
    chunk = json.loads(OPENAI.encoder("app").encode([RunFinished()])[6:])

    assert chunk["usage"] is None
    assert "statistics" not in chunk


@each_row(
    "run",
    [
        RUN,
        RUN[:12] + RUN[14:],
        [TextDelta("Hi"), RunFinished()],
        [ToolCallsRequested((ToolCall("1", "weather", "{}"),)), RunFinished("tool_calls", USAGE)],
        THINKING,
        [RefusalDelta("No."), RunFinished()],
    ],
)
@each_row("dialect", [OPENAI, DIAL])
def test_a_stream_put_together_is_the_whole_answer(run, dialect):
    """DIAL's own merging removes the indexes from the message."""
    completion = dialect.whole("app")
    completion.feed(run)
    whole = completion.to_dict()
    stream = merged(run, dialect)

    choice = stream["choices"][0]
    choice["message"] = cleanup_indices(choice.pop("delta"))
    choice["message"].setdefault("content", None)
    assert stream["object"] == "chat.completion.chunk"
    if dialect is OPENAI:  # OpenAI's schema requires null if the stream has no key
        choice["message"].setdefault("refusal", None)
        choice["message"].setdefault("annotations", [])
        choice.setdefault("logprobs", None)
    for answer in (stream, whole):
        for key in ("id", "created", "object"):
            del answer[key]
    assert stream == whole


def test_the_whole_answer_has_no_index_inside_the_message_but_keeps_the_state_as_it_is():
    completion = OPENAI.whole("app")
    completion.feed([*RUN[:-2], StateSaved({"rows": [{"index": 7}]}), RUN[-1]])

    message = completion.to_dict()["choices"][0]["message"]

    assert message["custom_content"].pop("state") == {"rows": [{"index": 7}]}
    assert '"index"' not in json.dumps(message)


def message_of(run, dialect=OPENAI):
    completion = dialect.whole("app")
    completion.feed(run)
    return completion.to_dict()["choices"][0]["message"]


def test_clients_of_openais_dialect_read_thoughts_and_refusals_under_keys_of_their_own():
    assert message_of(THINKING) == {
        "role": "assistant",
        "content": "Done.",
        "reasoning_content": "First this.\n\nThen that.",
        "refusal": " No more.",
        "annotations": [],
        "custom_content": {"stages": [{"name": "Search", "status": "completed"}]},
    }


def test_core_shows_thoughts_as_stages_and_a_refusal_as_text():
    assert message_of(THINKING, DIAL) == {
        "role": "assistant",
        "content": "Done. No more.",
        "custom_content": {
            "stages": [
                {"name": "Thinking", "status": "completed", "content": "First this."},
                {"name": "Search", "status": "completed"},
                {"name": "Thinking", "status": "completed", "content": "Then that."},
            ]
        },
    }


def test_an_answer_that_only_refuses_has_no_text():
    message = message_of([RefusalDelta("No."), RunFinished()])

    assert message == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
        "annotations": [],
    }


def test_cached_tokens_and_those_for_thinking_are_told_where_they_are_known():
    chunk = json.loads(OPENAI.encoder("app").encode(THINKING[-1:])[6:])

    assert chunk["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_log_probabilities_stand_beside_the_text_of_a_chunk_and_add_up_in_a_whole_answer():
    other = {"token": "He", "logprob": -1.5, "bytes": None}
    first = {"token": "It", "logprob": -0.5, "bytes": [73, 116], "top_logprobs": [other]}
    second = {"token": " is", "logprob": -0.25, "bytes": None, "top_logprobs": []}
    it = TokenLogprob("It", -0.5, (73, 116), (TokenLogprob("He", -1.5),))
    refused = TokenLogprob(" is", -0.25, is_refusal=True)
    said = [TextDelta("It", (it,)), TextDelta(" is", (refused,)), TextDelta(".")]
    events: list[Event] = [*said, RunFinished("stop")]
    completion = OPENAI.whole("app")

    frames = OPENAI.encoder("m").encode(events).decode().split("\n\n")[:3]
    completion.feed(events)

    choices = [json.loads(frame.removeprefix("data: "))["choices"][0] for frame in frames]
    assert [(choice["delta"], choice.get("logprobs")) for choice in choices] == [
        ({"content": "It"}, {"content": [first], "refusal": None}),
        ({"content": " is"}, {"content": None, "refusal": [second]}),
        ({"content": "."}, None),
    ]
    (whole,) = json.loads(completion.body())["choices"]
    assert whole["logprobs"] == {"content": [first], "refusal": [second]}
