"""T-33…T-36: a run calls a tool of the page that has its conversation open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import Permission, User
from django.urls import path
from django.utils import timezone

from apps.capabilities.client_tools.capability import FORBIDDEN, TIMED_OUT
from apps.capabilities.wrappers.approval import FORBIDDEN as NOT_ALLOWED
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import Hub
from apps.live.models import Interaction, Run
from apps.task_api.client_calls import ClaimConsumer, ResultConsumer
from tests.capabilities.manifests import OTHERWISE
from tests.chat.scripts import MANIFEST, PATIENCE, Scene, Tab, Visitor, open_tab, scene, settled
from tests.contract import proves, proves_feature
from tests.conversations.answering.test_processes import layer as layer  # a fixture
from tests.fakes import calling, saying

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

TOKEN = "a" * 32
CALL = {"value": "Riga"}
ANSWER = {"outcome": "done", "result": "all of it"}


def manifest(**fields: Any) -> dict[str, Any]:
    properties = {"value": {"type": "string", "description": "The new text."}}
    parameters = {"type": "object", "properties": properties, "required": ["value"]}
    tool = {"name": "shop.fill", "description": "Fills in the order.", "parameters": parameters}
    toolset = {"type": "client", "name": "Shop", "tools": [{**tool, **fields}]}
    return {**MANIFEST, "tool_sets": [toolset]}


@dataclass
class Page:
    """A conversation that is open on the page, and whose run waits for it."""

    on: Scene
    tab: Tab
    conversation: str
    requested: list[dict[str, Any]]

    def call(self, index: int = 0) -> dict[str, Any]:
        return {name: self.requested[index][name] for name in ("run", "key")}

    async def post(
        self,
        door: str,
        body: Any,
        *,
        hub: Hub | None = None,
        visitor: Visitor | None = None,
        token: str = TOKEN,
    ) -> tuple[int, Any]:
        """Return a process's response to a request of the page."""
        visitor = visitor or self.on.visitor
        options = {"hub": hub or self.on.hub}
        routes: Any = [
            path("tool-claim", ClaimConsumer.as_asgi(**options)),
            path("tool-result", ResultConsumer.as_asgi(**options)),
        ]
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/{door}",
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"cookie", f"csrftoken={TOKEN}".encode()),
                (b"x-csrftoken", token.encode()),
            ],
            "user": visitor.user,
            "session": visitor.session,
        }
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        exchange = ApplicationCommunicator(URLRouter(routes), scope)
        await exchange.send_input({"type": "http.request", "body": sent})
        head = await exchange.receive_output(PATIENCE)
        answer = await exchange.receive_output(PATIENCE)
        await exchange.wait(PATIENCE)
        await asyncio.sleep(0)  # the listener for a disconnect ends now
        told = json.loads(answer["body"])
        return head["status"], told.get("state") or told["error"]["code"]

    async def result(self, body: Any = None, index: int = 0, **options: Any) -> tuple[int, Any]:
        given = {"result": "done"} if body is None else body
        return await self.post("tool-result", {**self.call(index), **given}, **options)

    async def claim(self, page: str, former: str = "") -> Any:
        body = {**self.call(), "page": page, "former": former}
        return (await self.post("tool-claim", body))[1]

    async def go_on(self, hub: Hub | None = None) -> list[str]:
        """Let a process continue the run to its end. Return the results of its calls that the model
        read."""
        hub = hub or self.on.hub
        self.on.model.put(*saying("Done."), None)
        await sweeper(hub, self.on.visitor.open_workspace).sweep()
        await settled(hub)
        messages = self.on.model.asked[-1].messages
        return [str(message.content) for message in messages if message.role == "tool"]


@asynccontextmanager
async def page(
    *calls: dict[str, Any],
    user: User | None = None,
    until: str = "waiting",
    checks_tasks: bool = True,
    **fields: Any,
) -> AsyncIterator[Page]:
    async with scene(checks_tasks=checks_tasks, manifest=manifest(**fields)) as on:
        if user is not None:
            on.visitor.user = user
        wanted = [(f"c{i}", "shop_fill", call) for i, call in enumerate(calls or (CALL,))]
        on.model.put(*calling(*wanted), None)
        if until == "done":
            on.model.put(*saying("Done."), None)
        tab = await on.visitor.tab(on.hub)
        conversation = await tab.ask("Fill it in.", surface="page")
        frames = await tab.until("run.status", status=until)
        await settled(on.hub)
        requested = [one for one in frames if one["type"] == "interaction.requested"]
        yield Page(on, tab, conversation, requested)


