"""Push notifications: their configurations, and what is delivered."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from channels.db import database_sync_to_async
from standardwebhooks.webhooks import Webhook as Verifier

from apps.a2a.models import PushConfig
from apps.a2a.push_configs import trust_of
from apps.a2a.push_deliveries import push
from apps.workspace.egress.guard import Trust
from tests.a2a.scripts import Agent, agent_scene, message
from tests.chat.scripts import says
from tests.servers.http import serving
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
Received = list[tuple[dict[str, str], bytes]]


@contextmanager
def receiver(status: int = 200) -> Iterator[tuple[str, Received]]:
    received: Received = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append(({k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

    with serving(Receiver) as url:
        yield url, received


async def ask(on: Any, agent: Agent) -> str:
    on.model.put(says("Hello"), None)
    return str((await agent.call("SendMessage", {"message": message("Hi")}))["task"]["id"])


async def test_a_configuration_is_stored_read_listed_replaced_and_deleted():
    async with agent_scene() as (on, agent):
        id = await ask(on, agent)
        address = f"/tasks/{id}/pushNotificationConfigs"
        told = {"id": "c", "url": "https://example.com/a", "token": "t"}
        given = {"taskId": id, "id": "c"}

        created = await agent.call("CreateTaskPushNotificationConfig", {**told, "taskId": id})
        await agent.http("POST", address, {**told, "url": "https://example.com/b"})
        read = await agent.call("GetTaskPushNotificationConfig", given)
        listed = await agent.http("GET", address)
        deleted = [await agent.http("DELETE", f"{address}/c") for _ in range(2)]
        missing = await agent.call("GetTaskPushNotificationConfig", given)

        assert created == {**told, "taskId": id}
        assert read == {**created, "url": "https://example.com/b"}
        assert listed.body == {"configs": [read], "nextPageToken": ""}
        assert [one.status for one in deleted] == [200, 200]
        assert missing["code"] == -32001


@each_row(
    "config",
    [
        {"url": ""},
        {"url": "ftp://example.com"},
        {"url": "https://"},
        {"url": "https://[::1"},
        {"url": "https://example.com/" + "a" * 2_000},
        {"url": "https://example.com", "token": "a\nb"},
        {"url": "https://example.com", "id": "a\0"},
        {"url": "https://example.com", "authentication": {"scheme": ""}},
        {"url": 1},
    ],
)
async def test_a_configuration_with_a_mistake_begins_no_task(config: dict[str, Any]):
    async with agent_scene() as (on, agent):
        sent = {"message": message("Hi"), "configuration": {"taskPushNotificationConfig": config}}

        told = await agent.call("SendMessage", sent)

        assert (told.get("code"), on.model.asked) == (-32602, [])


@each_row(
    ("url", "problem"),
    [
        ("http://127.0.0.1:8000/x", "The host '127.0.0.1' is on a private network. Only public"),
        ("http://localhost/", "The host 'localhost' is on a private network. Only public"),
        ("http://2130706433/", "The host '2130706433' is on a private network. Only public"),
        ("http://[::1]/", "The host '::1' is on a private network. Only public"),
        ("http://10.0.0.1", "is on a private network. If the server may contact it, add 10.0.0.1"),
        ("http://169.254.169.254", "has a link-local, reserved or NAT64 address."),
        ("http://metadata.google.internal/", "is a cloud metadata service."),
        ("http://exa mple.org", "url: 'http://exa mple.org' is not an HTTP URL"),
        ("http://[b", "url: 'http://[b' is not an HTTP URL"),
    ],
)
async def test_an_address_that_no_delivery_may_reach_is_refused_when_it_is_set(
    settings: Any, url: str, problem: str
):
    settings.A2A_PUSH_PRIVATE_HOSTS = ["10.0.0.1"]
    async with agent_scene() as (on, agent):
        id = await ask(on, agent)

        told = await agent.call("CreateTaskPushNotificationConfig", {"taskId": id, "url": url})

        assert (told["code"], await PushConfig.objects.acount()) == (-32602, 0)
        assert problem in told["message"]


async def test_a_delivery_has_the_task_and_the_credentials(settings: Any):
    settings.PRIVATE_NETWORK_ALLOWLIST = settings.A2A_PUSH_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiver() as (url, received):
        async with agent_scene() as (on, agent):
            id = await ask(on, agent)
            signed = {"scheme": "Bearer", "credentials": "abc"}
            config = {"taskId": id, "id": "c", "url": url, "authentication": signed}
            await agent.call("CreateTaskPushNotificationConfig", {**config, "token": SECRET})
            row = await PushConfig.objects.aget(name="c")

            await push.func(row.pk, 1)

            [(headers, body)] = received
            assert json.loads(body)["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
            assert headers["authorization"] == "Bearer abc"
            assert SECRET not in str(headers)
            Verifier(SECRET).verify(body.decode(), headers)


async def test_the_status_410_deletes_the_configuration(settings: Any):
    settings.PRIVATE_NETWORK_ALLOWLIST = settings.A2A_PUSH_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiver(410) as (url, received):
        async with agent_scene() as (on, agent):
            config = {"taskId": await ask(on, agent), "id": "c", "url": url, "token": "t"}
            await agent.call("CreateTaskPushNotificationConfig", config)
            row = await PushConfig.objects.aget(name="c")

            await push.func(row.pk, 1)

            assert received[0][0]["x-a2a-notification-token"] == "t"
            assert not await database_sync_to_async(PushConfig.objects.exists)()


def test_private_hosts_need_the_operators_consent(settings: Any):
    settings.A2A_PUSH_PRIVATE_HOSTS = ["agents.internal"]

    assert trust_of("https://agents.internal/a") == Trust.OPERATOR
    assert trust_of("https://other.internal/a") == Trust.GUARDED
