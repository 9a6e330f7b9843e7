"""Programs send the user's place in `metadata` (OpenAI) or in DIAL's configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.agent.messages import ModelMessage
from apps.capabilities.registry import PredefinedContent
from apps.errors import BadRequest
from apps.gateway.routing import DIAL, OPENAI
from apps.manifest.markdown.chat_place import ChatPlace
from tests.contract import proves
from tests.runs.prompts import context_of

ORDERS = ChatPlace("orders", "Orders", "They look at orders.")
SAID = "[The person is at “Orders” and looks at: order 4711]"
APPLICATION = context_of(predefined=PredefinedContent(places={"orders": ORDERS})).application
AT_ORDERS = {"place": "orders", "narrative": "order 4711"}


def prepared(dialect: Any, **fields: Any) -> Any:
    body = {"messages": [{"role": "user", "content": "Is it paid?"}], **fields}
    return dialect.read(json.dumps(body).encode()).prepare(APPLICATION)


@proves("T-20")
@pytest.mark.parametrize(
    ("dialect", "field"),
    [
        (OPENAI, {"metadata": AT_ORDERS}),
        (DIAL, {"custom_fields": {"configuration": AT_ORDERS}}),
    ],
)
def test_a_program_names_the_place_and_what_the_person_sees(dialect, field):
    found = prepared(dialect, **field)

    assert found.request.place == ORDERS
    assert found.request.messages == (ModelMessage("user", f"{SAID}\n\nIs it paid?"),)
    assert (found.narrative, found.ignored) == (SAID, frozenset())


@pytest.mark.parametrize(
    ("dialect", "field", "problem"),
    [
        (
            OPENAI,
            {"metadata": {"place": "x"}},
            "path metadata.place. Unknown place:",
        ),
        (
            DIAL,
            {"custom_fields": {"configuration": {"place": "x"}}},
            "path custom_fields.configuration.place. Unknown place: 'x'",
        ),
        (
            DIAL,
            {"custom_fields": {"configuration": {"place": 7}}},
            "custom_fields.configuration.place. Send a string.",
        ),
        (
            OPENAI,
            {"metadata": {"narrative": "x" * 2_001}},
            "metadata.narrative. The text is too long; the limit is 2,000 characters.",
        ),
    ],
)
def test_an_unknown_place_is_refused_by_its_path(dialect, field, problem):
    with pytest.raises(BadRequest) as caught:
        prepared(dialect, **field)

    assert problem in str(caught.value)


def test_other_metadata_and_configurations_are_as_before():
    openai = prepared(OPENAI, metadata={"team": "7", "place": "orders"})
    dial = prepared(DIAL, custom_fields={"configuration": {"starter": 1}})

    assert openai.ignored == frozenset({"metadata"})
    assert (dial.request.place, dial.narrative) == (None, "")
    assert dial.request.messages == (ModelMessage("user", "Is it paid?"),)


def test_the_narrative_stands_before_the_newest_question_whatever_it_is_made_of():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": [image]},
    ]

    found = prepared(OPENAI, messages=messages, metadata=AT_ORDERS).request.messages

    assert [message.text for message in found] == ["Hi", "Hello", SAID]
    assert found[-1].content[1] == image
