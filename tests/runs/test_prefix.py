"""Requests of one conversation begin with the same bytes, so that services can cache them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import time_machine

from apps.agent.events import StateSaved
from apps.agent.messages import ModelMessage
from apps.capabilities.clock.capability import clock
from apps.capabilities.registry import Contribution
from apps.workspace.anthropic.model import encode_anthropic
from apps.workspace.anthropic.parameters import ModelTraits
from tests.capabilities.manifests import manifest
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying, tool
from tests.runs.test_run import QUESTION, application, events_of, opener

NOON = datetime(2026, 3, 24, 14, 30, tzinfo=UTC)
MARK = b',"cache_control":{"type":"ephemeral"}'


@proves("T-54")
async def test_neither_a_round_nor_a_turn_changes_the_beginning_though_the_model_is_told_the_time():
    tell_time = clock.prepare(manifest())
    assert tell_time is not None
    model = ScriptedModel(
        calling(("1", "weather", '{"city": "Riga"}')), saying("12 degrees"), saying("Welcome")
    )

    with time_machine.travel(NOON, tick=False) as traveller:

        def look(arguments: object) -> str:
            traveller.shift(timedelta(minutes=5))
            return "12"

        weather = opener(Contribution(tools=(tool("weather", look),)))
        app = application(tell_time, weather, prompt="Be brief.")
        events = await events_of(app, model)
        [saved] = [event for event in events if isinstance(event, StateSaved)]
        traveller.shift(timedelta(hours=2))
        answered = ModelMessage("assistant", "12 degrees", state=saved.state)
        await events_of(app, model, QUESTION, answered, ModelMessage("user", "Thanks"))

    bodies = [encode_anthropic(one, "claude", ModelTraits()) for one in model.asked]
    times = [body.count(b"source=default") for body in bodies]
    assert times == [1, 1, 2]
    for earlier, later in pairwise(body.replace(MARK, b"") for body in bodies):
        assert later.startswith(earlier.removesuffix(b"]}"))
