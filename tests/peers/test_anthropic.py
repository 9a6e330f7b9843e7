"""Anthropic's own client against the real site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tests.contract import proves_feature
from tests.sites.gateway import SLUG, Gateway

WEATHER: Any = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
THINKING: Any = {"type": "adaptive"}


@pytest.fixture
def client(gateway: Gateway) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=gateway.url, api_key=gateway.key, max_retries=0) as opened:
        yield opened


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def ask(client: anthropic.Anthropic, *messages: Any, **options: Any) -> Any:
    return client.messages.create(model=SLUG, max_tokens=100, messages=[*messages], **options)


@proves_feature("messages", "text", "usage")
def test_an_answer_is_given_whole(client):
    message = ask(client, user("one two three"), system="Repeat.")

    assert [block.text for block in message.content] == ["one two three"]
    assert (message.stop_reason, message.model) == ("end_turn", SLUG)
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (1, 4, 2)


@proves_feature("messages", "text")
def test_an_answer_is_streamed(client):
    options: Any = {"model": SLUG, "max_tokens": 100, "messages": [user("one two three")]}
    with client.messages.stream(**options) as stream:
        deltas = [*stream.text_stream]
        final = stream.get_final_message()

    assert deltas == ["one", " two", " three"]
    assert (final.content[0].text, final.stop_reason) == ("one two three", "end_turn")


@proves_feature("messages", "client tools")
def test_the_client_answers_its_own_tools_over_several_turns(client):
    messages = [user("call weather")]
    for _ in range(3):
        asked = ask(client, *messages, tools=[WEATHER], thinking=THINKING)
        call = next(block for block in asked.content if block.type == "tool_use")
        assert (call.name, call.input, asked.stop_reason) == (
            "weather",
            {"city": "Oslo"},
            "tool_use",
        )
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "12 degrees"}
        messages += [{"role": "assistant", "content": asked.content}, user([result])]
        answered = ask(client, *messages, tools=[WEATHER], thinking=THINKING)
        texts = [block.text for block in answered.content if block.type == "text"]
        assert texts == ["It brought 12 degrees"]
        messages += [{"role": "assistant", "content": answered.content}, user("call weather")]


def test_thinking_is_signed(client):
    thought, said = ask(client, user("think reasoning_content one"), thinking=THINKING).content[:2]

    assert (thought.type, thought.thinking, said.text) == ("thinking", "Let me see.", "one")
    assert thought.signature


def test_refusals_have_anthropics_types_and_a_request_id(client, gateway):
    with pytest.raises(anthropic.NotFoundError) as hidden:
        client.messages.create(model="private", max_tokens=1, messages=[user("one")])
    with (
        anthropic.Anthropic(base_url=gateway.url, api_key="wrong", max_retries=0) as stranger,
        pytest.raises(anthropic.AuthenticationError) as unknown,
    ):
        ask(stranger, user("one"))

    for refused in (hidden.value, unknown.value):
        assert refused.request_id
    assert hidden.value.type == "not_found_error"


def test_tokens_are_counted_and_models_are_listed(client):
    assert client.messages.count_tokens(model=SLUG, messages=[user("one two")]).input_tokens > 2
    assert [model.id for model in client.models.list()] == [SLUG]
