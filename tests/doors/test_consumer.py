from __future__ import annotations

import asyncio
import gc
import weakref

import pytest
from asgiref.testing import ApplicationCommunicator

from apps.doors.bodies import BodyTooSlow, RequestBodyTooLarge
from apps.doors.consumer import EVENT_STREAM, HttpConsumer

pytestmark = pytest.mark.django_db

PATIENCE = 60.0


class Door(HttpConsumer):
    """Passes its request to the test's function."""

    def __init__(self, work):
        super().__init__()
        self.work = work

    async def handle(self):
        await self.work(self)


class Request:
    def __init__(self, work, **headers):
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "headers": [(name.replace("_", "-").encode(), v) for name, v in headers.items()],
        }
        self.communicator = ApplicationCommunicator(Door.as_asgi(work=work), scope)

    async def send(self, body=b"", more=False):
        message = {"type": "http.request", "body": body, "more_body": more}
        await self.communicator.send_input(message)

    async def leave(self):
        await self.communicator.send_input({"type": "http.disconnect"})

    async def receive(self):
        return await self.communicator.receive_output(PATIENCE)

    async def is_over(self):
        await self.communicator.wait(PATIENCE)


async def test_an_answer_is_given_at_once():
    async def work(door):
        await door.respond(200, await door.read_body(100), [(b"x-a", b"1")])

    request = Request(work)
    await request.send(b"hello")

    assert await request.receive() == {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"x-a", b"1"), (b"content-length", b"5")],
    }
    assert await request.receive() == {
        "type": "http.response.body",
        "body": b"hello",
        "more_body": False,
    }
    await request.is_over()


async def test_an_answer_is_written_in_pieces():
    async def work(door):
        await door.read_body(100)
        await door.start(200, EVENT_STREAM)
        await door.write(b"one")
        await door.end(b"two")

    request = Request(work)
    await request.send()

    pieces = [await request.receive() for _ in range(3)][1:]
    assert [(piece["body"], piece["more_body"]) for piece in pieces] == [
        (b"one", True),
        (b"two", False),
    ]
    await request.is_over()


async def test_work_is_cancelled_when_the_client_goes_away():
    cancelled = asyncio.Event()

    async def work(door):
        await door.read_body(100)
        await door.start(200, EVENT_STREAM)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    request = Request(work)
    await request.send()
    await request.receive()
    await request.leave()

    async with asyncio.timeout(PATIENCE):
        await cancelled.wait()
    await request.is_over()


