"""`GET /metrics` requires authorization and does not exist unless it is enabled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.db import DatabaseError

from apps import metrics
from apps.gateway import metrics as scrapes
from apps.live.hub import HUB
from apps.live.models import Run
from apps.live.process.gauges import gauges_of
from tests.contract import proves
from tests.gateway.scripts import LOCAL, get
from tests.sites.serving import serve
from tests.tables import each_row

pytestmark = pytest.mark.django_db

TOKEN = {"Authorization": "Bearer let-me-in"}
ELSEWHERE = ("10.0.0.1", 1)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    settings.METRICS_TOKEN = "let-me-in"
    monkeypatch.setattr(scrapes, "_sink", None)
    scrapes.start(gauges_of(HUB))
    assert scrapes._sink is not None
    yield
    metrics.disconnect(scrapes._sink)


@proves("T-62")
async def test_without_the_setting_there_is_no_such_address():
    answer = await get("/metrics")

    assert (answer.status, answer.json()["error"]["code"]) == (404, "unknown_url")


@proves("T-62")
@pytest.mark.usefixtures("started")
async def test_a_client_with_the_token_reads_the_metrics():
    answer = await get("/metrics", headers=TOKEN)

    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b'quickapps_page_runs{status="waiting"} 0.0' in answer.body
    assert b'quickapps_process_runs{door="gateway"} 0.0' in answer.body


@proves("T-62")
@pytest.mark.usefixtures("started")
@each_row(
    ("token", "client", "headers", "status"),
    [
        ("", LOCAL, {}, 403),
        ("", LOCAL, {"Authorization": "Bearer "}, 403),
        ("let-me-in", ELSEWHERE, TOKEN, 200),
        ("let-me-in", LOCAL, {}, 403),
        ("let-me-in", ELSEWHERE, {"Authorization": "Bearer let-me"}, 403),
        ("let-me-in", ELSEWHERE, {"Authorization": "Bearer ü"}, 403),
        ("let-me-in", ELSEWHERE, {"Api-Key": "let-me-in"}, 403),
    ],
)
async def test_metrics_need_the_token(settings, token, client, headers, status):
    settings.METRICS_TOKEN = token

    answer = await get("/metrics", client=client, headers=headers)

    assert answer.status == status
    assert status == 200 or answer.json()["error"]["code"] == "forbidden"


@pytest.mark.usefixtures("started")
async def test_only_reading_is_allowed():
    answer = await get("/metrics", method="POST")

    assert answer.status == 405


@pytest.mark.usefixtures("started")
async def test_while_the_database_is_away_all_else_is_told(monkeypatch: pytest.MonkeyPatch):
    def refuse(**wishes: object) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(Run.objects, "filter", refuse)

    answer = await get("/metrics", headers=TOKEN)

    assert answer.status == 200
    assert b"quickapps_page_runs{" not in answer.body
    assert b"quickapps_process_runs{" in answer.body


@pytest.mark.slow("starts a site in a process of its own")
def test_a_site_counts_its_requests_and_answers(tmp_path: Path):
    with serve(tmp_path, METRICS_TOKEN="let-me-in") as site:
        urlopen(f"{site.url}/healthz").close()
        request = Request(f"{site.url}/metrics", headers=TOKEN)
        with urlopen(request) as answer:
            text = answer.read().decode()

    assert 'http_requests_total{area="health",method="GET",status="200"}' in text
    assert "process_resident_memory_bytes" in text
