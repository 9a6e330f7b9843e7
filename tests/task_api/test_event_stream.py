from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator

from apps.live.hub import Hub
from apps.task_api import event_stream
from apps.task_api.event_stream import NotificationsConsumer
from tests.chat.scripts import PATIENCE, Scene, Visitor, open_tab, says, thinks
from tests.contract import proves, proves_feature

pytestmark = pytest.mark.django_db


class Stream(ApplicationCommunicator):
    """A reader of server-sent events."""

    def __init__(
        self, visitor: Visitor, hub: Hub, query: str, last: str = "", method: str = "GET"
    ) -> None:
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": "/api/notifications",
            "query_string": query.encode(),
            "headers": [(b"last-event-id", last.encode())] if last else [],
            "user": visitor.user,
            "session": visitor.session,
        }
        super().__init__(NotificationsConsumer.as_asgi(hub=hub), scope)
        self.rest = ""

    async def start(self) -> dict[str, Any]:
        await self.send_input({"type": "http.request", "body": b""})
        head: dict[str, Any] = await self.receive_output(PATIENCE)
        return head

    async def body(self) -> str:
        part = await self.receive_output(PATIENCE)
        return str(part["body"].decode())

    async def event(self) -> tuple[str, str, dict[str, Any]]:
        """Return the id, name and data of the next event. Comments and bare ids are skipped."""
        while True:
            while "\n\n" not in self.rest:
                self.rest += await self.body()
            block, self.rest = self.rest.split("\n\n", 1)
            lines = dict(line.split(": ", 1) for line in block.splitlines())
            if "data" in lines:
                return lines.get("id", ""), lines["event"], json.loads(lines["data"])

    async def leave(self) -> None:
        await self.send_input({"type": "http.disconnect"})
        await self.wait(PATIENCE)


async def refusal(on: Scene, query: str, **options: str) -> tuple[int, str]:
    stream = Stream(on.visitor, on.hub, query, **options)
    head = await stream.start()
    body = json.loads(await stream.body())
    await stream.wait(PATIENCE)
    return head["status"], body["error"]["code"]


async def test_a_conversation_is_read_as_server_sent_events():
    async with open_tab() as (on, tab):
        conversation = await tab.ask("Count.")
        stream = Stream(on.visitor, on.hub, f"conversation={conversation}")
        head = await stream.start()
        on.model.put(thinks("hm", failed=False), says("one"), None)
        frames = await tab.until_over()
        events: list[tuple[str, str, dict[str, Any]]] = []
        while not events or events[-1][2]["seq"] < frames[-1]["seq"]:
            events.append(await stream.event())
        await stream.leave()

    assert head["status"] == 200
    assert (b"content-type", b"text/event-stream; charset=utf-8") in head["headers"]
    assert [(data["type"], name) for _, name, data in events] == [
        ("message.added", "AIMessageComplete"),
        ("run.status", "AITaskStatusChanged"),
        ("stage.opened", "AIToolCallStarted"),
        ("stage.delta", "AIToolCallProgress"),
        ("stage.closed", "AIToolCallCompleted"),
        ("message.delta", "AIMessageDelta"),
        ("message.complete", "AIMessageComplete"),
        ("run.status", "AITaskStatusChanged"),
    ]
    assert [data for _, _, data in events] == frames
    assert [int(number) for number, _, _ in events] == [frame["seq"] for frame in frames]


@proves_feature("conversations", "reconnect")
@proves("T-14")
async def test_who_comes_back_goes_on_after_the_last_event_it_has():
    async with open_tab() as (on, tab):
        frames = await tab.exchange("Count.", says("one"))

        stream = Stream(on.visitor, on.hub, f"conversation={tab.conversation}", last="5")
        await stream.start()
        events = [await stream.event(), await stream.event()]
        await stream.leave()

    assert [data for _, _, data in events] == frames[-2:]


@proves("T-14")
async def test_a_silent_stream_has_a_heartbeat(settings):
    settings.HEARTBEAT_SECONDS = 0.02
    async with open_tab() as (on, tab):
        frames = await tab.exchange("Count.")
        last = str(frames[-1]["seq"])
        stream = Stream(on.visitor, on.hub, f"conversation={tab.conversation}", last=last)
        await stream.start()

        bodies = [await stream.body(), await stream.body(), await stream.body()]
        await stream.leave()

    assert bodies == [": open\n\n", ": heartbeat\n\n", ": heartbeat\n\n"]


async def test_what_cannot_be_read_is_refused():
    async with open_tab() as (on, tab):
        await tab.exchange("Count.")
        mine = f"conversation={tab.conversation}"
        found = [
            await refusal(on, "unions=union"),
            await refusal(on, "conversation="),
            await refusal(on, "", last="x"),
            await refusal(on, "", last="1-0.2-3"),
            await refusal(on, "conversation=7"),
            await refusal(on, mine, last="x"),
            await refusal(on, mine, last="-1"),
            await refusal(on, mine, last="9" * 30),
            await refusal(on, mine, method="POST"),
            await refusal(on, f"conversation={uuid4()}"),
        ]
        on.visitor.session.session_key = "browser-2"
        found.append(await refusal(on, mine))
        on.visitor.session.session_key = None
        found.append(await refusal(on, mine))

    assert found == [
        *[(400, "bad_request")] * 8,
        (405, "method_not_allowed"),
        (404, "conversation_not_found"),
        (404, "conversation_not_found"),
        (401, "no_session"),
    ]


async def test_a_visitor_has_so_many_streams_and_no_more(monkeypatch):
    monkeypatch.setattr(event_stream, "STREAMS_PER_VISITOR", 2)
    async with open_tab() as (on, tab):
        on.model.put(None)
        query = f"conversation={await tab.ask('Count.')}"
        await tab.until_over()
        streams = [Stream(on.visitor, on.hub, query) for _ in range(2)]
        for stream in streams:
            await stream.start()

        refused = await refusal(on, query)
        await asyncio.gather(*(stream.leave() for stream in streams))
        again = Stream(on.visitor, on.hub, query)
        head = await again.start()
        await again.leave()

    assert refused == (429, "too_many_streams")
    assert head["status"] == 200
    assert not NotificationsConsumer.streams


@proves("T-12")
async def test_t_12_a_program_may_read_events_in_the_form_of_unions():
    async with open_tab() as (on, tab):
        await tab.exchange("Count.", says("one"))
        stream = Stream(on.visitor, on.hub, f"conversation={tab.conversation}&unions=cases")
        await stream.start()
        events = [await stream.event() for _ in range(3)]
        await stream.leave()

    cases = [(data["Case"], data["Fields"][0].get("text")) for _, _, data in events]
    assert cases == [
        ("MessageComplete", None),
        ("TaskStatusChanged", None),
        ("MessageDelta", "one"),
    ]
