"""The audit records programs that a door of the gateway refuses, for each door."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient
from django.utils import timezone

from apps.accounts.models import AuditEntry
from apps.gateway import metrics
from apps.live.database import on_a_thread
from apps.live.hub import HUB
from tests.contract import proves
from tests.gateway.scripts import Client, router

pytestmark = pytest.mark.django_db

STRANGER = ("10.0.0.7", 4000)
SLUG = "refused-at-every-door"


async def send(method: str, path: str, body: bytes = b"", **options: Any) -> int:
    client = Client(router(), path, method=method, **({"client": STRANGER} | options))
    await client.send(body)
    return (await client.read()).status


async def noted(since: Any) -> list[tuple[str, str, str, str]]:
    await HUB.summaries.audit.flush(on_a_thread)
    rows = AuditEntry.objects.filter(at__gte=since).order_by("pk")
    fields = ("event", "address", "application", "subject")
    return [row async for row in rows.values_list(*fields)]


@proves("T-63")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/openai/deployments/{SLUG}/chat/completions"),
        ("POST", f"/openai/deployments/{SLUG}/embeddings"),
        ("GET", f"/openai/deployments/{SLUG}/configuration"),
        ("GET", f"/openai/models/{SLUG}"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
        ("GET", "/v1/bucket"),
        ("PUT", "/v1/files/key-1/a.txt"),
        ("GET", "/v1/metadata/files/key-1/a.txt"),
    ],
)
async def test_t_63_every_door_that_refuses_notes_it_once_a_minute(method: str, path: str):
    began = timezone.now()

    statuses = [await send(method, path, b"{}") for _ in range(2)]

    application = SLUG if SLUG in path else ""
    assert statuses == [401, 401]
    assert await noted(began) == [("access.denied", "10.0.0.7", application, path)]


@proves("T-63")
async def test_t_63_a_door_is_noted_beside_another_one():
    began = timezone.now()

    for path in ("/v1/embeddings", "/v1/chat/completions", "/v1/embeddings"):
        await send("POST", path, b"{}")

    assert [row[3] for row in await noted(began)] == ["/v1/embeddings", "/v1/chat/completions"]


@proves("T-63")
@pytest.mark.parametrize("path", ["validate", "skills/validate"])
async def test_t_63_so_does_the_api_of_editors(path: str):
    began, address = timezone.now(), f"/v1/configuration-support/{path}"

    # Behind a proxy, no client counts as a visitor of this machine.
    proxied = {"X-Forwarded-For": "10.0.0.7"}
    response = await AsyncClient().post(
        address, "{}", content_type="application/json", headers=proxied
    )

    assert response.status_code == 401
    assert [row[3] for row in await noted(began)] == [address]


@proves("T-63")
async def test_t_63_and_the_figures_of_the_process(monkeypatch: pytest.MonkeyPatch):
    began = timezone.now()
    monkeypatch.setattr(metrics, "_sink", object())

    assert await send("GET", "/metrics") == 403

    assert [row[3] for row in await noted(began)] == ["/metrics"]


async def test_what_is_wrong_with_a_request_is_no_denial():
    began = timezone.now()

    statuses = [
        await send("POST", "/v1/chat/completions", b"{", client=("127.0.0.1", 4000)),
        await send("DELETE", "/v1/models"),
        await send("GET", "/v1/nothing"),
    ]

    assert statuses == [400, 405, 404]
    assert await noted(began) == []
