"""The metrics of an answer are stored with it, shown as configured, and the same after a restart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from apps.agent.events import ModelUsage, StageClosed, TextDelta, Usage
from apps.agent.model import Finish, ToolCallDelta
from apps.chat.exports.conversation import markdown
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.figures import (
    KEYS,
    answer_usage,
    figures_of,
    sum_of,
    visible_metrics,
)
from apps.conversations.outcome.transcript import Transcript
from apps.doors.event_json import encode
from apps.insights.answer_figures import AnswerFigures
from apps.insights.models import ModelCall, Price
from apps.live.events import AnswerStored, CallCounted
from apps.live.models import Run
from apps.manifest.features.features import Figure
from apps.task_api.conversations import message
from quickapps_site.settings import FIGURES
from tests.catalog.rows import make_deployment
from tests.chat.scripts import MANIFEST, counts, open_tab, says, settled
from tests.contract import proves

STORED: dict[str, Any] = {
    "prompt_tokens": 1000,
    "cached_tokens": 250,
    "completion_tokens": 20,
    "per_model": [{"model": "big", "prompt_tokens": 1000, "completion_tokens": 20}],
    "seconds": 2.5,
    "first_text_seconds": 0.5,
    "version": 3,
    "models": ["Big one"],
    "costs": {"USD": "0.0123"},
}
TOLD = {
    "usage": {"prompt_tokens": 1000, "cached_tokens": 250, "completion_tokens": 20},
    "models": ["Big one"],
    "version": 3,
    "costs": {"USD": "0.0123"},
    "first_text_seconds": 0.5,
    "seconds": 2.5,
}


def transcript(**figures: Any) -> Transcript:
    usage = Usage(1000, 20, (ModelUsage("big", 1000, 20),), cached=250)
    given: dict[str, Any] = {
        "version": 3,
        "models": ("Big one",),
        "costs": {"USD": Decimal("0.01230")},
    }
    return Transcript(usage=usage, figures=AnswerFigures(**given | figures))


def test_all_that_is_known_is_stored():
    begun = timezone.now()
    said = transcript()
    said.first_text_at = (begun + timedelta(seconds=0.5)).timestamp()

    stored = answer_usage(Run(started_at=begun), said, begun + timedelta(seconds=2.5))

    assert stored == STORED
    assert figures_of(stored) == TOLD


@pytest.mark.parametrize("figures", [{"is_priced": False}, {"costs": {}}])
def test_a_cost_that_is_not_known_is_not_told(figures):
    begun = timezone.now()

    stored = answer_usage(Run(started_at=begun), transcript(**figures), begun)

    assert "costs" not in stored


def test_names_that_a_database_refuses_are_mended():
    begun = timezone.now()

    stored = answer_usage(Run(started_at=begun), transcript(models=("a\0b",)), begun)

    assert stored["models"] == ["a\ufffdb"]


def test_an_answer_of_before_there_were_figures_has_those_it_has():
    assert figures_of({"prompt_tokens": 1, "completion_tokens": 2, "per_model": []}) == {
        "usage": {"prompt_tokens": 1, "completion_tokens": 2}
    }


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ((), []),
        (("cost",), ["costs"]),
        (("tokens", "seconds"), ["usage", "seconds"]),
        (("model", "version", "first_text", "tools"), ["models", "version", "first_text_seconds"]),
    ],
)
def test_the_operator_chooses_what_people_are_told(settings, wanted, names):
    settings.ANSWER_FIGURES = wanted

    frame = encode(AnswerStored({"id": "2", **TOLD}))

    assert frame == {
        "type": "message.complete",
        "message": {"id": "2", **{name: TOLD[name] for name in names}},
    }
    assert visible_metrics({"text": "x"}) == {"text": "x"}


@pytest.mark.parametrize(
    ("wanted", "tool", "thought"),
    [(("cost",), None, None), (("seconds",), None, 1.5), (("tools",), 1.5, None)],
)
def test_the_time_of_a_thought_is_shown_with_that_of_the_answer(settings, wanted, tool, thought):
    tool_end, thought_end = StageClosed("a", 1.5), StageClosed("b", 1.5, is_thought=True)
    said = Transcript(figures=AnswerFigures(told=wanted))

    assert (said.as_shown(tool_end).seconds, said.as_shown(thought_end).seconds) == (tool, thought)
    settings.ANSWER_FIGURES = wanted
    closed = {"type": "stage.closed", "failed": False}
    assert encode(tool_end) == {**closed, "stage": "a", "seconds": tool}
    assert encode(thought_end) == {**closed, "stage": "b", "seconds": thought}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ((), ""),
        (("cost", "model"), "*Big one · 0.0123 USD*\n"),
        (
            ("model", "version", "tokens", "cost", "first_text", "seconds"),
            (
                "*Big one · version 3 · Input tokens: 1000 (250 from the cache) · Output tokens: "
                "20 · 0.0123 USD · first token after 0.5 s · 2.5 s*\n"
            ),
        ),
    ],
)
def test_an_export_has_the_same(settings, wanted, line):
    settings.ANSWER_FIGURES = wanted
    conversation = Conversation.objects.create(owner="user-1", title="Costs")
    Message.objects.create(conversation=conversation, role="assistant", text="Noon.", usage=STORED)

    assert markdown(conversation).endswith(f"Noon.\n\n{line}" if line else "Noon.\n")


def test_what_another_process_counted_is_gone_on_with():
    said = Transcript()
    figures = AnswerFigures(2, ("Big one",), {"USD": Decimal(1)})

    said.apply(CallCounted(figures))
    said.apply(TextDelta("It"))
    first = said.first_text_at
    said.apply(TextDelta(" is"))

    assert (said.figures, said.first_text_at) == (figures, first)


def price(name: str, **amounts: Any) -> None:
    row = make_deployment(
        name, provider="openai", display_name="Paced one", base_url="http://x.test"
    )
    Price.objects.create(deployment=row, valid_from=date(2020, 1, 1), **amounts)


@proves("R-28")
@pytest.mark.django_db
async def test_the_cost_of_an_answer_is_that_of_its_rows(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    await sync_to_async(price)("paced", input=3, output=15, per_call=Decimal("0.01"))
    async with open_tab() as (on, tab):
        frames = await tab.exchange("Time?", says("Noon."), counts(1234, 56))
        await settled(on.hub)
        await on.hub.summaries.close()

    [row] = [row async for row in ModelCall.objects.all()]
    answer = await Message.objects.aget(role="assistant")
    assert row.cost == Decimal("0.014542")
    assert answer.usage["costs"] == {"USD": "0.014542"}
    told = frames[-2]["message"]
    assert {name: told[name] for name in ("usage", "models", "version", "costs")} == {
        "usage": {"prompt_tokens": 1234, "completion_tokens": 56},
        "models": ["Paced one"],
        "version": 1,
        "costs": {"USD": "0.014542"},
    }


READS = ToolCallDelta(0, "call-1", "internal_skills_read_skill", '{"name": "none"}')


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", [[], ["model"]])
async def test_an_application_narrows_what_people_are_told(wanted):
    features = {"timestamp": None, "answer_figures": wanted}
    async with open_tab(manifest={**MANIFEST, "features": features}) as (on, tab):
        on.model.put(READS, Finish("tool_calls"), None)
        frames = await tab.exchange("Time?", says("Noon."), counts(1234, 56))
        conversation = tab.conversation
        await settled(on.hub)

    def answer_in(told: Mapping[str, Any]) -> list[str]:
        return [KEYS[name] for name in told if name in KEYS]

    closed = [frame["seconds"] for frame in frames if frame["type"] == "stage.closed"]
    row = await Message.objects.select_related("conversation").aget(role="assistant")
    assert answer_in(frames[-2]["message"]) == wanted
    assert set(closed) == {None}
    assert answer_in(message(row)) == wanted
    assert row.usage["prompt_tokens"] == 1234  # operators count it all the same
    assert conversation == str(row.conversation.pk)


@pytest.mark.django_db
async def test_programs_are_told_no_more_of_a_conversation_than_people(settings):
    settings.ANSWER_FIGURES = ("seconds",)
    conversation = await Conversation.objects.acreate(owner="user-1", title="Costs")
    row = await Message.objects.acreate(
        conversation=conversation, role="assistant", text="Noon.", usage=STORED
    )

    assert {name for name in message(row) if name in KEYS} == {"seconds"}


def test_an_application_can_name_each_figure_of_the_installation():
    assert get_args(Figure) == FIGURES


@pytest.mark.django_db
async def test_an_answer_that_is_stopped_in_the_middle_tells_no_cost(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    await sync_to_async(price)("paced", input=3)
    async with open_tab() as (on, tab):
        on.model.put(says("It is"))
        await tab.ask("Time?")
        await tab.until("message.delta")
        await tab.send_json_to({"type": "stop"})
        frames = await tab.until_over()

    assert "costs" not in frames[-2]["message"]
    assert frames[-2]["message"]["models"] == ["Paced one"]


def test_answers_are_summed_up_and_a_cost_that_is_not_known_is_told():
    known = {"prompt_tokens": 10, "completion_tokens": 5, "costs": {"USD": "0.10"}}
    unknown = {"prompt_tokens": 1, "completion_tokens": 1}

    assert sum_of([known, known, {}]) == {
        "tokens": 30,
        "costs": {"USD": "0.2"},
        "is_partial": False,
    }
    assert sum_of([known, unknown]) == {"tokens": 17, "costs": {"USD": "0.1"}, "is_partial": True}
    assert sum_of([]) == {"tokens": 0, "costs": {}, "is_partial": False}
