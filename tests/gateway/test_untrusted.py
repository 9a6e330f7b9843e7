"""Over the API, the state that clients send back records what a conversation has read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.capabilities import preparation
from tests.gateway.scripts import (
    MANIFEST,
    ScriptedModel,
    add_application,
    ask,
    calls,
    ends,
    question,
    says,
)
from tests.runs.test_taint import Made

pytestmark = pytest.mark.django_db

PROMPT = {"type": "custom", "content": "You help.", "variables": {}}
GUARDED: dict[str, Any] = {
    **MANIFEST,
    "orchestrator": {"deployment": {"deployment_id": "scripted"}, "system_prompt": PROMPT},
    "features": {"timestamp": None, "approval": {"after_untrusted": "confirm"}},
}
LOOKS, PAYS, DONE = [calls("look"), ends()], [calls("pay"), ends()], [says("Done."), ends()]


@pytest.fixture(autouse=True)
def _with_a_market(settings: Settings) -> Iterator[None]:
    Made.payments.clear()
    settings.CAPABILITIES = [*settings.CAPABILITIES, "tests.runs.test_taint.MARKET"]
    preparation.capabilities.cache_clear()
    yield
    preparation.capabilities.cache_clear()


@pytest.mark.parametrize(("brings_back", "paid"), [(True, 0), (False, 1)])
async def test_a_payment_is_not_made_after_an_answer_that_has_looked_around(brings_back, paid):
    application = await add_application(manifest=GUARDED)
    answer = await ask(application, ScriptedModel(LOOKS, DONE), question())
    [choice] = answer.json()["choices"]
    answered = choice["message"]
    if not brings_back:
        answered.pop("custom_content")

    body = {"messages": [*question()["messages"], answered, {"role": "user", "content": "Pay."}]}
    await ask(application, ScriptedModel(PAYS, DONE), body)

    assert sum(Made.payments.values()) == paid
    if brings_back:
        assert answered["custom_content"]["state"]["untrusted"] == ["results of look"]
