"""The vendor's own SDK as an oracle: it sends what QuickApps sends, and reads what it reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from apps.agent.events import TextDelta, Usage
from apps.agent.messages import ModelMessage, Thoughts, ToolCall
from apps.agent.model import ModelRequest, ReasoningDelta, ToolCallDelta
from apps.agent.tools import ToolSpec
from apps.errors import ModelFailed
from apps.workspace.anthropic.kept_blocks import PART
from apps.workspace.anthropic.model import make_anthropic_model
from tests.contract import proves
from tests.workspace.anthropic import wire
from tests.workspace.openai.service import Service, answer, chunked, service

pytestmark = pytest.mark.usefixtures("loopback")

anthropic = pytest.importorskip("anthropic")  # its import takes more than a second

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = "iVBORw0KGgo="
ANSWER = (
    wire.start(cache_read_input_tokens=3, cache_creation_input_tokens=2)
    + wire.PING
    + wire.thought_block("Hm", "m.")
    + wire.text_block("I ", "look é 🎉.", index=1)
    + wire.call_block("toolu_1", "weather", '{"city"', ': "Riga"}', index=2)
    + wire.finish("tool_use")
    + wire.DONE
)


def client_of(running: Service) -> Any:
    return anthropic.AsyncAnthropic(
        api_key="key-1", base_url=running.url.removesuffix("/v1"), max_retries=0
    )


OURS = ModelRequest(
    (
        ModelMessage("system", "Be kind."),
        ModelMessage(
            "user",
            (
                {"type": "text", "text": "What is this?"},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{PICTURE}"},
                },
            ),
        ),
        ModelMessage(
            "assistant",
            "I look.",
            tool_calls=(ToolCall("toolu_1", "weather", '{"city":"Riga"}'),),
            thoughts=Thoughts(
                {PART: json.dumps([THOUGHT, {"type": "text", "length": 7}, {"type": "tool_use"}])}
            ),
        ),
        ModelMessage("tool", "12", tool_call_id="toolu_1"),
        ModelMessage("user", "And now?"),
    ),
    [ToolSpec("weather", "Tells the weather.", SCHEMA)],
    {
        "max_tokens": 8000,
        "stop": ["END"],
        "reasoning_effort": "high",
        "parallel_tool_calls": False,
        "user": "u-1",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": {"type": "object"}},
        },
    },
    [SEARCH],
)

THEIRS: dict[str, Any] = {
    "model": "claude-opus-5",
    "max_tokens": 8000,
    "system": [{"type": "text", "text": "Be kind.", **MARK}],
    "stop_sequences": ["END"],
    "metadata": {"user_id": "u-1"},
    "thinking": {"type": "adaptive", "display": "summarized"},
    "output_config": {
        "effort": "high",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    },
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "tools": [
        {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA},
        {**SEARCH, **MARK},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "text", "text": "I look."},
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "weather",
                    "input": {"city": "Riga"},
                    **MARK,
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "12"}],
                },
                {"type": "text", "text": "And now?"},
            ],
        },
    ],
    "stream": True,
}

OTHER_HEADERS = {
    "accept": "We ask for a stream of events, the SDK for JSON.",
    "accept-encoding": "We unpack nothing.",
    "user-agent": "Of the program.",
    "quickapps-request": "The service of the test is on a host of the site.",
}
"""Headers that differ from the SDK's, with the reasons."""


@proves("T-52")
async def test_what_is_sent_is_what_the_sdk_sends():
    async with service(chunked(ANSWER), chunked(ANSWER)) as running:
        own = make_anthropic_model(base_url=running.url, api_key="key-1", model="claude-opus-5")
        async for _ in own.stream(OURS):
            pass
        async with client_of(running) as client:
            async for _ in await client.messages.create(**THEIRS):
                pass

    (our_headers, ours), (their_headers, theirs) = running.requests
    assert ours == theirs
    assert other_headers(our_headers, their_headers) == set(OTHER_HEADERS)


def other_headers(ours: dict[str, str], theirs: dict[str, str]) -> set[str]:
    """Return the headers without those about the machine and the content length."""
    names = ours.keys() | theirs.keys()
    different = {name for name in names if ours.get(name) != theirs.get(name)}
    return {n for n in different if not n.startswith("x-stainless-") and n != "content-length"}


@proves("T-52")
async def test_the_sdk_reads_in_the_answer_what_we_read():
    async with service(chunked(ANSWER), chunked(ANSWER)) as running:
        own = make_anthropic_model(base_url=running.url, api_key="key-1", model="m")
        deltas = [delta async for batch in own.stream(OURS) for delta in batch]
        async with client_of(running) as client:
            question = {k: v for k, v in THEIRS.items() if k not in ("stream", "output_config")}
            async with client.messages.stream(**question) as stream:
                message = await stream.get_final_message()

    thinking, text, use = message.content
    calls = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    usage = next(delta for delta in reversed(deltas) if isinstance(delta, Usage))
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == text.text
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == thinking.thinking
    assert json.loads("".join(call.arguments for call in calls)) == use.input
    assert (calls[0].id, calls[0].name) == (use.id, use.name)
    spent = message.usage
    assert (usage.cached, usage.created, usage.output) == (
        spent.cache_read_input_tokens,
        spent.cache_creation_input_tokens,
        spent.output_tokens,
    )
    assert usage.input == spent.input_tokens + usage.cached + usage.created


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 529])
async def test_the_sdk_finds_the_same_status_in_a_refusal(status):
    body = json.dumps({"type": "error", "error": {"type": "api_error", "message": "m"}}).encode()
    refused = answer(f"{status} No", body)

    async with service(refused, refused) as running, asyncio.timeout(60):
        own = make_anthropic_model(base_url=running.url, api_key="key-1", model="m")
        with pytest.raises(ModelFailed) as ours:
            await anext(own.stream(OURS))
        async with client_of(running) as client:
            with pytest.raises(anthropic.APIStatusError) as theirs:
                await client.messages.create(**THEIRS)

    assert (ours.value.status, ours.value.kind) == (theirs.value.status_code, "api_error")
