"""Stored and background responses, with OpenAI's own SDK and a real site."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import openai
import pytest
from django.db import connection
from openai import OpenAI

from tests.contract import proves_feature
from tests.databases.postgresql import address_of, database
from tests.sites.gateway import SLUG, Gateway, serve_gateway

pytestmark = pytest.mark.postgres

LOOK: Any = {
    "type": "function",
    "name": "look",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with ExitStack() as stack:
        settings: dict[str, Any] = {}
        if connection.vendor == "postgresql":
            settings["DATABASE_URL"] = address_of(stack.enter_context(database()))
        served = serve_gateway(tmp_path_factory.mktemp("responses"), **settings)
        yield stack.enter_context(served)


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key, max_retries=0) as opened:
        yield opened


def sent(gateway: Gateway) -> list[str]:
    """Return the texts of the last request to the model, without the injected time."""
    messages = gateway.upstream.asked[-1]["messages"]
    return [
        one["content"]
        for one in messages
        if one["content"] and not one.get("tool_call_id", "").startswith("synth_")
    ]


def test_a_response_is_stored_and_continued(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="Good morning")
    second = client.responses.create(
        model=SLUG, input="And good night", previous_response_id=first.id
    )

    assert sent(gateway)[-3:] == ["Good morning", first.output_text, "And good night"]
    assert client.responses.retrieve(second.id).to_dict() == second.to_dict()
    assert (second.to_dict()["store"], second.previous_response_id) == (True, first.id)
    assert second.conversation == first.conversation


def test_a_conversation_is_continued_by_its_id(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="One")
    assert first.conversation is not None

    client.responses.create(model=SLUG, input="Two", conversation=first.conversation.id)

    assert sent(gateway)[-3:] == ["One", first.output_text, "Two"]


def test_the_output_of_a_function_answers_a_stored_call(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="call look", tools=[LOOK])
    call: Any = first.output[-1]
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Snow"}
    unknown: Any = {**output, "call_id": "call_unknown"}

    client.responses.create(model=SLUG, input=[output], tools=[LOOK], previous_response_id=first.id)

    assert sent(gateway)[-1] == "Snow"
    with pytest.raises(openai.BadRequestError, match="Unknown call: "):
        client.responses.create(
            model=SLUG,
            input=[unknown],
            previous_response_id=first.id,
        )


def test_references_stand_for_stored_items(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="Blue")
    reference: Any = {"type": "item_reference", "id": first.output[-1].id}

    items: Any = [reference, {"role": "user", "content": "Red"}]
    client.responses.create(model=SLUG, input=items)

    assert sent(gateway)[-2:] == [first.output_text, "Red"]


def test_the_input_is_listed_in_pages(client: OpenAI):
    words: Any = [{"role": "user", "content": word} for word in ("One", "Two", "Three")]
    stored = client.responses.create(model=SLUG, input=words)

    page = client.responses.input_items.list(stored.id, limit=2)
    texts = [item.content[0].text for item in page]  # type: ignore[union-attr, index]
    in_order = [item.id for item in client.responses.input_items.list(stored.id, order="asc")]

    assert texts == ["Three", "Two", "One"]
    assert in_order == [item.id for item in page][::-1]
    with pytest.raises(openai.BadRequestError, match="after"):
        client.responses.input_items.list(stored.id, after="msg_unknown")


def test_a_response_that_is_not_stored_cannot_be_read(client: OpenAI):
    given = client.responses.create(model=SLUG, input="Hi", store=False)

    assert given.to_dict()["store"] is False
    with pytest.raises(openai.NotFoundError, match="not found"):
        client.responses.retrieve(given.id)
    with pytest.raises(openai.NotFoundError, match="not found"):
        client.responses.create(model=SLUG, input="Hi", previous_response_id=given.id)


def test_the_responses_of_another_key_are_not_found(client: OpenAI, gateway: Gateway):
    given = client.responses.create(model=SLUG, input="Hi")
    made = "from apps.accounts.models import ApiKey\n"
    other = gateway.site.shell(f"{made}result = ApiKey.objects.create_key(name='other')[1]")
    stranger = client.with_options(api_key=other)

    for ask in (
        lambda: stranger.responses.retrieve(given.id),
        lambda: stranger.responses.delete(given.id),
        lambda: stranger.responses.cancel(given.id),
        lambda: stranger.responses.input_items.list(given.id),
        lambda: stranger.responses.create(model=SLUG, input="Hi", previous_response_id=given.id),
        lambda: stranger.responses.create(
            model=SLUG,
            input="Hi",
            conversation=given.conversation.id,  # type: ignore[union-attr]
        ),
    ):
        with pytest.raises(openai.NotFoundError):
            ask()


def test_two_requests_at_once_continue_the_same_response(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="One")

    def go_on(number: int) -> Any:
        text = f"Branch {number}"
        return client.responses.create(model=SLUG, input=text, previous_response_id=first.id)

    with ThreadPoolExecutor(6) as threads:
        branches = list(threads.map(go_on, range(6)))

    assert [one.output_text for one in branches] == [f"Branch {number}" for number in range(6)]
    assert [one.conversation for one in branches] == [first.conversation] * 6
    for one in branches:
        assert client.responses.retrieve(one.id).to_dict() == one.to_dict()
    client.responses.create(model=SLUG, input="End", previous_response_id=branches[3].id)
    said = [
        one["content"] for one in gateway.upstream.asked[-1]["messages"] if one["role"] == "user"
    ]
    assert said == ["One", "Branch 3", "End"]


@proves_feature("responses", "reconnect")
def test_a_background_response_is_streamed_and_resumed(client: OpenAI):
    stream = client.responses.create(
        model=SLUG, input="One two three", background=True, stream=True
    )
    events = list(stream)
    response = events[-1].response  # type: ignore[union-attr]

    for event in events:
        rest = client.responses.retrieve(
            response.id, stream=True, starting_after=event.sequence_number
        )
        known = [one.to_dict() for one in events if one.sequence_number > event.sequence_number]
        assert joined([one.to_dict() for one in rest]) == joined(known)
    assert response.status == "completed"
    assert client.responses.retrieve(response.id).to_dict() == response.to_dict()
    after = client.responses.create(model=SLUG, input="Four", previous_response_id=response.id)
    assert after.status == "completed"


def joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same with neighboring deltas joined."""
    found: list[dict[str, Any]] = []
    for event in events:
        if found and event["type"] == found[-1]["type"] == "response.output_text.delta":
            text = found[-1]["delta"] + event["delta"]
            found[-1] = {**event, "delta": text}
        else:
            found.append(event)
    return found


