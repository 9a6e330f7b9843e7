"""OpenAI's own client, as anybody would use it, against the real site."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import cast

import openai
import pytest

from tests.serving import CLOCK, SLUG, Gateway

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@pytest.fixture
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{gateway.url}/openai/v1", api_key=gateway.key, max_retries=0
    ) as opened:
        yield opened


def body_of(refused) -> dict[str, str]:
    return cast(dict[str, str], refused.value.body)


def said(text):
    return {"role": "user", "content": text}


def test_an_answer_is_given_whole(client):
    answer = client.chat.completions.create(model=SLUG, messages=[said("one two three")])

    (choice,) = answer.choices
    assert choice.message.content == "one two three"
    assert choice.finish_reason == "stop"
    assert answer.model == SLUG
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (5, 2)


def test_an_answer_is_streamed(client):
    chunks = list(
        client.chat.completions.create(
            model=SLUG,
            messages=[said("one two three")],
            stream=True,
            stream_options={"include_usage": True},
        )
    )

    assert [chunk.choices[0].delta.content for chunk in chunks[1:-2]] == ["one", " two", " three"]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens == 7


def test_the_clients_helper_puts_a_stream_together(client):
    with client.chat.completions.stream(model=SLUG, messages=[said("one two")]) as stream:
        final = stream.get_final_completion()

    assert final.choices[0].message.content == "one two"


def test_the_client_answers_its_own_tools_over_several_turns(client):
    messages = [said("call weather")]
    for _ in range(3):
        asked = client.chat.completions.create(model=SLUG, messages=messages, tools=[WEATHER])
        (choice,) = asked.choices
        assert choice.finish_reason == "tool_calls"
        (call,) = choice.message.tool_calls
        assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Oslo"}')
        result = {"role": "tool", "tool_call_id": call.id, "content": "2 degrees"}
        messages += [choice.message.to_dict(), result]
        answer = client.chat.completions.create(model=SLUG, messages=messages, tools=[WEATHER])
        assert answer.choices[0].message.content == "It brought 2 degrees"
        messages += [answer.choices[0].message.to_dict(), said("call weather")]


def test_a_streamed_tool_call_can_be_answered(client):
    with client.chat.completions.stream(
        model=SLUG, messages=[said("call weather")], tools=[WEATHER]
    ) as stream:
        (call,) = stream.get_final_completion().choices[0].message.tool_calls

    assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Oslo"}')


def test_what_a_tool_brought_is_remembered_over_three_turns(client, gateway):
    """The state travels in the client's messages, and the tool's result with it."""
    messages = []
    for turn in range(1, 4):
        messages.append(said(f"call {CLOCK}"))
        answer = client.chat.completions.create(model=SLUG, messages=messages)
        messages.append(answer.choices[0].message.to_dict())

        history = messages[-1]["custom_content"]["state"]["tool_execution_history"]
        # The time that the model is told with each question is a call and a result as well.
        assert [message["role"] for message in history] == ["assistant", "tool"] * 2
        sent = gateway.upstream.asked[-1]["messages"]
        # Every conversation begins with a skill, which no state carries.
        assert [message["role"] for message in sent].count("tool") == 2 * turn + 1
        assert messages[-1]["custom_content"]["stages"]


def test_the_list_has_what_the_key_may_use(client):
    assert [model.id for model in client.models.list()] == [SLUG]
    assert client.models.retrieve(SLUG).owned_by == "quickapps"


def test_the_azure_client_reaches_the_deployment(gateway):
    with openai.AzureOpenAI(
        azure_endpoint=gateway.url, api_key=gateway.key, api_version="2024-02-01", max_retries=0
    ) as client:
        answer = client.chat.completions.create(model=SLUG, messages=[said("one")])

    assert answer.choices[0].message.content == "one"


# --- Errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "kind", "code"),
    [
        ("status 400", openai.BadRequestError, "upstream_400"),
        ("status 401", openai.AuthenticationError, "upstream_401"),
        ("status 403", openai.PermissionDeniedError, "upstream_403"),
        ("status 404", openai.NotFoundError, "upstream_404"),
        ("status 422", openai.UnprocessableEntityError, "upstream_422"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_the_model_keeps_its_status(client, question, kind, code, stream):
    with pytest.raises(kind) as refused:
        client.chat.completions.create(model=SLUG, messages=[said(question)], stream=stream)

    assert refused.value.code == code
    assert re.search(r"\(error reference: [0-9a-f]{8}\)", body_of(refused)["display_message"])


def test_a_model_that_breaks_off_is_told_in_mid_stream(client):
    words = []
    with pytest.raises(openai.APIError) as broken:
        for chunk in client.chat.completions.create(
            model=SLUG, messages=[said("break")], stream=True
        ):
            words += [choice.delta.content for choice in chunk.choices if choice.delta.content]

    assert words == ["Well"]
    assert "failed while responding. Please try again later." in broken.value.message


def test_unknown_applications_and_those_of_others_are_the_same(client):
    told = []
    for slug in ("private", "nothing"):
        with pytest.raises(openai.NotFoundError) as refused:
            client.chat.completions.create(model=slug, messages=[said("Hi")])
        told.append(body_of(refused)["message"].replace(slug, "?"))

    assert told[0] == told[1]


def test_a_wrong_key_is_refused(gateway):
    with (
        openai.OpenAI(base_url=f"{gateway.url}/openai/v1", api_key="no", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.chat.completions.create(model=SLUG, messages=[said("Hi")])


def test_messages_in_the_wrong_order_are_refused(client):
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model=SLUG, messages=[{"role": "assistant", "content": "Hi"}]
        )

    assert body_of(refused)["message"] == "Invalid messages array"


# --- Leaving -----------------------------------------------------------------------------------


def test_a_client_that_closes_its_stream_ends_the_models_work(client, gateway):
    gateway.upstream.is_left.clear()
    stream = client.chat.completions.create(model=SLUG, messages=[said("hang")], stream=True)
    assert next(iter(stream)).choices[0].delta.role == "assistant"

    stream.close()

    assert gateway.upstream.is_left.wait(1)


@pytest.mark.parametrize("stream", ["true", "false"])
def test_a_connection_that_is_cut_ends_the_models_work(gateway, stream):
    gateway.upstream.is_left.clear()
    gateway.upstream.is_asked.clear()
    host, port = gateway.url.removeprefix("http://").split(":")
    body = f'{{"messages":[{{"role":"user","content":"hang"}}],"stream":{stream}}}'
    head = (
        f"POST /openai/deployments/{SLUG}/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Api-Key: {gateway.key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall((head + body).encode())
        assert gateway.upstream.is_asked.wait(20)

    assert gateway.upstream.is_left.wait(1)