@proves_feature("page", "client tools")
@proves("T-33", "T-35")
async def test_the_page_is_asked_and_its_result_reaches_the_model_through_another_process(layer):
    async with page(checks_tasks=layer == "memory") as it:
        [requested] = it.requested
        other = Hub()
        answered = await it.result({"result": {"order": 7, "left": None}}, hub=other)
        told = await it.go_on(other)
        frames = await it.tab.until_over()

    asked = {
        "name": "shop.fill",
        "title": "Shop · shop.fill",
        "arguments": CALL,
        "is_repeatable": False,
        "permission": "",
    }
    assert (requested["kind"], requested["asked"]) == ("client_tool", asked)
    assert 85 < requested["due"] - timezone.now().timestamp() <= 90
    assert answered == (200, "done")
    assert [json.loads(one) for one in told] == [{"order": 7, "left": None}]
    [resolved] = [one for one in frames if one["type"] == "interaction.resolved"]
    assert resolved["answer"] == {"outcome": "done"}


@pytest.mark.parametrize("is_closed", [False, True])
async def test_the_socket_takes_a_result_as_well(is_closed):
    async with page() as it:
        there = await it.on.visitor.tab(Hub())
        answer = {"outcome": "failed", "error": "The field is gone."} if is_closed else ANSWER
        await there.send_json_to(
            {"type": "answer", "kind": "client_tool", **it.call(), "answer": answer}
        )
        await it.tab.until("interaction.resolved")
        [told] = await it.go_on()

    reason = f"The page could not run the tool: The field is gone.{OTHERWISE}"
    assert told == (reason if is_closed else "all of it")


MALFORMED: list[Any] = [
    b"{",
    {},
    b"[]",
    {"result": 1, "error": "x"},
    {"result": "x" * 200_001},
    {"error": "x" * 2_001},
    {"error": None},
    {"key": 7, "result": 1},
    {"key": "x" * 501, "result": 1},
    {"run": "no id", "result": 1},
]


@proves("T-35")
async def test_what_is_malformed_is_refused_and_the_call_stays_open():
    async with page() as it:
        sent = [one if isinstance(one, bytes) else {**it.call(), **one} for one in MALFORMED]
        run, key = it.call().values()
        sent.append(f'{{"run": "{run}", "key": "{key}", "result": NaN}}'.encode())
        answers = [await it.post("tool-result", one) for one in sent]

    assert answers == [(400, "bad_request")] * len(sent)
    assert (await Interaction.objects.aget()).answer is None


@proves("T-35")
async def test_a_result_for_an_unknown_call_or_one_that_is_over_is_not_found():
    async with page() as it:
        stranger = Visitor(it.on.application, it.on.model, session_key="browser-2")
        unknown = [
            await it.post("tool-result", {**it.call(), "key": "t:9:0:x", "result": 1}),
            await it.post("tool-result", {**it.call(), "run": str(uuid4()), "result": 1}),
            await it.result(visitor=stranger),
        ]
        first, second = await it.result({"result": 1}), await it.result({"result": 2})
        [told] = await it.go_on()
        late = await it.result()

    assert unknown == [
        (404, "answered"),
        (404, "conversation_not_found"),
        (404, "conversation_not_found"),
    ]
    assert (first, second, late) == ((200, "done"), (404, "answered"), (404, "answered"))
    assert told == "1"


@proves("T-09", "T-35")
async def test_a_result_after_its_time_is_not_found_and_the_model_is_told_of_the_silence():
    async with page() as it:
        await Interaction.objects.aupdate(due_at=timezone.now() - timedelta(seconds=1))
        late, claimed = await it.result(), await it.claim("page-1")
        [told] = await it.go_on()

    assert (late, claimed) == ((404, "answered"), "answered")
    assert told.startswith(TIMED_OUT)


async def test_a_request_without_the_token_of_the_page_is_refused():
    async with page() as it:
        assert await it.result(token="b" * 32) == (403, "csrf_failed")


async def make_user(*permissions: str) -> User:
    user = await User.objects.acreate(username="vera")
    found = Permission.objects.filter(codename__in=permissions)
    await user.user_permissions.aset([one async for one in found])
    return user


@proves("T-35")
async def test_who_has_lost_the_permission_is_refused_and_the_call_stays_open():
    user = await make_user("change_application")
    async with page(user=user, permission="catalog.change_application") as it:
        await user.user_permissions.aclear()
        refused = await it.result()
        kept = (await Interaction.objects.aget()).answer
        await user.user_permissions.aset(
            [one async for one in Permission.objects.filter(codename="change_application")]
        )
        answered = await it.result({"result": "filled"})
        [told] = await it.go_on()

    assert (refused, kept, answered, told) == ((403, "forbidden"), None, (200, "done"), "filled")


