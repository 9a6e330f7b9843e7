"""The vendor's SDK as an oracle: it sends what QuickApps sends, and reads what it reads."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from apps.agent.answers.assembly import Assembly
from apps.agent.messages import ModelMessage, Thoughts, ToolCall
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.transport import StreamTransport
from apps.workspace.responses.kept_items import assistant_items, kept_items
from apps.workspace.responses.model import make_responses_model
from tests.contract import proves
from tests.workspace.openai.service import Service, service
from tests.workspace.responses.wire import (
    CITED,
    SEARCH,
    call,
    message,
    reasoning,
    response,
    streamed,
)

pytestmark = pytest.mark.usefixtures("loopback")

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
ANSWER = [
    reasoning("**Look** first.", "Then tell."),
    SEARCH,
    message("Grüße aus Rīga 🎉.", "msg_1", CITED),
    call("c1"),
    call("c2", arguments='{"city": "Žilina"}'),
]


async def ask_by_sdk(running: Service, **fields: Any) -> list[Any]:
    transport = StreamTransport(Trust.OPERATOR)
    async with make_sdk_client(transport, {"Accept-Encoding": "identity"}) as http_client:
        client = openai.AsyncOpenAI(
            base_url=running.url, api_key="key-1", http_client=http_client, max_retries=0
        )
        stream = await client.responses.create(model="m", stream=True, **fields)
        return [event async for event in stream]


async def ask(running: Service, request: ModelRequest) -> Assembly:
    assembly = Assembly(lambda event: None)
    async for batch in make_responses_model(
        base_url=running.url, api_key="key-1", model="m"
    ).stream(request):
        for delta in batch:
            assembly.feed(delta)
    return assembly


@proves("T-52")
async def test_a_conversation_is_sent_as_the_sdk_sends_it():
    """The conversation is written with the SDK's types: `ResponseCreateParamsStreaming` and its
    items."""
    kept = kept_items([(reasoning("Hm."), 0), (message("I look."), 7), (call("c1"), 0)])
    request = ModelRequest(
        (
            ModelMessage("system", "Be brief."),
            ModelMessage(
                "user",
                (
                    {"type": "text", "text": "See."},
                    {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:;base64,J"}},
                ),
            ),
            ModelMessage(
                "assistant",
                "I look.",
                tool_calls=(ToolCall("c1", "weather", '{"city": "Riga"}'),),
                thoughts=Thoughts({"response_items": kept}, "gpt"),
            ),
            ModelMessage("tool", "Riga: 12", tool_call_id="c1"),
            ModelMessage("assistant", "12 degrees"),
            ModelMessage("user", "Thanks"),
        ),
        [ToolSpec("weather", "Tells the weather.", SCHEMA, strict=True)],
        {
            "temperature": 0.5,
            "max_completion_tokens": 900,
            "reasoning_effort": "low",
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
            "parallel_tool_calls": False,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
            },
            "verbosity": "low",
            "metadata": {"case": "7"},
            "safety_identifier": "ann",
            "service_tier": "flex",
        },
        [{"type": "static_function", "static_function": {"name": "web_search"}}],
    )

    async with service(streamed(message("a")), streamed(message("a"))) as running:
        await ask(running, request)
        await ask_by_sdk(
            running,
            store=False,
            instructions="Be brief.",
            input=[
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "See."},
                        {"type": "input_image", "image_url": PICTURE, "detail": "low"},
                        {
                            "type": "input_file",
                            "filename": "a.pdf",
                            "file_data": "data:;base64,J",
                        },
                    ],
                },
                reasoning("Hm."),
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
                },
                {
                    "type": "function_call",
                    "id": "fc_c1",
                    "call_id": "c1",
                    "name": "weather",
                    "arguments": '{"city": "Riga"}',
                },
                {"type": "function_call_output", "call_id": "c1", "output": "Riga: 12"},
                {"role": "assistant", "content": "12 degrees"},
                {"role": "user", "content": "Thanks"},
            ],
            tools=[
                {
                    "type": "function",
                    "name": "weather",
                    "description": "Tells the weather.",
                    "parameters": SCHEMA,
                    "strict": True,
                },
                {"type": "web_search"},
            ],
            tool_choice={"type": "function", "name": "weather"},
            parallel_tool_calls=False,
            temperature=0.5,
            max_output_tokens=900,
            reasoning={"effort": "low", "summary": "auto"},
            include=["reasoning.encrypted_content"],
            text={
                "format": {
                    "type": "json_schema",
                    "name": "place",
                    "schema": SCHEMA,
                    "strict": True,
                },
                "verbosity": "low",
            },
            metadata={"case": "7"},
            safety_identifier="ann",
            service_tier="flex",
        )

    (our_headers, ours), (their_headers, theirs) = running.requests
    assert ours == theirs
    marks = {
        name: value for name, value in their_headers.items() if name.startswith("x-stainless-")
    }
    told = {"user-agent": "QuickApps", "accept": "text/event-stream"}
    length = {"content-length": our_headers["content-length"]}
    # The SDK names itself, accepts JSON although it streams, and writes longer JSON.
    assert our_headers | marks == their_headers | told | length


def test_what_is_kept_of_an_answer_is_sent_as_items_of_the_sdks_types():
    lengths = {"message": 17}
    kept = kept_items((item, lengths.get(item["type"], 0)) for item in ANSWER)
    answered = ModelMessage(
        "assistant",
        "Grüße aus Rīga 🎉.",
        tool_calls=(ToolCall("c1", "weather", "{}"), ToolCall("c2", "weather", "{}")),
        thoughts=Thoughts({"response_items": kept}, "gpt"),
    )

    items = TypeAdapter(ResponseInputParam).validate_python(list(assistant_items(answered)))

    assert [item["type"] for item in items] == [item["type"] for item in ANSWER]


@proves("T-52", "T-53")
async def test_an_answer_is_read_as_the_sdk_reads_it():
    request = ModelRequest((ModelMessage("user", "Hi"),))

    async with service(streamed(*ANSWER), streamed(*ANSWER)) as running:
        read = (await ask(running, request)).reply("m")
        *events, last = await ask_by_sdk(running, input="Hi")

    assert last.type == "response.completed"
    whole = last.response
    calls = [item for item in whole.output if item.type == "function_call"]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert read.message.text == whole.output_text == "".join(deltas)
    assert read.message.tool_calls == tuple(
        ToolCall(item.call_id, item.name, item.arguments) for item in calls
    )
    (used,) = read.usage
    assert (used.input, used.output, used.cached, used.created, used.reasoning) == (
        whole.usage.input_tokens,
        whole.usage.output_tokens,
        whole.usage.input_tokens_details.cached_tokens,
        whole.usage.input_tokens_details.cache_write_tokens,
        whole.usage.output_tokens_details.reasoning_tokens,
    )
    (annotation,) = read.annotations
    (cited,) = whole.output[2].content[0].annotations
    assert {"type": cited.type, **annotation["url_citation"]} == cited.model_dump()
    assert response(*ANSWER)["output"] == [
        item.model_dump(exclude_unset=True) for item in whole.output
    ]
