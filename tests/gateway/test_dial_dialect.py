from __future__ import annotations

import pytest

from apps.errors import BadRequest
from apps.gateway.chat_requests import Call, ChatMessage, FunctionCall
from apps.gateway.dial_dialect import check_order, read, violations
from tests.runs.test_run import application
from tests.tables import table

S, D, U, A, T, F = (
    ChatMessage(role) for role in ("system", "developer", "user", "assistant", "tool", "function")
)


def asks(*ids: str, name: str = "weather") -> ChatMessage:
    return ChatMessage("assistant", tool_calls=[Call(id, FunctionCall(name)) for id in ids])


def result(call_id: str | None) -> ChatMessage:
    return ChatMessage("tool", "12 degrees", tool_call_id=call_id)


@table(
    "messages",
    [
        [U],
        [S, U],
        [D, U],
        [U, A, U],
        [S, U, A, U, A, U],
        [U, asks("1"), result("1")],
        [U, asks("1", "2"), result("2"), result("1")],
        [U, asks("1"), result("1"), U],
        [U, asks("1"), result("1"), A, U],
        [U, asks("1"), result("1"), asks("2"), result("2")],
    ],
)
def test_a_conversation_in_order_is_accepted(messages):
    check_order(messages, {"weather"})


def test_r0_an_empty_array_is_told_alone():
    assert violations([], ()) == ["Messages array must not be empty."]


def test_r1_system_comes_first_or_not_at_all_and_is_told_alone():
    assert violations([U, S, U, D, A], ()) == [
        "Message at index 1: role 'system' is only allowed at index 0.",
        "Message at index 3: role 'developer' is only allowed at index 0.",
    ]


def test_r2_a_system_message_alone_asks_nothing():
    assert violations([S], ()) == ["Messages array must contain at least one user message."]


@pytest.mark.parametrize(
    ("written", "most"),
    [("", None), (', "max_prompt_tokens": 50', 50), (', "max_prompt_tokens": "infinity"', None)],
)
def test_a_limit_for_the_prompt_is_read(written, most):
    _, prepare = read(b'{"messages": [{"role": "user", "content": "Hm?"}]%b}' % written.encode())

    assert prepare(application()).request.max_prompt_tokens == most


@pytest.mark.parametrize("written", ["0", '"many"', "-5", "1.5"])
def test_a_limit_that_is_none_is_refused_by_name(written):
    body = b'{"messages": [{"role": "user", "content": "Hm?"}], "max_prompt_tokens": %b}'

    with pytest.raises(BadRequest, match="max_prompt_tokens"):
        read(body % written.encode())


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([A, U], ["Message at index 0: expected role 'user', got 'assistant'."]),
        ([S, A, U], ["Message at index 1: expected role 'user', got 'assistant'."]),
        ([U, U], ["Message at index 1: expected role 'assistant', got 'user'."]),
        ([U, U, A, U], ["Message at index 1: expected role 'assistant', got 'user'."]),
        ([U, A, A, U], ["Message at index 2: expected role 'user', got 'assistant'."]),
        (
            [U, U, U],
            [
                "Message at index 1: expected role 'assistant', got 'user'.",
                "Message at index 2: expected role 'assistant', got 'user'.",
            ],
        ),
        ([U, F, U], ["Message at index 1: expected role 'assistant', got 'function'."]),
    ],
)
def test_r3_user_and_assistant_take_turns_and_one_slip_is_told_once(messages, told):
    assert violations(messages, ()) == told


@pytest.mark.parametrize("before", [[U, A], [U], [U, A, U]])
def test_r4_a_tool_message_answers_an_assistant_that_called(before):
    assert violations([*before, result("1")], {"weather"}) == [
        f"Message at index {len(before)}: role 'tool' is only allowed immediately after "
        "an assistant message with tool_calls."
    ]


@pytest.mark.parametrize(("messages", "role"), [([U, A], "assistant"), ([S, U, A], "assistant")])
def test_r5_the_client_has_the_last_word(messages, role):
    index = len(messages) - 1
    assert violations(messages, ()) == [
        f"Messages must end with a user or tool message, but index {index} has role '{role}'."
    ]


@pytest.mark.parametrize("call_id", [None, ""])
def test_r6_a_tool_message_names_its_call(call_id):
    assert violations([U, asks("1"), result(call_id)], {"weather"}) == [
        "Message at index 2: tool message must have a tool_call_id."
    ]


def test_r7_a_tool_message_names_a_call_of_the_assistant_before_it():
    messages = [U, asks("1"), result("1"), U, asks("2"), result("1")]

    assert violations(messages, {"weather"}) == [
        "Message at index 5: tool_call_id '1' does not match any tool call "
        "in the preceding assistant message."
    ]


def test_a_client_cannot_answer_for_a_tool_that_is_not_its_own():
    assert violations([U, asks("1", name="search"), result("1")], {"weather"}) == [
        "Message at index 2: 'search' is not among the request's 'tools'; "
        "results of other tools are internal to the orchestrator."
    ]


def test_what_a_client_wrote_is_told_back_in_short():
    with pytest.raises(BadRequest) as refused:
        check_order([U, asks("1"), *[result("x" * 100_000)] * 5000], {"weather"})

    assert len(str(refused.value)) < 30_000
    assert str(refused.value).endswith("\n- … and 4900 more")


def test_all_violations_are_told_at_once():
    with pytest.raises(BadRequest) as refused:
        check_order([A, T, U, A], ())

    assert refused.value.message == "Invalid messages array"
    assert str(refused.value) == (
        "Invalid messages array:\n"
        "- Message at index 0: expected role 'user', got 'assistant'.\n"
        "- Message at index 1: role 'tool' is only allowed immediately after "
        "an assistant message with tool_calls.\n"
        "- Message at index 1: tool message must have a tool_call_id.\n"
        "- Messages must end with a user or tool message, but index 3 has role 'assistant'."
    )


@pytest.mark.parametrize(
    "messages",
    [
        [U, asks("1", "2"), result("1")],
        [U, asks("1", "2"), result("1"), U],
    ],
)
def test_every_call_of_a_client_tool_needs_its_result(messages):
    with pytest.raises(BadRequest) as refused:
        check_order(messages, {"weather"})

    assert str(refused.value) == (
        "Missing tool results:\n"
        "- Missing tool result: message at index 1 calls tool 'weather' (tool call id '2'), "
        "and no tool message after it has the result."
    )


def test_a_question_instead_of_a_result_is_refused():
    with pytest.raises(BadRequest, match=r"Missing tool result.*'weather'.*'1'"):
        check_order([U, asks("1"), U], {"weather"})


def test_calls_of_internal_tools_need_no_result():
    calls = [Call("1", FunctionCall("weather")), Call("2", FunctionCall("search"))]
    mixed = ChatMessage("assistant", tool_calls=calls)

    check_order([U, mixed, result("1")], {"weather"})