@proves("T-36")
@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_the_page_is_not_asked_for_a_person_without_the_permission(is_signed_in, caplog):
    user = await make_user() if is_signed_in else None
    asked = page(user=user, until="done", permission="catalog.change_application")
    async with asked as it:
        messages = it.on.model.asked[-1].messages

    assert it.requested == []
    assert [m.content for m in messages if m.role == "tool"] == [FORBIDDEN]
    assert "lacks=catalog.change_application" in caplog.text
    assert not await Interaction.objects.aexists()


@proves("T-36")
async def test_a_call_that_a_rule_denies_never_reaches_the_page():
    rule = {"deny": {"patterns": ["Riga"]}}
    async with page(until="done", approval=rule) as it:
        messages = it.on.model.asked[-1].messages

    assert it.requested == []
    assert [m.content for m in messages if m.role == "tool"] == [NOT_ALLOWED]


@proves("T-36")
async def test_a_person_approves_before_the_page_is_asked():
    async with page(approval={"mode": "confirm", "editable": ["value"]}) as it:
        approved = {"outcome": "approved", "arguments": {"value": "Oslo"}}
        await it.tab.send_json_to(
            {"type": "answer", "kind": "approval", **it.call(), "answer": approved}
        )
        await it.tab.until("interaction.resolved")
        await sweeper(it.on.hub, it.on.visitor.open_workspace).sweep()
        frames = await it.tab.until("run.status", status="waiting")
        await settled(it.on.hub)
        answered = await it.result({"result": "filled"})
        [told] = await it.go_on()

    assert [one["kind"] for one in it.requested] == ["approval"]
    [requested] = [one for one in frames if one["type"] == "interaction.requested"]
    assert requested["kind"] == "client_tool"
    assert requested["asked"]["arguments"] == {"value": "Oslo"}
    assert (answered, told) == ((200, "done"), "filled")


async def test_wrong_arguments_never_reach_the_page():
    async with page({"value": 7}, until="done") as it:
        messages = it.on.model.asked[-1].messages

    assert it.requested == []
    [told] = [str(m.content) for m in messages if m.role == "tool"]
    assert "Parameter value is invalid" in told


async def test_several_calls_are_answered_in_any_order_before_the_run_goes_on():
    async with page({"value": "a"}, {"value": "b"}) as it:
        second = await it.result({"result": "b"}, index=1)
        between = (await Run.objects.aget()).status
        first = await it.result({"result": "a"}, index=0)
        after = (await Run.objects.aget()).status
        told = await it.go_on()

    assert (first, second) == ((200, "done"), (200, "done"))
    assert (between, after) == ("waiting", "queued")
    assert told == ["a", "b"]


@pytest.mark.parametrize(
    ("is_repeatable", "of_the_next_page"), [(True, "granted"), (False, "lost")]
)
async def test_one_page_carries_a_call_out(is_repeatable, of_the_next_page):
    async with page(is_repeatable=is_repeatable) as it:
        states = [
            await it.claim("one"),
            await it.claim("two"),
            await it.claim("one"),
            await it.claim("three", former="one"),
            await it.claim("four"),
        ]
        claim = {"page": "", **it.call()}
        refused = await it.post("tool-claim", claim)

    assert states == ["granted", "taken", "granted", of_the_next_page, "taken"]
    assert refused == (400, "bad_request")


async def test_a_call_is_claimed_while_the_run_acts_on_another_answer_and_not_when_it_is_over():
    async with page() as it:
        await Run.objects.aupdate(status="queued")
        early = await it.claim("one")
        going = await it.result()
        await Run.objects.aupdate(status="stopped")
        late = await it.claim("one")

    assert (early, going, late) == ("granted", (409, "run_going"), "answered")


@proves("T-34")
@pytest.mark.parametrize("surface", ["", "page"])
async def test_only_the_whole_page_has_tools(surface):
    async with open_tab(manifest=manifest()) as (on, tab):
        await tab.exchange("Go.", *saying("Done."), surface=surface)

    names = [tool.name for tool in on.model.asked[0].tools]
    assert names == (["shop_fill"] if surface else [])


@proves("T-34")
async def test_no_other_surface_can_be_named():
    async with open_tab(manifest=manifest()) as (_, tab):
        refusal = await tab.refusal(surface="x")

    assert refusal["code"] == "bad_frame"
