"""A run asks its user over the page's socket, and the user answers from anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.agent.ledger import InteractionKind
from apps.agent.ledger import InteractionRequest as Asked
from apps.agent.model import Delta
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities import preparation
from apps.capabilities.registry import Contribution
from apps.catalog.models import Application
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import Hub
from apps.live.models import Consent, Interaction, Run
from tests.catalog.rows import store_application
from tests.chat.scripts import Scene, Tab, counts, open_tab, settled
from tests.contract import proves
from tests.conversations.outcome.test_figures import price
from tests.fakes import async_tool, calling, capability, saying

pytestmark = pytest.mark.django_db

CARD = {
    "title": "Pay",
    "name": "pay",
    "arguments": {"amount": 5},
    "editable": {"amount": {"type": "integer"}},
    "risk": "changes",
    "always": ["conversation"],
    "four_eyes": False,
}
QUESTION = {
    "question": "Which?",
    "input": "single",
    "options": [{"label": "A"}, {"label": "B"}],
    "freeform": False,
}


@dataclass
class Desk:
    """The questions of the tool `pay`, and the answers with which it ran."""

    kind: InteractionKind = "approval"
    asked: dict[str, Any] = field(default_factory=lambda: dict(CARD))
    paid: list[Any] = field(default_factory=list)

    async def pay(self, invocation: Invocation) -> ToolResult:
        answered = invocation.answers.get(self.kind)
        if answered is None and invocation.ledger.consent("pay") != "always":
            return PendingResult(interactions=(Asked("", self.kind, self.asked, 600),))
        self.paid.append(None if answered is None else answered.answer)
        return ToolResult("paid")


now = Desk()
DESK = capability(
    Contribution((async_tool("pay", lambda invocation: now.pay(invocation)),)), "desk"
)


@pytest.fixture
def desk(settings: Settings) -> Iterator[Desk]:
    now.__init__()  # type: ignore[misc]
    settings.CAPABILITIES = [
        *settings.CAPABILITIES,
        "tests.conversations.interactions.test_interactions.DESK",
    ]
    preparation.capabilities.cache_clear()
    yield now
    preparation.capabilities.cache_clear()


@dataclass
class Waiting:
    """A conversation in which a run waits for its user."""

    on: Scene
    tab: Tab
    conversation: str
    requested: dict[str, Any]

    def answering(self, answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
        asked = {name: self.requested[name] for name in ("run", "key", "kind")}
        return {"type": "answer", **asked, "answer": answer, **fields}

    async def go_on(self, hub: Hub | None = None) -> None:
        """Let a process take the run over and end it."""
        self.on.model.put(*saying("Done."), None)
        hub = hub or self.on.hub
        await sweeper(hub, self.on.visitor.open_workspace).sweep()
        await settled(hub)


@asynccontextmanager
async def waiting(*lines: Delta) -> AsyncIterator[Waiting]:
    """`lines` precede the call."""
    async with open_tab() as (on, tab):
        on.model.put(*lines, *calling(("p", "pay", {"amount": 5})), None)
        conversation = await tab.ask("Pay.")
        frames = await tab.until("run.status", status="waiting")
        [requested] = [one for one in frames if one["type"] == "interaction.requested"]
        await settled(on.hub)
        yield Waiting(on, tab, conversation, requested)


async def refusal(tab: Tab, frame: dict[str, Any]) -> str:
    return str((await tab.refusal(**frame))["code"])


@proves("D-22")
async def test_a_changed_call_is_approved_in_another_process_and_every_tab_is_told(desk):
    async with waiting() as it:
        other = Hub()
        there = await it.on.visitor.tab(other)
        await there.open(it.conversation)
        await there.until("run.status", status="waiting")
        given = {"outcome": "approved", "arguments": {"amount": 4}}
        await there.send_json_to(it.answering(given))
        [resolved] = await there.until("interaction.resolved")
        [seen] = await it.tab.until("interaction.resolved")
        await it.go_on(other)
        frames = await it.tab.until_over()

    stored = {**given, "reason": ""}
    asked = {name: it.requested[name] for name in ("run", "key", "kind")}
    told = {name: resolved[name] for name in ("run", "key", "kind", "answer", "by")}
    assert told == {**asked, "answer": stored, "by": "you"}
    assert seen == resolved
    assert abs(resolved["at"] - timezone.now().timestamp()) < 60
    assert desk.paid == [stored]
    assert [one["status"] for one in frames if one["type"] == "run.status"] == ["running", "done"]
    row = await Interaction.objects.aget()
    assert (row.answer, row.answered_by) == (stored, it.on.visitor.bucket)


@pytest.mark.usefixtures("desk")
async def test_an_answer_that_waited_costs_what_was_spent_before_and_after(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    await sync_to_async(price)("paced", input=1_000)
    async with waiting(counts(5, 0)) as it:
        await it.tab.send_json_to(it.answering({"outcome": "approved"}))
        await it.tab.until("interaction.resolved")
        other = Hub()
        it.on.model.put(counts(7, 0))
        await it.go_on(other)
        frames = await it.tab.until_over()

    message = frames[-2]["message"]
    assert message["costs"] == {"USD": "0.012"}
    assert message["usage"] == {"prompt_tokens": 12, "completion_tokens": 0}
    assert "first_text_seconds" not in message


@pytest.mark.usefixtures("desk")
async def test_of_two_tabs_that_answer_at_once_one_wins():
    async with waiting() as it:
        second = await it.on.visitor.tab(Hub())
        await second.open(it.conversation)
        await second.until("run.status", status="waiting")
        for tab, outcome in ((it.tab, "approved"), (second, "denied")):
            await tab.send_json_to(it.answering({"outcome": outcome}))
        seen = [await tab.until("interaction.resolved") for tab in (it.tab, second)]
        winner = 0 if seen[0][-1]["answer"]["outcome"] == "approved" else 1
        losing = seen[1 - winner]
        if losing[0]["type"] != "error":
            losing += await (second, it.tab)[winner].until("error")

    assert [frame["type"] for frame in seen[winner]] == ["interaction.resolved"]
    assert sorted(frame["type"] for frame in losing) == ["error", "interaction.resolved"]
    assert seen[winner][0]["answer"] == (await Interaction.objects.aget()).answer


UNOFFERED: list[tuple[dict[str, Any], str]] = [
    ({"outcome": "maybe"}, "bad_frame"),
    ({"outcome": "approved", "more": 1}, "bad_frame"),
    ({"outcome": "approved", "arguments": {"amount": "x" * 200_001}}, "bad_frame"),
    ({"outcome": "denied", "reason": "x" * 2_001}, "bad_frame"),
    ({"outcome": "approved", "arguments": {"to": "me"}}, "bad_answer"),
    ({"outcome": "approved", "always": "application"}, "bad_answer"),
    ({"outcome": "denied", "arguments": {"amount": 1}}, "bad_answer"),
]


@pytest.mark.usefixtures("desk")
async def test_an_answer_that_the_card_does_not_offer_is_refused():
    async with waiting() as it:
        codes = [await refusal(it.tab, it.answering(answer)) for answer, _ in UNOFFERED]

    assert codes == [code for _, code in UNOFFERED]
    assert (await Interaction.objects.aget()).answer is None


MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"outcome": "answered", "choices": ["C"]}, "bad_answer"),
    ({"outcome": "answered", "choices": ["A", "B"]}, "bad_answer"),
    ({"outcome": "answered", "choices": ["A"], "text": "And more."}, "bad_answer"),
    ({"outcome": "answered", "choices": []}, "bad_answer"),
    ({"outcome": "answered", "choices": ["A"] * 101}, "bad_frame"),
]


async def test_an_answer_that_does_not_fit_its_question_is_refused(desk):
    desk.kind, desk.asked = "question", QUESTION
    async with waiting() as it:
        codes = [await refusal(it.tab, it.answering(answer)) for answer, _ in MISFITS]

    assert codes == [code for _, code in MISFITS]
    assert (await Interaction.objects.aget()).answer is None


async def test_a_question_is_answered(desk):
    desk.kind, desk.asked = "question", QUESTION
    async with waiting() as it:
        await it.tab.send_json_to(it.answering({"outcome": "answered", "choices": ["B"]}))
        await it.tab.until("interaction.resolved")
        await it.go_on()

    assert desk.paid == [{"outcome": "answered", "choices": ["B"], "text": ""}]


@proves("D-43")
@pytest.mark.usefixtures("desk")
async def test_nobody_else_reaches_a_card():
    async with waiting() as it:
        tab = await it.on.stranger(Hub())
        codes = [
            await refusal(tab, it.answering({"outcome": "approved"})),
            await refusal(it.tab, it.answering({"outcome": "approved"}, run=str(uuid4()))),
            await refusal(it.tab, it.answering({"outcome": "approved"}, key="t:9:0:x")),
        ]

    assert codes == ["conversation_not_found", "conversation_not_found", "answered"]
    assert (await Interaction.objects.aget()).answer is None


async def test_the_person_of_a_run_does_not_approve_for_a_second_pair_of_eyes(desk):
    desk.asked["four_eyes"] = True
    async with waiting() as it:
        code = await refusal(it.tab, it.answering({"outcome": "approved"}))

    assert code == "four_eyes"
    assert (await Run.objects.aget()).status == "waiting"


async def test_who_does_not_want_to_be_asked_again_is_not(desk):
    async with waiting() as it:
        given = {"outcome": "approved", "always": "conversation"}
        await it.tab.send_json_to(it.answering(given))
        await it.tab.until("interaction.resolved")
        await it.go_on()
        await it.tab.until_over()
        frames = await it.tab.exchange(
            "Again.",
            *calling(("q", "pay", {"amount": 5})),
            None,
            *saying("Done."),
            conversation=it.conversation,
        )

    assert "interaction.requested" not in [frame["type"] for frame in frames]
    assert desk.paid[1:] == [None]


async def test_two_cards_are_answered_one_after_the_other(desk):
    async with open_tab() as (on, tab):
        on.model.put(*calling(("p", "pay", {}), ("q", "pay", {})), None)
        await tab.ask("Pay twice.")
        frames = await tab.until("run.status", status="waiting")
        first, second = [one for one in frames if one["type"] == "interaction.requested"]
        await settled(on.hub)
        it = Waiting(on, tab, "", first)
        await tab.send_json_to(it.answering({"outcome": "denied"}))
        await tab.until("interaction.resolved")
        # It works on the first one until it waits again.
        early = await refusal(tab, it.answering({"outcome": "approved"}, key=second["key"]))
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        between = await tab.until("run.status", status="waiting")
        await settled(on.hub)
        await tab.send_json_to(it.answering({"outcome": "approved"}, key=second["key"]))
        [resolved] = await tab.until("interaction.resolved")
        await it.go_on()
        await tab.until_over()

    assert (early, resolved["key"]) == ("run_going", second["key"])
    assert "interaction.requested" not in [frame["type"] for frame in between]
    assert [answer["outcome"] for answer in desk.paid] == ["denied", "approved"]


@proves("D-22")
async def test_the_clock_answers_and_viewers_are_told_at_once(desk):
    async with waiting() as it:
        await Interaction.objects.aupdate(due_at=timezone.now() - timedelta(seconds=1))
        await it.go_on()
        [resolved] = await it.tab.until("interaction.resolved")

    assert (resolved["answer"], resolved["by"]) == ({"outcome": "timeout"}, "")
    assert desk.paid == [{"outcome": "timeout"}]


@proves("D-09")
async def test_a_run_that_waits_is_stopped_and_viewers_are_told_at_once(desk, settings):
    settings.HEARTBEAT_SECONDS = 600.0  # the interval at which a viewer polls
    async with waiting() as it:
        async with asyncio.timeout(60):
            await it.tab.send_json_to({"type": "stop"})
            await it.tab.until_over()
        code = await refusal(it.tab, it.answering({"outcome": "approved"}))

    assert (code, desk.paid) == ("answered", [])


def consent(bucket: str, tool: str = "pay") -> Consent:
    application = Application.objects.get_or_create(slug="desk", title="Desk", is_public=True)[0]
    return Consent.objects.create(bucket=bucket, application=application, tool=tool, mode="always")


@proves("D-23")
def test_people_see_and_withdraw_what_is_theirs(client, django_user_model):
    user = django_user_model.objects.create_user("vera")
    client.force_login(user)
    mine, other = consent(f"user-{user.pk}"), consent("user-0", "refund")

    page = client.get("/approvals/").text
    answers = [
        client.post("/approvals/", {"consent": chosen}).status_code
        for chosen in (other.pk, "x", "", "9" * 40, mine.pk, mine.pk)
    ]

    assert ('<h3 dir="auto">Pay</h3>' in page, "refund" in page) == (True, False)
    assert answers == [404, 404, 404, 404, 302, 404]
    assert list(Consent.objects.all()) == [other]


@proves("D-23")
def test_people_choose_before_which_tools_they_are_asked(client, django_user_model):
    user = django_user_model.objects.create_user("vera")
    client.force_login(user)
    bucket = f"user-{user.pk}"
    application = consent(bucket).application
    closed = store_application(slug="closed", title="Closed", is_enabled=False)

    answers = [
        client.post("/approvals/", {"ask": chosen}).status_code
        for chosen in (f"{closed.pk}:", "x", "", f"{application.pk}:{'x' * 201}", "0:pay")
    ]
    assert Consent.objects.get().mode == "always"
    answers += [
        client.post("/approvals/", {"ask": f"{application.pk}:{tool}"}).status_code
        for tool in ("pay", "")
    ]

    assert answers == [404] * 5 + [302] * 2
    kept = Consent.objects.order_by("tool").values_list("bucket", "tool", "mode")
    assert list(kept) == [(bucket, "", "confirm"), (bucket, "pay", "confirm")]
    page = client.get("/approvals/").text
    assert '<h3 dir="auto">All tools</h3>' in page
    assert ">Desk: all tools</option>" in page
    assert "Closed" not in page


def test_nothing_is_withdrawn_without_the_token(django_user_model):
    user = django_user_model.objects.create_user("vera")
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    mine = consent(f"user-{user.pk}")

    assert client.post("/approvals/", {"consent": mine.pk}).status_code == 403
    assert Consent.objects.get() == mine
