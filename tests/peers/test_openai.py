"""OpenAI's own client, in its usual usage, against the real site."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import cast

import openai
import pytest

from tests.capabilities.manifests import parameter, tool, tool_set
from tests.capabilities.service import json_reply, serving
from tests.contract import proves_feature
from tests.sites.gateway import CLOCK, MANIFEST, SLUG, Gateway

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


@proves_feature("completions", "text", "usage")
def test_an_answer_is_given_whole(client):
    answer = client.chat.completions.create(model=SLUG, messages=[said("one two three")])

    (choice,) = answer.choices
    assert choice.message.content == "one two three"
    assert choice.finish_reason == "stop"
    assert answer.model == SLUG
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (5, 2)


@proves_feature("completions", "text", "usage")
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


@proves_feature("completions", "client tools")
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


@proves_feature("completions", "tools")
def test_what_a_tool_brought_is_remembered_over_three_turns(client, gateway):
    """The state in the client's messages contains the tool's result."""
    messages = []
    for turn in range(1, 4):
        messages.append(said(f"call {CLOCK}"))
        answer = client.chat.completions.create(model=SLUG, messages=messages)
        messages.append(answer.choices[0].message.to_dict())

        history = messages[-1]["custom_content"]["state"]["tool_execution_history"]
        # The time that is injected with each question is also a call and a result.
        assert [message["role"] for message in history] == ["assistant", "tool"] * 2
        sent = gateway.upstream.asked[-1]["messages"]
        # Every conversation begins with a skill that is not part of the state.
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


# --- What a model thinks, and refuses ----------------------------------------------------------


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_what_the_model_thinks_is_told_beside_the_answer(client, key):
    question = [said(f"think {key} one two")]

    whole = client.chat.completions.create(model=SLUG, messages=question)
    with client.chat.completions.stream(model=SLUG, messages=question) as stream:
        pieces = [event.chunk for event in stream if event.type == "chunk"]
        streamed = stream.get_final_completion()

    for answer in (whole, streamed):
        message = answer.choices[0].message
        assert (message.content, message.reasoning_content) == ("one two", "Let me see.")
    deltas = [piece.choices[0].delta for piece in pieces]
    thoughts = [delta.reasoning_content for delta in deltas if hasattr(delta, "reasoning_content")]
    assert thoughts == ["Let me ", "see."]
    assert "stages" not in (whole.choices[0].message.custom_content or {})


def test_the_model_reads_its_thoughts_again_with_its_calls_in_this_answer_and_the_next(
    client, gateway
):
    messages = [said(f"think reasoning call {CLOCK}")]

    answer = client.chat.completions.create(model=SLUG, messages=messages)
    again = [*messages, answer.choices[0].message.to_dict(), said("one")]
    client.chat.completions.create(model=SLUG, messages=again)

    assert answer.choices[0].message.reasoning_content == "Let me see.\n\nNow I know."
    usage = answer.usage
    assert (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens) == (10, 8)
    assert (usage.completion_tokens, usage.completion_tokens_details.reasoning_tokens) == (4, 2)
    for body in gateway.upstream.asked[-2:]:
        told = [one["reasoning"] for one in body["messages"] if "reasoning" in one]
        assert told == ["Let me see."]
        assert not any("reasoning_content" in message for message in body["messages"])


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thoughts_go_back_with_the_clients_own_calls_unless_the_service_refuses_them(
    client, gateway, key
):
    messages = [said(f"think {key} call weather")]
    asked = client.chat.completions.create(model=SLUG, messages=messages, tools=[WEATHER])
    (choice,) = asked.choices
    result = {"role": "tool", "tool_call_id": choice.message.tool_calls[0].id, "content": "2"}
    again = [*messages, choice.message.to_dict(), result]

    answer = client.chat.completions.create(model=SLUG, messages=again, tools=[WEATHER])

    assert answer.choices[0].message.content == "It brought 2"
    sent = gateway.upstream.asked[-1]["messages"]
    told = [message[key] for message in sent if key in message]
    assert told == (["Let me see."] if key == "reasoning_content" else [])


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_in_words_is_told_as_one(client, stream):
    question = [said("refuse")]
    if stream:
        with client.chat.completions.stream(model=SLUG, messages=question) as opened:
            answer = opened.get_final_completion()
    else:
        answer = client.chat.completions.create(model=SLUG, messages=question)

    message = answer.choices[0].message
    assert (message.content, message.refusal) == (None, "I may not.")
    assert answer.usage.completion_tokens_details.reasoning_tokens == 1


# --- Errors ------------------------------------------------------------------------------------


REFUSALS = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    422: openai.UnprocessableEntityError,
}


@proves_feature("completions", "errors")
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_the_model_keeps_its_status(client, stream):
    for status, kind in REFUSALS.items():
        with pytest.raises(kind) as refused:
            client.chat.completions.create(
                model=SLUG, messages=[said(f"status {status}")], stream=stream
            )

        assert refused.value.code == f"upstream_{status}"
        assert re.search(r"\(error reference: [0-9a-f]{8}\)", body_of(refused)["display_message"])


WAITS = [
    # The error of the model's service, and the error for the client.
    ("37", "37"),
    ("999999999", "2678400"),
    ("Wed,_21_Oct_2015_07:28:00_GMT", "0"),
    ("soon", None),
    ("-5", None),
]


@pytest.mark.parametrize("stream", [False, True])
def test_a_limit_of_the_model_is_told_with_its_time_after_the_last_attempt(client, gateway, stream):
    for header, told in WAITS:
        asked_before = len(gateway.upstream.asked)

        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(
                model=SLUG, messages=[said(f"limit {header}")], stream=stream
            )

        assert refused.value.response.headers.get("retry-after") == told
        assert refused.value.code == "upstream_429"
        assert len(gateway.upstream.asked) - asked_before == 4


@proves_feature("completions", "errors")
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


def test_messages_that_cannot_be_understood_are_refused_with_the_reason(client):
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model=SLUG, messages=[said("Hi"), {"role": "tool", "tool_call_id": "1", "content": "2"}]
        )

    assert body_of(refused)["message"] == (
        "Invalid messages array:\n- Message at index 1: tool_call_id '1' does not match any tool "
        "call in the preceding assistant message."
    )


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities_come_with_their_text(client, stream):
    asked = {"model": SLUG, "messages": [said("one two")], "logprobs": True}
    if stream:
        with client.chat.completions.stream(**asked) as events:
            answer = events.get_final_completion()
    else:
        answer = client.chat.completions.create(**asked)

    (choice,) = answer.choices
    assert choice.message.content == "one two"
    assert [token.token for token in choice.logprobs.content] == ["one", " two"]


def test_each_streamed_piece_of_text_has_its_log_probabilities(client):
    chunks = client.chat.completions.create(
        model=SLUG, messages=[said("one two")], logprobs=True, stream=True
    )

    (told,) = [
        [(choice.delta.content, [token.token for token in choice.logprobs.content])]
        for chunk in chunks
        for choice in chunk.choices
        if choice.logprobs is not None and choice.delta.content == " two"
    ]
    assert told == [(" two", [" two"])]


def test_options_of_a_stream_are_for_streams(client):
    with pytest.raises(openai.BadRequestError, match="stream_options"):
        client.chat.completions.create(
            model=SLUG, messages=[said("one")], extra_body={"stream_options": {}}
        )

    answer = client.chat.completions.with_raw_response.create(
        model=SLUG,
        messages=[said("one")],
        stream=True,
        stream_options={"include_usage": True, "include_obfuscation": True},
    )
    assert answer.headers["x-ignored-parameters"] == "stream_options.include_obfuscation"
    answer.http_response.close()


# --- Leaving -----------------------------------------------------------------------------------


@proves_feature("completions", "cancel")
def test_a_client_that_closes_its_stream_ends_the_models_work(client, gateway):
    gateway.upstream.is_left.clear()
    stream = client.chat.completions.create(model=SLUG, messages=[said("hang")], stream=True)
    assert next(iter(stream)).choices[0].delta.role == "assistant"

    stream.close()

    assert gateway.upstream.is_left.wait(60)


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
        assert gateway.upstream.is_asked.wait(60)

    assert gateway.upstream.is_left.wait(60)


def test_the_short_address_is_the_same(gateway):
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key, max_retries=0) as client:
        answer = client.chat.completions.create(model=SLUG, messages=[said("one two")])
        models = [entry.id for entry in client.models.list()]
        entry = client.models.retrieve(SLUG)

    assert answer.choices[0].message.content == "one two"
    assert (models, entry.id) == ([SLUG], SLUG)


def test_a_base_url_without_a_path_is_told_which_to_use(gateway):
    with (
        openai.OpenAI(base_url=gateway.url, api_key=gateway.key, max_retries=0) as client,
        pytest.raises(openai.NotFoundError) as refused,
    ):
        client.chat.completions.create(model=SLUG, messages=[said("Hello")])

    assert body_of(refused)["message"] == (
        "Unknown path: '/chat/completions'. The client's base_url has to end in /v1: "
        "completions are at /v1/chat/completions."
    )


PREPARE_PAYING = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
application = Application.objects.create(slug=slug, title="Paying", manifest=manifest)
row, result = ApiKey.objects.create_key(name=slug, is_limited=True)
row.applications.set([application])
"""


