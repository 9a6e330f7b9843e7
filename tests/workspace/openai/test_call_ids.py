"""Services that accept only some IDs of tool calls get others after they have refused one."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from apps.agent.events import TextDelta
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import ModelRequest
from apps.errors import ModelFailed
from tests.tables import each_row
from tests.workspace.openai.service import DONE, answer, chunked, finish, service, text
from tests.workspace.openai.test_model import ask, model_of

pytestmark = pytest.mark.usefixtures("loopback")

KIMI = "functions.internal_timeawareness_current_timestamp:0"
OWN = "D681PevKs"
CONVERSATION = ModelRequest(
    (
        ModelMessage("user", "Hi"),
        ModelMessage(
            "assistant", tool_calls=(ToolCall(KIMI, "look", "{}"), ToolCall(OWN, "look", "{}"))
        ),
        ModelMessage("tool", "one", tool_call_id=KIMI),
        ModelMessage("tool", "two", tool_call_id=OWN),
    )
)
OPENAI = {
    "error": {
        "message": "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string "
        "with maximum length 40, but got a string with length 52 instead.",
        "type": "invalid_request_error",
        "param": "messages[1].tool_calls[0].id",
        "code": "string_above_max_length",
    }
}
MISTRAL = {
    "object": "error",
    "message": f"Tool call id was {KIMI} but must be a-z, A-Z, 0-9, with a length of 9.",
    "type": "invalid_function_call",
    "code": "3280",
}
TEMPLATE = {"message": "Tool call IDs should be alphanumeric strings with length 9!"}
BEDROCK = {
    "message": "Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy "
    "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+"
}
UNANSWERED = {
    "error": {
        "message": "An assistant message with 'tool_calls' must be followed by tool messages "
        "responding to each 'tool_call_id'. The following tool_call_ids did not have response "
        "messages: call_1"
    }
}


def refusal(error: dict[str, Any], status: str = "400 Bad Request") -> list[Any]:
    return answer(status, msgspec.json.encode(error))


def ids_in(body: dict[str, Any]) -> list[str]:
    """Return the IDs of the calls, and those that the results name."""
    _, asked, *results = body["messages"]
    return [call["id"] for call in asked["tool_calls"]] + [one["tool_call_id"] for one in results]


@each_row(
    ("error", "status"),
    [
        (OPENAI, "400 Bad Request"),
        (MISTRAL, "400 Bad Request"),
        (MISTRAL, "422 Unprocessable Entity"),
        (TEMPLATE, "500 Internal Server Error"),
        (BEDROCK, "400 Bad Request"),
    ],
)
async def test_a_service_that_refuses_an_id_gets_nine_letters_and_digits(error: Any, status: str):
    said = chunked(text("Hello"), finish(), DONE)

    async with service(refusal(error, status), said, said) as running:
        first = await ask(model_of(running), CONVERSATION)
        second = await ask(model_of(running), CONVERSATION)

    assert TextDelta("Hello") in first
    assert TextDelta("Hello") in second
    refused, *sent = [ids_in(body) for _, body in running.requests]
    assert refused == [KIMI, OWN, KIMI, OWN]
    plain = sent[0][0]
    assert re.fullmatch("[a-zA-Z0-9]{9}", plain)
    assert sent == [[plain, OWN, plain, OWN]] * 2


async def test_other_services_get_the_ids_unchanged():
    said = chunked(text("Hello"), finish(), DONE)

    async with service(refusal(OPENAI), said) as strict, service(said) as other:
        await ask(model_of(strict), CONVERSATION)
        await ask(model_of(other), CONVERSATION)

    assert [ids_in(body) for _, body in other.requests] == [[KIMI, OWN, KIMI, OWN]]


async def test_another_error_about_calls_is_not_retried():
    async with service(refusal(UNANSWERED), chunked(text("no"), finish(), DONE)) as running:
        with pytest.raises(ModelFailed):
            await ask(model_of(running), CONVERSATION)

    assert len(running.requests) == 1


async def test_a_second_refusal_is_raised():
    async with service(refusal(MISTRAL), refusal(OPENAI)) as running:
        with pytest.raises(ModelFailed, match="400"):
            await ask(model_of(running), CONVERSATION)

    assert len(running.requests) == 2
