from __future__ import annotations

import asyncio
import time

import pytest

from apps.errors import ServiceFailed
from apps.runs.failures import failure
from tests.capabilities.service import Reply, json_reply
from tests.tables import each_row
from tests.workspace.dial.callers import scripted, workspace

BUCKET = json_reply('{"bucket": "b7"}')


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_what_may_pass_is_waited_for_when_nothing_is_changed_by_it(settings, status):
    async with scripted(settings, Reply(status), Reply(status), BUCKET) as (service, own):
        assert await own.files.home() == "files/b7/"

    assert len(service.seen) == 3


async def test_core_is_asked_three_times_at_most(settings):
    async with scripted(settings, Reply(503, b"Busy")) as (service, own):
        with pytest.raises(ServiceFailed, match=r"returned status 503 for .*: Busy"):
            await own.files.home()

    assert len(service.seen) == 3


@pytest.mark.parametrize("status", [302, 400, 401, 403, 409, 500])
async def test_what_will_not_pass_is_told_at_once(settings, status):
    async with scripted(settings, Reply(status, b"No.")) as (service, own):
        with pytest.raises(ServiceFailed) as caught:
            await own.files.home()

    assert (caught.value.status, len(service.seen)) == (status, 1)


async def test_what_changes_something_is_asked_once(settings):
    async with scripted(settings, Reply(503)) as (service, own):
        with pytest.raises(ServiceFailed):
            await own.files.delete("files/b7/a")

    assert len(service.seen) == 1


async def test_core_says_how_long_to_wait(settings):
    async with scripted(settings, Reply(429, b"", {"Retry-After": "1"}), BUCKET) as (_, own):
        started = time.monotonic()
        await own.files.home()

    assert time.monotonic() - started >= 1


async def test_a_core_that_wants_too_much_time_is_not_waited_for(settings):
    async with scripted(settings, Reply(429, b"", {"Retry-After": "15"})) as (service, own):
        with pytest.raises(ServiceFailed):
            await asyncio.wait_for(own.calls.get("/v1/bucket", seconds=5), 4)

    assert len(service.seen) == 1


async def test_a_silent_core_times_out(settings):
    async def never(seen):
        await asyncio.Event().wait()

    async with scripted(settings, answer=never) as (_, own):
        with pytest.raises(ServiceFailed, match=r"did not respond within 0\.2 seconds") as caught:
            await own.calls.get("/v1/bucket", seconds=0.2)

    assert "A request to a required service timed out." in failure(caught.value).text


async def test_a_core_that_is_not_there_is_a_failure_of_the_network(settings, unused_port):
    settings.DIAL_URL = f"http://127.0.0.1:{unused_port}"

    with pytest.raises(ServiceFailed, match="cannot be reached") as caught:
        await workspace(settings.DIAL_URL).files.home()

    assert "A network error occurred" in failure(caught.value).text


@each_row(
    ("answer", "text"),
    [
        (Reply(200, b"<html>"), "sent a response that is not JSON"),
        (Reply(200, b"\xff\xfe"), "sent a response that is not JSON"),
        (json_reply("[1]"), "sent an unreadable response"),
        (json_reply("{}"), "returned no bucket"),
        (json_reply('{"bucket": "../x"}'), "returned no bucket"),
        (Reply(200), "sent an unreadable response"),
        (Reply(200, b"{", {"Content-Length": "9"}), "disconnected before the end of its response"),
        (Reply(200, b"xxxx", {"Content-Encoding": "gzip"}), "sent a compressed response"),
    ],
)
async def test_nonsense_is_told_from_an_answer(settings, answer, text):
    async with scripted(settings, answer) as (_, own):
        with pytest.raises(ServiceFailed, match=text):
            await own.files.home()


@each_row(
    ("body", "said"),
    [
        (b"Unknown api key", "Unknown api key"),
        (b'{"error": {"message": "Limit\\nhit", "code": "429"}}', "Limit hit"),
        (b'{"message": "plain"}', "plain"),
        (b'{"error": "short"}', "short"),
        (b"<html>proxy</html>", ""),
        (b"", ""),
        (b"key is the-secret, token is jwt-7", "key is …, token is …"),
        (b"x" * 400, "x" * 299 + "…"),
        (b"\x1b[31mred", "[31mred"),
        (b"y" * 100_000, ""),
    ],
)
async def test_why_core_refuses_is_told_in_one_line_without_secrets(settings, body, said):
    async with scripted(settings, Reply(403, body), key="the-secret", bearer="jwt-7") as (_, own):
        with pytest.raises(ServiceFailed) as caught:
            await own.files.home()

    rest = f": {said}" if said else "."
    assert str(caught.value) == f"DIAL Core returned status 403 for GET /v1/bucket{rest}"


async def test_a_caller_without_a_key_is_known_by_the_bearer_token(fake):
    assert (await workspace(fake.url, key="", bearer="ann").files.home()).startswith("files/")

    (request,) = fake.requests
    assert request.headers["authorization"] == "Bearer ann"
    assert "api-key" not in request.headers


async def test_the_key_is_enough_where_there_is_one(fake):
    trace = {"traceparent": "00-ab-cd-01"}
    await workspace(fake.url, bearer="ann", trace=trace).files.home()

    (request,) = fake.requests
    assert (request.headers["api-key"], request.headers["traceparent"]) == (
        "dial-demo-key",
        "00-ab-cd-01",
    )
    assert "authorization" not in request.headers


async def test_core_may_stand_below_a_path(settings):
    async with scripted(settings, BUCKET) as (service, _):
        settings.DIAL_URL = f"{service.url}/dial"
        await workspace(settings.DIAL_URL).files.home()

    assert service.targets == ["GET /dial/v1/bucket"]
