"""Paused processes and lost databases during an answer."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.databases.postgresql import database
from tests.live.slow_service import SlowService, serve_slow_service
from tests.live.test_survival import FINISHED, STORED, ask, watching
from tests.load.processes import until
from tests.servers.redis import serve_sentinel_set
from tests.services import absence
from tests.site.postgresql.test_outage import Proxy, Scene
from tests.sites.constants import with_constants
from tests.sites.serving import Site, serve_process
from tests.sites.websocket import PATIENCE

pytestmark = pytest.mark.full

JOURNAL = """
from apps.live.models import JournalEntry
result = list(JournalEntry.objects.order_by("first").values_list("first", "last"))
"""


@pytest.fixture(scope="module", autouse=True)
def there_are_servers() -> None:
    for needed in ("postgres", "redis"):
        if reason := absence(needed):
            pytest.skip(reason)


@pytest.fixture
def service() -> Iterator[SlowService]:
    with serve_slow_service() as service:
        yield service


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    parts = urlsplit(os.environ["TEST_DATABASE_URL"])
    proxy = Proxy((parts.hostname or "127.0.0.1", parts.port or 5432))
    yield proxy
    proxy.refuse()


@pytest.fixture
def settings(proxy: Proxy) -> Iterator[dict[str, str]]:
    with database() as name:
        parts = urlsplit(os.environ["TEST_DATABASE_URL"])
        who = f"{parts.username or 'postgres'}:{parts.password or ''}"
        yield {
            "DATABASE_URL": f"postgres://{who}@127.0.0.1:{proxy.port}/{name}",
            "REDIS_URL": os.environ["TEST_REDIS_URL"],
        }


def told(frames: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the answer as the page assembled it, and as it was stored."""
    text = ""
    for frame in frames:
        if frame["type"] == "message.delta":
            text += frame["text"]
        elif frame["type"] == "answer.restarted":
            text = frame["text"]
    return text, frames[-2]["message"]["text"]


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
def test_a_process_that_wakes_up_after_a_take_over_writes_nothing(
    tmp_path: Path, service: SlowService, settings: dict[str, str]
):
    settings |= with_constants(RUN_LEASE_SECONDS=4)
    with (
        serve_process(tmp_path, **settings) as (site, paused),
        serve_process(tmp_path, **settings) as (other, _),
    ):
        tab, cookie, conversation = ask(site, service)
        tab.until("stage.opened", title="shop · slow")
        with watching(other, cookie, conversation) as page:
            page.until("stage.opened", title="shop · slow")
            paused.send_signal(signal.SIGSTOP)
            try:
                page.until("run.continued")
                service.may_end.set()
                page.until("run.status", status="done")
                journal = other.shell(JOURNAL)
            finally:
                paused.send_signal(signal.SIGCONT)
        frames = tab.until("run.status", status="done")
        tab.close()
        stored = other.shell(STORED)
        after = other.shell(JOURNAL)

    steps = dict(stored.pop("steps"))
    assert stored == FINISHED
    assert set(steps.values()) == {"done"}
    assert after == journal
    assert frames[-2]["message"]["text"] == FINISHED["answer"][0]


@pytest.mark.slow("starts two sites, and waits for a failover and a heartbeat")
@pytest.mark.timeout(600)
def test_an_answer_and_its_viewers_outlive_a_failover_of_redis_and_its_end(
    tmp_path: Path, service: SlowService, settings: dict[str, str]
):
    with serve_sentinel_set(tmp_path / "redis") as sentinels:
        settings["REDIS_URL"] = sentinels.url
        with (
            serve_process(tmp_path, **settings) as (site, _),
            serve_process(tmp_path, **settings) as (other, _),
        ):
            tab, cookie, conversation = ask(site, service)
            tab.until("stage.opened", title="shop · slow")
            with watching(other, cookie, conversation) as page:
                page.until("stage.opened", title="shop · slow")
                sentinels.master.kill()
                assert until(PATIENCE, lambda: readiness(other) == {"status": "ok"})
                sentinels.replica.kill()
                assert until(PATIENCE, lambda: "degraded" in readiness(other))
                service.may_end.set()
                frames = page.until("run.status", status="done")
            own = tab.until("run.status", status="done")
            tab.close()
            stored = other.shell(STORED)
            log = other.log.read_text() + site.log.read_text()

    del stored["steps"]
    assert stored == FINISHED
    assert frames[-2]["message"]["text"] == own[-2]["message"]["text"] == FINISHED["answer"][0]
    assert log.count("Unexpected exception in receive task") <= 4
    assert "secret" not in log


def readiness(site: Site) -> dict[str, Any]:
    with urlopen(f"{site.url}/readyz", timeout=PATIENCE) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
def test_an_answer_that_ends_while_the_database_is_away_is_stored_when_it_is_back(
    tmp_path: Path, service: SlowService, proxy: Proxy, settings: dict[str, str]
):
    settings |= with_constants(RUN_LEASE_SECONDS=120)
    with serve_process(tmp_path, **settings) as (site, _):
        tab, cookie, conversation = ask(site, service)
        tab.until("stage.opened", title="shop · slow")
        proxy.refuse()
        try:
            service.may_end.set()
            was_asked = until(PATIENCE, lambda: service.asked == 3)
            tab.until("message.delta", text="\n\nDone.")
        finally:
            proxy.return_()
            tab.close()
        Scene(site, proxy).until_it_is_back()
        with watching(site, cookie, conversation) as page:
            seen = page.until("run.status", status="done")
        stored = site.shell(STORED)

    steps = dict(stored.pop("steps"))
    assert was_asked
    assert stored == FINISHED
    assert set(steps.values()) == {"done"}
    assert told(seen) == (FINISHED["answer"][0],) * 2
    assert [name for name, _ in service.called] == ["quick", "slow"]