@pytest.mark.parametrize("parts", [[], [False]])
async def test_a_client_that_goes_away_before_its_body_is_read_is_noticed(parts):
    """Servers report a disconnect after the body, whether or not the body has arrived yet."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def vouch():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def work(door):
        await door.while_connected(vouch())

    request = Request(work)
    for more in parts:
        await request.send(b"hello", more)
    async with asyncio.timeout(PATIENCE):
        await request.communicator.send_input({"type": "http.disconnect"})
        await begun.wait()
        await cancelled.wait()
    await request.is_over()


async def test_a_body_that_came_while_something_else_was_waited_for_is_whole():
    async def something(door):
        while not door.early:
            await asyncio.sleep(0)
        return b"said "

    async def work(door):
        known = await door.while_connected(something(door))
        await door.respond(200, known + await door.read_body(100))

    request = Request(work)
    await request.send(b"one ", more=True)
    await request.send(b"two")

    await request.receive()
    assert (await request.receive())["body"] == b"said one two"
    await request.is_over()


async def test_work_that_has_answered_may_finish_after_the_goodbye():
    finished, may_finish = asyncio.Event(), asyncio.Event()

    async def work(door):
        await door.read_body(100)
        await door.respond(200, b"")
        await may_finish.wait()
        finished.set()

    request = Request(work)
    await request.send()
    await request.leave()
    await request.receive()
    await request.receive()
    may_finish.set()

    await request.is_over()
    assert finished.is_set()


async def test_a_cancellation_by_the_server_goes_through():
    async def work(door):
        await door.read_body(100)
        await asyncio.Event().wait()

    async def send(message):
        """Send to a client that is gone."""

    async def receive():
        await received.wait()
        received.clear()
        return {"type": "http.request", "body": b""}

    received = asyncio.Event()
    received.set()
    scope = {"type": "http", "headers": []}
    task = asyncio.ensure_future(Door(work)(scope, receive, send))
    while received.is_set():
        await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("declared", [b"101", b"9" * 5000])
async def test_a_body_that_is_declared_too_large_is_not_waited_for(declared):
    async def work(door):
        with pytest.raises(RequestBodyTooLarge):
            await door.read_body(100)
        await door.respond(413, b"")

    request = Request(work, content_length=declared)

    assert (await request.receive())["status"] == 413
    await request.receive()
    await request.is_over()


@pytest.mark.parametrize("declared", [b"1", b"-1", b"x", b""])
async def test_a_body_is_measured_whatever_was_declared(declared):
    async def work(door):
        with pytest.raises(RequestBodyTooLarge):
            await door.read_body(100)
        await door.respond(413, b"")

    request = Request(work, content_length=declared)
    await request.send(b"x" * 60, more=True)
    await request.send(b"x" * 60, more=True)

    assert (await request.receive())["status"] == 413
    await request.receive()
    await request.is_over()


async def test_nothing_more_is_waited_for_after_the_end_of_a_body_that_was_too_large(monkeypatch):
    monkeypatch.setattr("apps.doors.bodies.LINGERING_SECONDS", 600.0)

    async def work(door):
        with pytest.raises(RequestBodyTooLarge):
            await door.read_body(100)
        await door.respond(413, b"")

    request = Request(work, transfer_encoding=b"chunked")
    await request.send(b"x" * 120)

    assert (await request.receive())["headers"] == [(b"content-length", b"0")]
    assert (await request.receive())["more_body"] is False
    await request.is_over()


async def test_a_client_that_is_still_sending_is_told_that_the_connection_ends():
    async def work(door):
        await door.respond(401, b"No")

    request = Request(work, content_length=b"100")
    await request.send(b"x", more=True)

    assert (await request.receive())["headers"] == [
        (b"content-length", b"2"),
        (b"connection", b"close"),
    ]
    assert (await request.receive())["body"] == b"No"
    assert (await request.receive())["more_body"] is False
    await request.is_over()


async def test_a_body_has_to_arrive_in_time():
    async def work(door):
        door.body_seconds = 0.05
        with pytest.raises(BodyTooSlow):
            await door.read_body(100)
        await door.respond(408, b"")

    request = Request(work)
    await request.send(b"x", more=True)

    assert (await request.receive())["status"] == 408
    await request.receive()
    await request.is_over()


async def test_work_that_breaks_is_answered_with_an_error(caplog):
    async def work(door):
        await door.read_body(100)
        raise RuntimeError("boom")

    request = Request(work)
    await request.send()

    assert (await request.receive())["status"] == 500
    assert (await request.receive())["body"] == b"Server error"
    await request.is_over()
    assert "RuntimeError: boom" in caplog.text


async def test_work_that_breaks_in_mid_answer_ends_it(caplog):
    async def work(door):
        await door.read_body(100)
        await door.start(200, EVENT_STREAM)
        await door.write(b"one")
        raise RuntimeError("boom")

    request = Request(work)
    await request.send()

    messages = [await request.receive() for _ in range(3)]
    assert messages[-1]["more_body"] is False
    await request.is_over()
    assert "RuntimeError: boom" in caplog.text


async def test_every_period_of_silence_is_broken_once():
    written = asyncio.Event()

    async def work(door):
        await door.read_body(100)
        await door.start(200, EVENT_STREAM)
        door.keep_alive(0.05)
        await written.wait()
        await door.end()

    request = Request(work)
    await request.send()
    await request.receive()

    assert (await request.receive())["body"] == b": heartbeat\n\n"
    assert (await request.receive())["body"] == b": heartbeat\n\n"
    written.set()
    while (await request.receive())["more_body"]:
        pass
    await request.is_over()


async def test_who_wrote_a_moment_ago_needs_no_heartbeat_yet():
    left = []

    async def work(door):
        await door.read_body(100)
        await door.start(200, EVENT_STREAM)
        door.keep_alive(60)
        door.written_at -= 20
        door.check_silence(60)
        left.append(door.silence_timer.when() - asyncio.get_running_loop().time())
        await door.end()

    request = Request(work)
    await request.send()
    await request.receive()

    assert (await request.receive())["body"] == b""
    await request.is_over()
    assert 30 < left[0] <= 40


async def test_a_request_that_is_over_is_freed_without_the_garbage_collector():
    freed = asyncio.Event()
    bodies = [{"type": "http.request", "body": b"hello"}]

    async def work(door):
        weakref.finalize(door, freed.set)
        await door.read_body(100)
        door.keep_alive(PATIENCE)
        await asyncio.sleep(0)  # disconnects are detected from now on
        await door.respond(200, b"")

    async def receive():
        return bodies.pop() if bodies else await asyncio.Event().wait()

    async def send(message):
        pass

    gc.disable()
    try:
        scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
        await Door.as_asgi(work=work)(scope, receive, send)
        async with asyncio.timeout(PATIENCE):
            await freed.wait()
    finally:
        gc.enable()
