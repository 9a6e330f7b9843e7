"""Request bodies are limited per path, on every server."""

from __future__ import annotations

import asyncio
import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings

from apps.doors.bodies import BoundedBody
from quickapps_site.middleware.bodies import body_limits, with_bounded_bodies
from tests.sites.serving import Site

LIMITS = ((r"/files/", 100), (r"", 10))
TOO_LARGE = "The request is too large; the limit is {} bytes."


async def count(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the length of the body, and then wait until the client disconnects."""
    size, goes_on = 0, True
    while goes_on:
        message = await receive()
        size += len(message.get("body", b""))
        goes_on = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d" % size, "more_body": True})
    left = await receive()
    await send({"type": "http.response.body", "body": left["type"].encode()})


def asking(path: str, seconds: float = 60.0, **headers: str) -> ApplicationCommunicator:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    application = with_bounded_bodies(count, body_limits(LIMITS), seconds)
    return ApplicationCommunicator(
        application, {"type": "http", "path": path, "headers": named, "method": "POST"}
    )


async def answer(asked: ApplicationCommunicator) -> tuple[int, dict[bytes, bytes], bytes]:
    start = await asked.receive_output(60)
    body = await asked.receive_output(60)
    return start["status"], dict(start["headers"]), body["body"]


async def send(asked: ApplicationCommunicator, *pieces: bytes, more: bool = False) -> None:
    for number, piece in enumerate(pieces, start=1):
        goes_on = more or number < len(pieces)
        await asked.send_input({"type": "http.request", "body": piece, "more_body": goes_on})


@pytest.mark.parametrize(("path", "size"), [("/", 10), ("/files/a", 100)])
async def test_a_body_within_the_limit_of_its_path_comes_whole(path, size):
    asked = asking(path, content_length=str(size))

    await send(asked, b"x" * 4, b"x" * (size - 4))

    assert await answer(asked) == (200, {}, b"%d" % size)


async def test_a_body_that_declares_too_much_is_refused_unread():
    asked = asking("/", content_length="11")

    status, headers, body = await answer(asked)

    told = {"error": {"message": TOO_LARGE.format(10), "code": "too_large"}}
    assert (status, json.loads(body)) == (413, told)
    assert headers == {
        b"content-type": b"application/json",
        b"content-length": b"%d" % len(body),
        b"connection": b"close",
    }


@pytest.mark.parametrize("declared", [{}, {"content_length": "3"}, {"content_length": "many"}])
async def test_a_body_that_grows_beyond_the_limit_is_refused_while_it_comes(declared):
    asked = asking("/", **declared)

    await send(asked, b"x" * 6, b"x" * 6, more=True)

    assert (await answer(asked))[0] == 413


async def test_who_loads_pages_is_refused_with_a_page():
    asked = asking("/", content_length="11", accept="text/html,*/*;q=0.8")

    status, headers, body = await answer(asked)

    assert (status, headers[b"content-type"]) == (413, b"text/html; charset=utf-8")
    assert TOO_LARGE.format(10) in body.decode()


async def test_a_body_that_does_not_come_in_time_is_given_up_and_waiting_afterwards_is_not():
    slow, patient = asking("/", 0.05), asking("/", 0.05)

    await send(slow, b"x", more=True)
    await send(patient, b"x")
    refused = await answer(slow)
    await answer(patient)
    await asyncio.wait([patient.future], timeout=0.1)  # longer than a body may be
    await patient.send_input({"type": "http.disconnect"})

    assert refused[0] == 408
    assert (await patient.receive_output(60))["body"] == b"http.disconnect"


def test_every_path_has_its_limit():
    most = body_limits(settings.BODY_LIMITS)
    file, room = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT, settings.BODY_ROOM
    uploaded = settings.CHAT_UPLOAD_MAX_BYTES

    assert [
        most(path)
        for path in (
            "/chat/a/files/",
            "/conversations/folders/7/files/",
            "/widget/a/files/",
            "/admin/workspace/sharedfile/add/",
            "/admin/catalog/application/7/studio/tools/openapi/",
            "/chat/a/",
            "/api/applications/",
            "/accounts/login/",
            "",
        )
    ] == [
        uploaded + room,
        uploaded + room,
        file + room,
        file + room,
        settings.OPENAPI_BODY_BYTES,
        *[settings.DATA_UPLOAD_MAX_MEMORY_SIZE] * 4,
    ]


async def test_a_large_body_has_as_long_as_a_slow_connection_needs():
    async def never() -> Any:
        raise AssertionError

    assert [BoundedBody(never, limit, 300.0).seconds for limit in (10, 51_000_000)] == [300, 408]


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/accounts/login/", 3_000_000, 413),
        ("/api/applications/", 3_000_000, 413),
        ("/chat/nothing/files/", 52_000_000, 413),
        ("/widget/nothing/files/", 12_000_000, 413),
        ("/chat/nothing/files/", 3_000_000, 403),  # no token, so it was read
        ("/admin/workspace/sharedfile/add/", 12_000_000, 413),
    ],
)
def test_the_site_takes_no_more_than_it_can_use(site: Site, path, size, status):
    connection = HTTPConnection(urlsplit(site.url).netloc, timeout=60)
    told = f"A request was rejected: status=413 path='{path}'"
    before = site.log.read_text().count(told)

    connection.request("POST", path, b"x" * size)
    answered = connection.getresponse()
    connection.close()

    assert answered.status == status
    assert site.log.read_text().count(told) - before == (status == 413)
