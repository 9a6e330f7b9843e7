"""OpenAI's own client requests responses from the real site."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from pydantic import BaseModel

from tests.contract import proves_feature
from tests.sites.gateway import SLUG, Gateway

WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


class Answer(BaseModel):
    text: str


@pytest.fixture
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key, max_retries=0) as opened:
        yield opened


@proves_feature("responses", "text", "usage")
def test_an_answer_is_given_whole(client):
    response = client.responses.create(model=SLUG, input="one two three", instructions="Repeat.")

    assert response.output_text == "one two three"
    assert (response.status, response.model, response.store) == ("completed", SLUG, True)
    assert (response.usage.input_tokens, response.usage.output_tokens) == (5, 2)
    assert response.usage.input_tokens_details.cached_tokens == 4


@proves_feature("responses", "text")
def test_an_answer_is_streamed(client):
    with client.responses.stream(model=SLUG, input="one two three") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()

    assert deltas == ["one", " two", " three"]
    assert final.output_text == "one two three"


def test_reasoning_is_a_summary(client):
    response = client.responses.create(model=SLUG, input="think reasoning_content one two")

    thought, message = response.output
    assert (thought.type, thought.summary[0].text) == ("reasoning", "Let me see.")
    assert message.content[0].text == "one two"


@proves_feature("responses", "client tools")
@pytest.mark.parametrize("is_sealed", [True, False])
def test_the_client_answers_its_own_tools_over_several_turns(client, is_sealed):
    include = ["reasoning.encrypted_content"] if is_sealed else []
    items = [{"role": "user", "content": "call weather"}]
    for _ in range(3):
        asked = client.responses.create(model=SLUG, input=items, tools=[WEATHER], include=include)
        call = next(item for item in asked.output if item.type == "function_call")
        assert (call.name, call.arguments) == ("weather", '{"city": "Oslo"}')
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "12 degrees"}
        items += [*(item.model_dump(exclude_none=True) for item in asked.output), result]
        answered = client.responses.create(
            model=SLUG, input=items, tools=[WEATHER], include=include
        )
        assert answered.output_text == "It brought 12 degrees"
        items += [item.model_dump(exclude_none=True) for item in answered.output]
        items.append({"role": "user", "content": "call weather"})


def test_a_structured_answer_is_parsed(client):
    response = client.responses.parse(model=SLUG, input='{"text":"one"}', text_format=Answer)

    assert response.output_parsed == Answer(text="one")


def test_what_another_application_of_the_site_answers_is_404(client):
    with pytest.raises(openai.NotFoundError) as refused:
        client.responses.create(model="private", input="one")

    assert refused.value.code == "DeploymentNotFound"


def test_a_refusal_of_the_model_is_no_text(client):
    response = client.responses.create(model=SLUG, input="refuse")

    (message,) = response.output
    assert [part.type for part in message.content] == ["refusal"]
    assert response.output_text == ""


def test_what_is_not_stored_is_not_found(client):
    with pytest.raises(openai.NotFoundError, match="'resp_1' not found"):
        client.responses.create(model=SLUG, input="one", previous_response_id="resp_1")
