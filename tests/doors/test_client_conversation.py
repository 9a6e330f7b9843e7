from __future__ import annotations

import pytest

from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.tools import ToolSpec
from apps.doors.client_conversation import (
    ChatMessage,
    FunctionCall,
    ParsedConversation,
    RequestedCall,
    read_conversation,
)
from apps.errors import BadRequest
from tests.tables import each_row

WEATHER = {"weather": ToolSpec("weather", "", {"type": "object"})}
HELLO = ChatMessage("user", "Hello")
STORED = [
    {"role": "assistant", "tool_calls": [{"id": "s", "function": {"name": "own", "arguments": "{}"}}]},
    {"role": "tool", "content": "7", "tool_call_id": "s"},
]  # fmt: skip


def asks(*names: str, text: str | None = None, role: str = "assistant") -> ChatMessage:
    calls = [RequestedCall(name, FunctionCall(name, '{"a": 1}')) for name in names]
    return ChatMessage(role, text, tool_calls=calls)  # type: ignore[arg-type]


def result(name: str, content="12", **fields) -> ChatMessage:
    return ChatMessage("tool", content, tool_call_id=name, **fields)


def made(name: str) -> ToolCall:
    return ToolCall(name, name, '{"a": 1}')


def read(*messages: ChatMessage) -> ParsedConversation:
    return read_conversation(messages, WEATHER)


def refusal(*messages: ChatMessage) -> str:
    with pytest.raises(BadRequest) as refused:
        read(*messages)
    return str(refused.value)


def test_system_messages_are_instructions_wherever_they_stand():
    found = read(
        ChatMessage("system", "A"),
        HELLO,
        ChatMessage("developer", [{"type": "text", "text": "B"}, {"type": "text", "text": "C"}]),
        ChatMessage("system", " "),
        ChatMessage("system"),
    )

    assert found == ParsedConversation((ModelMessage("user", "Hello"),), "A\n\nB\nC", frozenset())


def test_results_of_other_tools_stand_behind_those_of_the_clients():
    found = read(
        HELLO, asks("news", "weather", "shop", text="Wait"), result("news"), result("weather")
    )

    assert found.messages == (
        ModelMessage("user", "Hello"),
        ModelMessage("assistant", "Wait", tool_calls=(made("weather"),)),
        ModelMessage("tool", "12", tool_call_id="weather"),
        ModelMessage(
            "user",
            '[Result of the tool call news({"a": 1})]\n12\n\n'
            '[The tool call shop({"a": 1}) has no result.]',
        ),
    )
    assert found.textual_results == {"news"}


def test_a_result_may_have_parts_and_attachments():
    attachment = {"type": "text/plain", "title": "T", "url": "files/b/t"}
    image = {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}

    found = read(
        HELLO,
        asks("news"),
        result("news", [image], custom_content={"attachments": [attachment]}),
    )

    head = {"type": "text", "text": '[Result of the tool call news({"a": 1})]'}
    assert found.messages == (
        ModelMessage(
            "user",
            ({"type": "text", "text": "Hello"}, head, image),
            attachments=(Attachment("text/plain", "T", url="files/b/t"),),
        ),
    )


def test_arguments_of_a_foreign_call_are_told_in_short():
    call = RequestedCall("1", FunctionCall("news", "x" * 100_000))

    found = read(HELLO, ChatMessage("assistant", tool_calls=[call]))

    assert len(found.messages[0].text) < 3000


def test_arguments_of_a_clients_call_are_the_text_of_an_object():
    written = ("", None, {"a": 1}, '{"a": 1}', '{"a"')
    calls = [RequestedCall(str(n), FunctionCall("weather", one)) for n, one in enumerate(written)]

    found = read(HELLO, ChatMessage("assistant", tool_calls=calls))

    assert [call.arguments for call in found.messages[1].tool_calls] == [
        "{}",
        "{}",
        '{"a": 1}',
        '{"a": 1}',
        '{"unreadable_arguments":"{\\"a\\""}',
    ]


@pytest.mark.parametrize("arguments", ["", None, {}])
def test_arguments_in_a_state_become_the_text_of_an_object(arguments):
    call = {"id": "s", "function": {"name": "own", "arguments": arguments}}
    stored = [{"role": "assistant", "tool_calls": [call]}, STORED[1]]
    answered = ChatMessage(
        "assistant", "7", custom_content={"state": {"tool_execution_history": stored}}
    )

    found = read(HELLO, answered, HELLO)

    assert found.messages[1].tool_calls == (ToolCall("s", "own", "{}"),)


def test_what_the_applications_tools_brought_comes_back_in_its_place():
    answered = ChatMessage(
        "assistant", "7", custom_content={"state": {"tool_execution_history": STORED}}
    )

    found = read(HELLO, ChatMessage("assistant", "Well"), answered, HELLO)

    assert found.messages == (
        ModelMessage("user", "Hello"),
        ModelMessage("assistant", "Well", tool_calls=(ToolCall("s", "own", "{}"),)),
        ModelMessage("tool", "7", tool_call_id="s"),
        ModelMessage("assistant", "7"),
        ModelMessage("user", "Hello"),
    )  # fmt: skip


def test_a_refusal_is_what_the_assistant_said():
    found = read(HELLO, ChatMessage("assistant", refusal="No."), HELLO)

    assert found.messages[1] == ModelMessage("assistant", "No.")


def test_calls_that_are_no_assistants_are_left_out():
    found = read(asks("weather", text="Hello", role="user"))

    assert found.messages == (ModelMessage("user", "Hello"),)


@each_row(
    ("messages", "told"),
    [
        ([], "- Messages array must not be empty."),
        ([HELLO, result("1")], "- Message at index 1: tool_call_id '1' does not match"),
        ([asks("a"), HELLO, result("a")], "- Message at index 2: tool_call_id 'a' does not match"),
        ([asks("a", role="user"), result("a")], "index 1: tool_call_id 'a' does not match"),
        ([HELLO, result("")], "- Message at index 1: tool message must have a tool_call_id."),
        ([ChatMessage("function", "1")], "on path messages.0.role. Legacy functions"),
        ([ChatMessage("assistant", function_call={})], "on path messages.0.function_call. Legacy"),
        ([HELLO, ChatMessage("assistant", audio={"id": "1"})], "on path messages.1.audio. "),
        ([ChatMessage("user", "1", name=5)], "on path messages.0.name. Send a string or null."),
        ([ChatMessage("assistant", refusal=[])], "on path messages.0.refusal. Send"),
        ([ChatMessage("system", [{"type": "image_url"}])], "on path messages.0.content.0.type. "),
    ],
)
def test_what_openai_refuses_is_refused_with_the_reason(messages, told):
    assert told in refusal(*messages)