@proves_feature("completions", "approvals")
@pytest.mark.parametrize("is_echoed", [True, False])
async def test_r_11_the_next_message_approves_a_call_if_it_brings_the_answer_back(
    gateway, is_echoed
):
    slug = f"paying-{is_echoed}".lower()
    async with serving(json_reply('{"done": true}')) as shop:
        pay = tool(f"{shop.url}/pay", "post", {"city": parameter("body", "city")})
        tools = tool_set(pay, approval={"mode": "confirm"})
        manifest = {**MANIFEST, "tool_sets": [tools]}
        key = gateway.site.shell(PREPARE_PAYING, slug=slug, manifest=manifest)
        async with openai.AsyncOpenAI(
            base_url=f"{gateway.url}/openai/v1", api_key=key, max_retries=0
        ) as client:
            messages = [said("call shop_look_up")]
            asked = await client.chat.completions.create(model=slug, messages=messages)
            [choice] = asked.choices
            before = list(shop.targets)
            text = {"role": "assistant", "content": choice.message.content}
            messages += [choice.message if is_echoed else text, said("1")]
            answer = await client.chat.completions.create(model=slug, messages=messages)

    assert choice.finish_reason == "stop"
    assert "1. Approve\n2. Deny" in str(choice.message.content)
    assert (before, shop.targets) == ([], ["POST /pay"] if is_echoed else [])
    told = str(answer.choices[0].message.content)
    assert ("did not send back the state" in told) is not is_echoed
    assert told.startswith("It brought") is is_echoed
