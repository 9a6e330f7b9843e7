from __future__ import annotations

import pytest

from apps.doors.client_conversation import ChatMessage, FunctionCall, RequestedCall
from apps.errors import BadRequest
from apps.gateway.dial_dialect import check_order, parse, prepare, violations
from tests.runs.test_run import application
from tests.tables import each_row

S, D, U, A, T, F = (
    ChatMessage(role) for role in ("system", "developer", "user", "assistant", "tool", "function")
)


def asks(*ids: str, name: str = "weather") -> ChatMessage:
    return ChatMessage(
        "assistant", tool_calls=[RequestedCall(id, FunctionCall(name)) for id in ids]
    )


def result(call_id: str | None) -> ChatMessage:
    return ChatMessage("tool", "12 degrees", tool_call_id=call_id)


@each_row(
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


USER_EXPECTED = "expected role 'user', got 'assistant'."
ASSISTANT_EXPECTED = "expected role 'assistant', got 'user'."
TOO_LATE = "role 'tool' is only allowed immediately after an assistant message with tool_calls."
LAST_WORD = "Messages must end with a user or tool message, but index "
NO_ID = "tool message must have a tool_call_id."
NO_SUCH_CALL = "tool_call_id '1' does not match any tool call in the preceding assistant message."
INTERNAL = (
    "'search' is not among the request's 'tools'; results of other tools are internal to the "
    "orchestrator."
)


@each_row(
    ("rule", "messages", "violated"),
    [
        ("R0: is told alone", [], ["Messages array must not be empty."]),
        (
            "R1: system comes first or not at all, and is told alone",
            [U, S, U, D, A],
            [
                "Message at index 1: role 'system' is only allowed at index 0.",
                "Message at index 3: role 'developer' is only allowed at index 0.",
            ],
        ),
        ("R2", [S], ["Messages array must contain at least one user message."]),
        ("R3: they take turns", [A, U], [f"Message at index 0: {USER_EXPECTED}"]),
        ("R3", [S, A, U], [f"Message at index 1: {USER_EXPECTED}"]),
        ("R3", [U, U], [f"Message at index 1: {ASSISTANT_EXPECTED}"]),
        ("R3: one slip is told once", [U, U, A, U], [f"Message at index 1: {ASSISTANT_EXPECTED}"]),
        ("R3", [U, A, A, U], [f"Message at index 2: {USER_EXPECTED}"]),
        ("R3", [U, U, U], [f"Message at index {n}: {ASSISTANT_EXPECTED}" for n in (1, 2)]),
        ("R3", [U, F, U], ["Message at index 1: expected role 'assistant', got 'function'."]),
        ("R4", [U, A, result("1")], [f"Message at index 2: {TOO_LATE}"]),
        ("R4", [U, result("1")], [f"Message at index 1: {TOO_LATE}"]),
        ("R4", [U, A, U, result("1")], [f"Message at index 3: {TOO_LATE}"]),
        ("R5", [U, A], [f"{LAST_WORD}1 has role 'assistant'."]),
        ("R5", [S, U, A], [f"{LAST_WORD}2 has role 'assistant'."]),
        ("R6", [U, asks("1"), result(None)], [f"Message at index 2: {NO_ID}"]),
        ("R6", [U, asks("1"), result("")], [f"Message at index 2: {NO_ID}"]),
        (
            "R7: it answers the assistant before it",
            [U, asks("1"), result("1"), U, asks("2"), result("1")],
            [f"Message at index 5: {NO_SUCH_CALL}"],
        ),
        (
            "a client cannot answer for a tool that is not its own",
            [U, asks("1", name="search"), result("1")],
            [f"Message at index 2: {INTERNAL}"],
        ),
    ],
)
def test_a_conversation_out_of_order_is_told_rule_by_rule(rule, messages, violated):
    assert violations(messages, {"weather"}) == violated


@pytest.mark.parametrize(
    ("written", "most"),
    [("", None), (', "max_prompt_tokens": 50', 50), (', "max_prompt_tokens": "infinity"', None)],
)
def test_a_limit_for_the_prompt_is_read(written, most):
    asked = parse(b'{"messages": [{"role": "user", "content": "Hm?"}]%b}' % written.encode())

    assert prepare(asked, application()).request.max_prompt_tokens == most


@pytest.mark.parametrize("written", ["0", '"many"', "-5", "1.5"])
def test_a_limit_that_is_none_is_refused_by_name(written):
    body = b'{"messages": [{"role": "user", "content": "Hm?"}], "max_prompt_tokens": %b}'

    with pytest.raises(BadRequest, match="max_prompt_tokens"):
        parse(body % written.encode())


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
    calls = [
        RequestedCall("1", FunctionCall("weather")),
        RequestedCall("2", FunctionCall("search")),
    ]
    mixed = ChatMessage("assistant", tool_calls=calls)

    check_order([U, mixed, result("1")], {"weather"})
