"""An MCP server asks the user of a conversation during a tool call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from apps.capabilities.mcp.sessions import elicitation
from apps.capabilities.mcp.sessions.pool import SessionPool, current_pool
from apps.conversations.answering.continuation import sweeper
from apps.live import elicitations
from apps.live.hub import Hub
from apps.live.interactions import submit_answer
from apps.live.journal import committer
from apps.live.models import Interaction, Run
from apps.process_state import forget_object
from tests.capabilities.mcp.servers import HERE, nothing_left_over, over_http, serving_apart
from tests.chat.scripts import MANIFEST, Scene, Tab, scene, settled
from tests.conversations.answering.test_processes import layer as layer
from tests.fakes import calling, saying

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

SEAT = {"name": "Ann", "class": "a", "bags": 2, "window": True}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving_apart("http", str(HERE / "asking.py")) as found:
        yield found


@dataclass
class Asked:
    """A conversation in which the server asks, with the cards that it shows."""

    on: Scene
    tab: Tab
    conversation: str
    cards: list[dict[str, Any]]

    def answering(self, answer: dict[str, Any], place: int = 0) -> dict[str, Any]:
        asked = {name: self.cards[place][name] for name in ("run", "key", "kind")}
        return {"type": "answer", **asked, "answer": answer}

    async def answer(self, answer: dict[str, Any], place: int = 0) -> dict[str, Any]:
        await self.tab.send_json_to(self.answering(answer, place))
        return (await self.tab.until("interaction.resolved"))[-1]

    async def result(self) -> str:
        """Return the result of the call that the model reads, once the run is over."""
        self.on.model.put(*saying("Done."), None)
        await self.tab.until_over()
        await settled(self.on.hub)
        return str(self.on.model.asked[-1].messages[-1].content)


@asynccontextmanager
async def pool_of_its_own() -> AsyncIterator[None]:
    try:
        yield
    finally:
        await current_pool().aclose()
        forget_object(SessionPool)


@asynccontextmanager
async def called(
    url: str, *tools: str, cards: int = 1, seconds: float = 60.0, checks_tasks: bool = True
) -> AsyncIterator[Asked]:
    defaults = {"timeout_seconds": seconds}
    document = {**MANIFEST, "tool_sets": [over_http(url)], "tool_defaults": defaults}
    # A layer on Redis has its own tasks for as long as the loop runs.
    pool = nothing_left_over() if checks_tasks else pool_of_its_own()
    async with pool, scene(checks_tasks=False, manifest=document) as on:
        on.model.put(*calling(*((tool, f"desk_{tool}", {}) for tool in tools)), None)
        tab = await on.visitor.tab(on.hub)
        conversation = await tab.ask("Go.")
        shown = [(await tab.until("interaction.requested"))[-1] for _ in range(cards)]
        yield Asked(on, tab, conversation, shown)


async def test_a_form_is_answered_while_the_call_goes_on(url):
    async with called(url, "book") as it:
        status = (await Run.objects.aget()).status
        resolved = await it.answer({"outcome": "accepted", "content": SEAT})
        result = await it.result()

    [card] = it.cards
    assert status == "running"
    assert card["kind"] == "elicitation"
    assert card["asked"] == {
        "title": "A question from desk",
        "server": "desk",
        "mode": "form",
        "message": "Which seat?",
        "fields": [
            field("name", "string", "Your name", True, format="", least=2),
            field("class", "choice", "class", True, options=options(a="First", b="Second")),
            field("bags", "integer", "bags", True, least=0, most=3, default=1),
            field("window", "boolean", "window", hint="Beside a window."),
            field("meals", "choices", "meals", options=options(fish="fish", rice="rice")),
        ],
    }
    assert (resolved["answer"], resolved["by"]) == ({"outcome": "accepted"}, "you")
    assert json.loads(result) == ["accept", SEAT]
    row = await Interaction.objects.aget()
    assert (row.answer, row.answered_by) == ({"outcome": "accepted"}, it.on.visitor.bucket)


def field(name: str, kind: str, label: str, required: bool = False, **rest: Any) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "hint": rest.pop("hint", ""),
        "required": required,
        "type": kind,
        **rest,
    }


def options(**labels: str) -> list[dict[str, str]]:
    return [{"value": value, "label": label} for value, label in labels.items()]


@pytest.mark.parametrize("outcome", ["declined", "cancelled"])
async def test_a_person_need_not_answer(url, outcome):
    async with called(url, "book") as it:
        await it.answer({"outcome": outcome})
        result = await it.result()

    assert json.loads(result) == [{"declined": "decline", "cancelled": "cancel"}[outcome], None]


MISFITS = [
    {"outcome": "accepted", "content": {}},
    {"outcome": "accepted", "content": {**SEAT, "name": "A"}},
    {"outcome": "accepted", "content": {**SEAT, "class": "c"}},
    {"outcome": "accepted", "content": {**SEAT, "bags": 4}},
    {"outcome": "accepted", "content": {**SEAT, "bags": 1.5}},
    {"outcome": "accepted", "content": {**SEAT, "bags": True}},
    {"outcome": "accepted", "content": {**SEAT, "window": "yes"}},
    {"outcome": "accepted", "content": {**SEAT, "meals": ["fish", "fish"]}},
    {"outcome": "accepted", "content": {**SEAT, "more": "x"}},
    {"outcome": "declined", "content": SEAT},
]


async def test_an_answer_that_does_not_fit_is_refused(url):
    codes = []
    async with called(url, "book") as it:
        for answer in MISFITS:
            codes.append((await it.tab.refusal(**it.answering(answer)))["code"])
        await it.answer({"outcome": "declined"})
        await it.result()

    assert codes == ["bad_answer"] * len(MISFITS)


async def test_an_operator_declines_in_place_of_the_person_and_is_named(url):
    async with called(url, "book") as it:
        run = await Run.objects.aget()
        declined = {"outcome": "declined", "content": {}}
        key = it.cards[0]["key"]
        await submit_answer(it.on.hub, run, key, "elicitation", declined, "user-7", "Vera Ott")
        resolved = (await it.tab.until("interaction.resolved"))[-1]
        result = await it.result()

    row = await Interaction.objects.aget()
    assert (resolved["answer"], resolved["by"]) == ({"outcome": "declined"}, "Vera Ott")
    assert (row.answer, row.answered_by) == ({"outcome": "declined"}, "user-7")
    assert json.loads(result) == ["decline", None]


async def test_a_page_is_opened_after_consent(url):
    async with called(url, "pay") as it:
        await it.answer({"outcome": "accepted"})
        result = await it.result()

    asked = it.cards[0]["asked"]
    told = (asked["mode"], asked["message"], asked["host"], asked["url"])
    assert told == ("url", "Pay, please.", "pay.example.org", "https://pay.example.org/1?a=<b>")
    assert json.loads(result) == ["accept", None]


async def test_a_page_that_a_call_needs_is_opened_and_the_call_made_again(url):
    async with called(url, "gate") as it:
        await it.answer({"outcome": "accepted"})
        result = await it.result()

    assert it.cards[0]["asked"] == {
        "title": "A question from desk",
        "server": "desk",
        "mode": "url",
        "message": "Open the gate.",
        "url": "https://gate.example.org/open?a=<b>",
        "host": "gate.example.org",
        "repeats": True,
    }
    assert result == "The gate is open."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"outcome": "accepted"}, "desk_wall: Locked."),
        ({"outcome": "declined"}, "desk_wall: Locked. The user did not open the required page"),
    ],
)
async def test_a_call_is_made_again_once_and_only_if_the_page_was_opened(url, answer, told):
    async with called(url, "wall") as it:
        await it.answer(answer)
        result = await it.result()

    assert result.startswith(told)
    assert await Interaction.objects.acount() == 1


@pytest.mark.parametrize("tool", ["trap", "riddle"])
async def test_a_page_that_cannot_be_opened_is_not_shown(url, tool):
    async with called(url, tool, cards=0) as it:
        result = await it.result()

    assert result.startswith(f"desk_{tool}: Locked.")
    assert not await Interaction.objects.aexists()


@pytest.mark.parametrize(
    ("tool", "refusal"),
    [
        ("lure", "Only http(s) URLs can be opened."),
        ("nested", "The property where is not a string, a number, a boolean or a choice."),
    ],
)
async def test_what_cannot_be_asked_is_refused(url, tool, refusal):
    async with called(url, tool, cards=0) as it:
        assert await it.result() == f"refused: {refusal}"

    assert not await Interaction.objects.aexists()


async def test_long_texts_of_a_server_are_cut(url):
    async with called(url, "shout") as it:
        await it.answer({"outcome": "declined"})
        await it.result()

    asked = it.cards[0]["asked"]
    [one] = asked["fields"]
    cut = "\n… (cut: {:d} more characters)"
    assert asked["message"] == "z" * 4_000 + cut.format(96_000)
    assert one["label"] == ("<b>" * 67)[:199] + "…"
    assert one["hint"] == "y" * 1_000 + cut.format(8_999)


async def test_two_questions_at_once_get_their_own_answers(url):
    async with called(url, "both", cards=2) as it:
        for place, card in enumerate(it.cards):
            name = card["asked"]["message"]
            await it.answer({"outcome": "accepted", "content": {"name": name}}, place)
        result = await it.result()

    assert result == '["accept", {"name": "First?"}] ["accept", {"name": "Second?"}]'


async def test_a_question_that_nobody_answers_ends(url, monkeypatch):
    monkeypatch.setattr(elicitation, "ANSWER_SECONDS", 0.3)
    async with called(url, "book") as it:
        resolved = (await it.tab.until("interaction.resolved"))[-1]
        late = await it.tab.refusal(**it.answering({"outcome": "declined"}))
        result = await it.result()

    assert (resolved["answer"], resolved["by"]) == ({"outcome": "timeout"}, "")
    assert late["code"] == "answered"
    assert json.loads(result) == ["cancel", None]


async def test_waiting_for_a_person_counts_in_no_time_limit(url, monkeypatch):
    monkeypatch.setattr(elicitation, "ANSWER_SECONDS", 3.0)
    async with called(url, "book", seconds=2.5) as it:
        resolved = (await it.tab.until("interaction.resolved"))[-1]
        result = await it.result()

    assert resolved["answer"] == {"outcome": "timeout"}
    assert json.loads(result) == ["cancel", None]


async def test_a_stopped_answer_asks_nothing_any_more(url):
    async with called(url, "book") as it:
        await it.tab.send_json_to({"type": "stop"})
        resolved = (await it.tab.until("interaction.resolved"))[-1]
        await it.tab.until_over()
        await settled(it.on.hub)

    assert resolved["answer"] == {"outcome": "lost"}
    assert (await Interaction.objects.aget()).answer == {"outcome": "lost"}


async def test_nobody_else_answers(url):
    async with called(url, "book") as it:
        stranger = await it.on.stranger(Hub())
        error = await stranger.refusal(**it.answering({"outcome": "declined"}))
        await it.answer({"outcome": "declined"})
        await it.result()

    assert error["code"] == "conversation_not_found"


async def test_an_answer_reaches_the_process_that_makes_the_call(url, layer, monkeypatch):
    monkeypatch.setattr(elicitations, "CHECK_SECONDS", 300.0)  # only the notification counts
    async with called(url, "book", checks_tasks=layer == "memory") as it:
        there = await it.on.visitor.tab(Hub())
        await there.send_json_to(it.answering({"outcome": "accepted", "content": SEAT}))
        resolved = (await it.tab.until("interaction.resolved"))[-1]
        result = await it.result()

    assert resolved["answer"] == {"outcome": "accepted"}
    assert json.loads(result) == ["accept", SEAT]


async def test_a_question_is_lost_with_its_process(url, monkeypatch):
    monkeypatch.setattr(committer, "CHECK_SECONDS", 300.0)  # the dead process notices nothing
    async with called(url, "book") as it:
        dead = it.on.hub
        run = await Run.objects.aget()
        other = Hub()
        await Run.objects.aupdate(holder="", status="queued")
        there = await it.on.visitor.tab(other)
        await there.open(it.conversation)
        it.on.model.put(*saying("Gone."), None)
        await sweeper(other, it.on.visitor.open_workspace).sweep()
        frames = await there.until_over()
        await settled(other)
        for supervisor in list(dead.supervisors.values()):
            supervisor.stop()
        await settled(dead)

    resolved = [one["answer"] for one in frames if one["type"] == "interaction.resolved"]
    assert resolved == [{"outcome": "lost"}]
    assert (await Run.objects.aget(pk=run.pk)).status == "done"
    assert "ended before there was a result" in str(it.on.model.asked[-1].messages[-1].content)


async def test_a_server_is_told_that_it_may_ask_where_somebody_can_be_asked(url):
    async with called(url, "capabilities", cards=0) as it:
        result = await it.result()

    assert json.loads(result)["elicitation"] == {"form": {}, "url": {}}


async def test_two_answers_at_once_have_sessions_of_their_own(url):
    async with called(url, "book") as it:
        other_hub = Hub()
        second = await it.on.visitor.tab(other_hub)
        it.on.model.put(*calling(("b", "desk_book", {})), None)
        await second.ask("Go, too.")
        card = (await second.until("interaction.requested"))[-1]
        await it.answer({"outcome": "declined"})
        result = await it.result()
        still = await second.is_silent()
        asked = {name: card[name] for name in ("run", "key", "kind")}
        answer = {"outcome": "accepted", "content": SEAT}
        await second.send_json_to({"type": "answer", **asked, "answer": answer})
        await second.until("interaction.resolved")
        it.on.model.put(*saying("Done."), None)
        await second.until_over()
        await settled(other_hub)
        other = str(it.on.model.asked[-1].messages[-1].content)

    assert still
    assert (json.loads(result), json.loads(other)) == (["decline", None], ["accept", SEAT])
