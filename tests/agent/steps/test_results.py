"""A recorded step is unchanged after serialization as JSON."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.agent.calls import ToolOutcome
from apps.agent.events import ModelUsage
from apps.agent.messages import Attachment, ModelMessage, Thoughts, ToolCall
from apps.agent.model import Reply
from apps.agent.progress import Allowance, Progress, RunAnswer, RunConversation
from apps.agent.steps.results import (
    RecordedOpening,
    RecordedOutcome,
    RecordedRecovery,
    RecordedReply,
    read_opening,
    read_outcome,
    read_recovery,
    read_reply,
    write_outcome,
    write_record,
    write_recovery,
    write_reply,
)
from apps.agent.tools import ToolResult
from apps.errors import InvalidParameter, Stopped, ToolError

words = st.text(max_size=6)
numbers = st.integers(-(2**53), 2**53)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(words, values, max_size=2)
attachments = st.builds(Attachment, *[words] * 2, *[st.none() | words] * 4)
usages = st.builds(ModelUsage, words, numbers, numbers, *[st.none() | numbers] * 3)
messages = st.builds(
    ModelMessage,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    words | st.lists(objects, max_size=2).map(tuple),
    st.lists(st.builds(ToolCall, words, words, words), max_size=2).map(tuple),
    st.none() | words,
    st.lists(attachments, max_size=2).map(tuple),
    objects,
    objects,
    st.none() | st.builds(Thoughts, st.dictionaries(words, words, max_size=2), words),
    objects,
    words,
)
replies = st.builds(
    Reply,
    messages,
    words,
    st.lists(usages, max_size=2).map(tuple),
    st.lists(objects, max_size=2).map(tuple),
)
results = st.builds(
    ToolResult,
    words,
    words,
    *[st.lists(attachments, max_size=2).map(tuple)] * 3,
    st.lists(objects, max_size=2).map(tuple),
    objects,
    st.lists(usages, max_size=2).map(tuple),
)


def stored(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(result))
    return found


@given(replies, numbers, numbers)
def test_an_answer_of_a_model_reads_as_it_was(reply, left, data):
    allowance = Allowance()
    allowance.left, allowance.data = left, data

    assert read_reply(stored(write_reply(reply, allowance))) == RecordedReply(reply, left, data)


@given(results, st.lists(usages, max_size=2).map(tuple), st.sampled_from([None, "call", "open"]))
def test_a_result_of_a_tool_reads_as_it_was(result, spent, failed):
    outcome = ToolOutcome(result, failed, "why")

    recorded = read_outcome(stored(write_outcome(outcome, spent)))

    assert recorded == RecordedOutcome(result, failed, "why", spent=spent)
    assert recorded.outcome == outcome


@given(st.lists(messages, max_size=2).map(tuple), objects, objects)
def test_what_a_model_is_first_asked_with_reads_as_it_was(asked, parameters, saved):
    opening = RecordedOpening(asked, parameters, saved)

    assert read_opening(stored(write_record(opening))) == opening


@given(
    st.lists(messages, max_size=2).map(tuple),
    st.lists(usages, max_size=2),
    st.lists(words, max_size=2, unique=True),
)
def test_a_rewritten_conversation_reads_as_it_was(asked, usage, shown):
    progress = Progress(RunConversation(asked), RunAnswer(["Half"], set(shown)), usage=usage)
    left, data = progress.answer.allowance.left, progress.answer.allowance.data

    recorded = read_recovery(stored(write_recovery(progress)))

    assert recorded == RecordedRecovery(asked, ["Half"], usage, sorted(shown), left, data)


def test_errors_keep_their_texts():
    error, stopped = InvalidParameter("city", "it is empty."), Stopped("Enough.")
    outcome = ToolOutcome(ToolResult("No.", failure=error), "arguments", str(error), stopped)

    found = read_outcome(stored(write_outcome(outcome))).outcome

    assert (found.failed, found.error) == ("arguments", str(error))
    assert isinstance(found.result.failure, ToolError)
    assert str(found.result.failure) == str(error)
    assert str(found.stopped) == "Enough."