@proves_feature("responses", "cancel")
def test_a_background_response_is_cancelled(client: OpenAI):
    begun = client.responses.create(model=SLUG, input="hang", background=True)

    with pytest.raises(openai.ConflictError, match="still in progress"):
        client.responses.create(model=SLUG, input="Hi", previous_response_id=begun.id)
    cancelled = client.responses.cancel(begun.id)
    again = client.responses.cancel(begun.id)

    assert begun.status in ("queued", "in_progress")
    assert (cancelled.status, again.status) == ("cancelled", "cancelled")


def test_a_background_response_calls_tools_of_the_client(client: OpenAI, gateway: Gateway):
    begun = client.responses.create(model=SLUG, input="call look", tools=[LOOK], background=True)
    events = list(client.responses.retrieve(begun.id, stream=True))
    call: Any = events[-1].response.output[-1]  # type: ignore[union-attr]
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Snow"}

    client.responses.create(model=SLUG, input=[output], tools=[LOOK], previous_response_id=begun.id)

    assert sent(gateway)[-1] == "Snow"


def test_tokens_are_counted_and_conversations_compacted(client: OpenAI, gateway: Gateway):
    first = client.responses.create(model=SLUG, input="My name is Ada")

    counted = client.responses.input_tokens.count(model=SLUG, previous_response_id=first.id)
    compacted = client.responses.compact(model=SLUG, previous_response_id=first.id)
    items: Any = [item.to_dict(warnings=False) for item in compacted.output]
    client.responses.create(model=SLUG, input=[*items, {"role": "user", "content": "And I?"}])

    assert counted.input_tokens > 10
    assert [item["type"] for item in items] == ["message", "compaction"]
    asked = "\n\n".join(sent(gateway))
    assert "\n\nMy name is Ada\n\n[Summary of the conversation so far]\n" in asked
    assert asked.endswith("\n\nAnd I?")


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("resp_1?stream=perhaps", "stream"),
        ("resp_1?starting_after=-3", "starting_after"),
        ("resp_1/input_items?limit=0", "limit"),
        ("resp_1/input_items?order=up", "order"),
    ],
)
def test_wrong_queries_are_refused(client: OpenAI, address: str, named: str):
    with pytest.raises(openai.BadRequestError) as caught:
        client.get(f"/responses/{address}", cast_to=object)

    assert caught.value.param == named
