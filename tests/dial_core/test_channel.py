"""Questions to the user between an application and its user's client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.dial_core import Core
from tests.dial_core.callers import client_of

INTERACT = "/v1/ops/client-channel/interact"
SUBSCRIBE = "/v1/ops/client-channel/subscribe"
HEADER = "X-DIAL-CLIENT-CHANNEL-ID"


def question(id: str, toolset: str = "toolsets/public/desk") -> dict[str, Any]:
    params = {"toolsetId": toolset}
    return {"jsonrpc": "2.0", "method": "toolset/signin", "params": params, "id": id}


@contextmanager
def lines(client: httpx.Client, path: str, channel: str | None, body: Any) -> Iterator[Any]:
    headers = {HEADER: channel} if channel is not None else {}
    content = body if isinstance(body, str) else json.dumps(body)
    with client.stream("POST", path, content=content, headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield response, (line for line in response.iter_lines() if line)


def document(found: Iterator[str]) -> Any:
    return next(json.loads(line[6:]) for line in found if line.startswith("data: "))


def answer(client: httpx.Client, channel: str | None, body: Any) -> Any:
    with lines(client, INTERACT, channel, body) as (_, found):
        return document(found)


@pytest.fixture
def own(core: Core) -> Iterator[httpx.Client]:
    """Return an application of the project."""
    core.channels.heartbeat_seconds = 0.05
    with core.request_key("app") as key, client_of(core, key.value) as opened:
        yield opened


def test_a_question_reaches_the_user_and_the_answer_comes_back(
    core: Core, client: httpx.Client, own: httpx.Client
):
    with lines(client, SUBSCRIBE, None, {}) as (opened, asked):
        channel = opened.headers[HEADER]
        with lines(own, INTERACT, channel, question("7")) as (_, found):
            beginning = next(found)
            seen = document(asked)
            report = {"jsonrpc": "2.0", "id": seen["id"], "result": "denied"}
            reported = client.post(
                "/v1/ops/client-channel/report", json=report, headers={HEADER: channel}
            )
            result = document(found)
            still_there = next(found)

    assert (len(channel), beginning, still_there) == (32, ": heartbeat", ": heartbeat")
    assert seen == {**question("7"), "id": "app/7"}
    assert reported.status_code == 200
    assert result == {"jsonrpc": "2.0", "id": "7", "result": "denied"}


def test_a_channel_that_is_taken_up_again_tells_what_it_has_not_told(
    core: Core, client: httpx.Client, own: httpx.Client
):
    channel = core.open_channel()
    with lines(own, INTERACT, channel, [question("1")]) as (_, found):
        next(found)
        with lines(client, SUBSCRIBE, channel, {}) as (_, asked):
            assert document(asked)["id"] == "app/1"


def test_errors_come_as_events_with_status_200(core: Core, own: httpx.Client):
    """§8.2."""
    channel = core.open_channel()
    wrong = {"jsonrpc": "1.0", "method": "toolset/signin", "id": "1"}
    without_method = {"jsonrpc": "2.0", "id": "1"}

    codes = [
        answer(own, None, question("1"))["error"]["code"],
        answer(own, "nowhere", question("1"))["error"]["code"],
        answer(own, core.open_channel("ann"), question("1"))["error"]["code"],
        answer(own, channel, "{")["error"]["code"],
        answer(own, channel, wrong)["error"]["code"],
        answer(own, channel, without_method)["error"]["code"],
    ]

    assert codes == [-32000, -32000, -32000, -32700, -32600, -32600]


def test_a_channel_can_be_given_up(core: Core, client: httpx.Client):
    headers = {HEADER: core.open_channel()}
    path = "/v1/ops/client-channel/unsubscribe"

    first, second = (client.post(path, headers=headers) for _ in range(2))

    assert first.status_code == 200
    assert (second.status_code, second.text) == (404, "Channel is not found")
