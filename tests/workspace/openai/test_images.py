"""The images API of a service: its requests, and every possible answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from apps.agent.events import Usage
from apps.errors import ModelFailed
from apps.workspace.openai import images
from apps.workspace.openai.images import ImageService, make_image_service
from apps.workspace.picture_model import Pictures
from tests.servers.internet import answer as page
from tests.servers.internet import internet, ok
from tests.tables import each_row
from tests.workspace.openai.service import CLOSE, HOLD, Service, answer, service

pytestmark = pytest.mark.usefixtures("loopback")

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 64


def in_base64(content: bytes) -> dict[str, str]:
    return {"b64_json": base64.b64encode(content).decode()}


def made(*data: Any, **rest: Any) -> list[Any]:
    return answer("200 OK", json.dumps({"created": 1, "data": data, **rest}).encode())


def painter(running: Service, seconds: float = 5.0) -> ImageService:
    return make_image_service(
        base_url=running.url, api_key="key-1", model="m", idle_seconds=seconds
    )


async def failure_of(pieces: list[Any], seconds: float = 5.0) -> ModelFailed:
    async with service(pieces) as running:
        with pytest.raises(ModelFailed) as failed:
            await painter(running, seconds).make("A boat", {})
    return failed.value


async def test_a_picture_is_asked_for_and_read():
    usage = {"input_tokens": 5, "output_tokens": 90, "total_tokens": 95}
    pieces = made(in_base64(PNG), in_base64(JPEG), usage=usage, quality="low")

    async with service(pieces) as running:
        pictures = await painter(running).make("A boat", {"size": "1x1", "model": "other"})

    assert pictures == Pictures(((PNG, "image/png"), (JPEG, "image/jpeg")), Usage(5, 90))
    ((headers, body),) = running.requests
    assert headers["target"] == "/v1/images/generations"
    assert (headers["authorization"], headers["accept"]) == ("Bearer key-1", "application/json")
    assert body == {"model": "m", "prompt": "A boat", "size": "1x1"}


async def test_a_picture_that_is_elsewhere_is_fetched_through_the_guard(settings):
    # this test is about addresses from users and models
    settings.EXTERNAL_URL_FETCH_ENABLED = False
    url = {"url": "http://files.example/a.png?signature=s"}

    async with internet({"/a.png": ok(PNG)}) as net, service(made(url)) as running:
        pictures = await painter(running).make("A boat", {})

    assert pictures == Pictures(((PNG, "image/png"),))
    assert "authorization" not in net.asked[0].casefold()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:{secret}/", "http://files.example/gone", "ftp://files.example/", "", None],
)
async def test_an_address_that_cannot_be_fetched_is_a_failure_without_its_query(url):
    async with internet({"/gone": page(404, b"")}) as net:
        written = url and url.replace("{secret}", str(net.secret)) + "?signature=s3cret"
        failure = await failure_of(made({"url": written}))

    assert failure.reason == "connection"
    assert "s3cret" not in str(failure)
    assert not net.betrayed


@each_row(
    ("pieces", "reason"),
    [
        (made(), "stream"),
        (made({"b64_json": "no base64"}), "stream"),
        (made(in_base64(b"<svg onload='alert(1)'></svg>")), "stream"),
        (made(in_base64(b"MZ" + b"\0" * 99)), "stream"),
        (answer("200 OK", b"{"), "stream"),
        (answer("200 OK", b'{"data": 7}'), "stream"),
        (answer("200 OK", b'{"error": {"message": "m", "code": "content_policy"}}'), "stream"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", CLOSE], "stream"),
        ([CLOSE], "connection"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_failure_of_the_model(pieces, reason):
    assert (await failure_of(pieces)).reason == reason


async def test_a_refusal_is_told_with_status_and_code():
    body = {"error": {"code": "content_policy_violation", "type": "invalid", "message": "No."}}

    failure = await failure_of(answer("400 Bad Request", json.dumps(body).encode()))

    found = (failure.status, failure.code, failure.kind, failure.is_transient)
    assert found == (400, "content_policy_violation", "invalid", False)


async def test_a_silent_service_is_a_timeout():
    assert (await failure_of([HOLD], seconds=0.05)).reason == "timeout"


async def test_too_large_an_answer_is_not_read(monkeypatch):
    monkeypatch.setattr(images, "MOST_BYTES", 40)

    assert "too large" in str(await failure_of(made(in_base64(PNG))))
