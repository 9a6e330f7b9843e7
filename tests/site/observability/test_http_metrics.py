"""Requests are counted by area, method and status, whatever paths and methods clients choose."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from apps.gateway.prometheus import PrometheusSink
from quickapps_site.observability.http_metrics import area_of, measure_lag, with_request_metrics
from tests.gateway.scripts import Client
from tests.measuring.metrics import connected, samples

REQUESTS = "quickapps_http_requests_total"


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/broken":
        raise OSError("gone")
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"one", "more_body": True})
    await send({"type": "http.response.body", "body": b"two"})


async def test_a_request_is_counted_when_it_is_over():
    with connected(sink := PrometheusSink()):
        client = Client(with_request_metrics(application), "/v1/models")
        await client.send()
        answer = await client.read()
        found = samples(sink, "quickapps_http")

    assert answer.pieces == (b"one", b"two")
    assert found.pop('quickapps_http_seconds_sum{area="gateway"}') > 0
    assert found == {
        f'{REQUESTS}{{area="gateway",method="GET",status="201"}}': 1,
        'quickapps_http_seconds_count{area="gateway"}': 1,
    }


async def test_a_method_that_a_client_made_up_and_a_failure_have_labels_of_few():
    with connected(sink := PrometheusSink()):
        client = Client(with_request_metrics(application), "/broken", method="BREW")
        await client.send()
        with pytest.raises(OSError, match="gone"):
            await client.is_over()
        found = samples(sink, REQUESTS)

    assert found == {f'{REQUESTS}{{area="page",method="other",status="none"}}': 1}


AREAS = [
    ("/openai/deployments/x/chat/completions", "completions"),
    ("/v1/embeddings/", "embeddings"),
    ("/v1/models", "gateway"),
    ("/", "page"),
    ("/chat/demo/", "page"),
    ("/admin/insights/", "admin"),
    ("/made/up", "page"),
]


def test_paths_belong_to_few_areas(subtests: pytest.Subtests):
    for path, area in AREAS:
        with subtests.test(path=path):
            assert area_of(path) == area


async def test_the_event_loop_is_measured(monkeypatch: pytest.MonkeyPatch):
    name = "quickapps_event_loop_lag_seconds_count"
    monkeypatch.setattr("quickapps_site.observability.http_metrics.LAG_PAUSE", 0)
    with connected(sink := PrometheusSink()):
        measuring = asyncio.create_task(measure_lag())
        async with asyncio.timeout(60):
            while not samples(sink, name).get(name):
                await asyncio.sleep(0)
        measuring.cancel()
