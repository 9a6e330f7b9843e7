"""If a real process is killed or stopped during an answer, another one finishes it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves
from tests.databases.postgresql import shared_services
from tests.live.slow_service import SlowService, serve_slow_service
from tests.load.processes import until
from tests.services import absence
from tests.sites.constants import with_constants
from tests.sites.serving import Site, serve_process
from tests.sites.websocket import PATIENCE, PageSocket, visitor_cookie

SLUG = "steady"
LEASE = with_constants(RUN_LEASE_SECONDS=5)
"""The time for which a killed process still holds the lease of its runs."""
NOTICE = "Answered by Spare because Slow was overloaded."
PREPARE = """
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="spare", display_name="Spare", base_url=url, model_name="m", api_key="k"
)
Deployment.objects.create(
    deployment_id="slow", display_name="Slow", base_url=main_url, model_name="m",
    fallbacks=["spare"],
)
Application.objects.create(slug=slug, title="Steady", manifest=manifest, is_public=True)
"""
STORED = """
from apps.conversations.models import Message
from apps.live.models import Run, RunStep
answer = Message.objects.get(role="assistant")
result = {
    "runs": list(Run.objects.values_list("status", "holder", "attempts")),
    "answer": [answer.text, answer.finish_reason],
    "steps": sorted(RunStep.objects.values_list("key", "status")),
}
"""
BEGUN = """
from apps.live.models import RunStep
result = RunStep.objects.filter(key__endswith=":call-1", status="begun").exists()
"""
"""Returns True once the call of the slow tool, and so everything before it, is stored."""
STATUS = """
from apps.live.models import Run
result = list(Run.objects.values_list("status", "holder"))
"""
FINISHED: dict[str, Any] = {
    "runs": [["done", "", 0]],
    "answer": ["Looking. \n\nOne more. \n\nDone.", "stop"],
}


def manifest(url: str) -> dict[str, Any]:
    def tool(name: str) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {}, "required": []}
        function = {"name": name, "description": name, "parameters": parameters}
        return {
            "rest_api_method_info": {"method_url": f"{url}/rest/{name}", "method_type": "get"},
            "open_ai_tool": {"function": function},
        }

    shop = {
        "type": "rest-api",
        "name": "shop",
        "tools": [tool("quick"), tool("slow")],
        "response_as_attachment": {"enabled": False},
    }
    return {
        "orchestrator": {"deployment": {"deployment_id": "slow"}},
        "contexts": [],
        "tool_sets": [shop],
    }


@pytest.fixture
def service() -> Iterator[SlowService]:
    with serve_slow_service() as service:
        yield service


def need_services() -> None:
    for needed in ("postgres", "redis"):
        if reason := absence(needed):
            pytest.skip(reason)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def shared(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The settings that the processes share in addition to their folder."""
    if request.param == "sqlite":
        yield {}
        return
    need_services()
    with shared_services() as settings:
        yield settings


def ask(site: Site, service: SlowService) -> tuple[PageSocket, str, str]:
    """Ask, and wait until the slow tool runs. Return a tab, its cookie, and the conversation. The
    fallback answers, unless Redis reports to sites of other tests that a model is overloaded."""
    main_url = service.url if "REDIS_URL" in site.environment else f"{service.url}/busy"
    values = {"url": service.url, "main_url": main_url, "slug": SLUG}
    site.shell(PREPARE, **values, manifest=manifest(service.url))
    cookie = visitor_cookie(site.url, SLUG)
    tab = PageSocket(site.url, SLUG, cookie)
    conversation = tab.ask("Look for me.")
    assert service.is_slow.wait(PATIENCE)
    return tab, cookie, conversation


@contextmanager
def watching(site: Site, cookie: str, conversation: str) -> Iterator[PageSocket]:
    tab = PageSocket(site.url, SLUG, cookie)
    tab.open(conversation)
    yield tab
    tab.close()


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
@proves("T-05")
def test_an_answer_whose_process_is_killed_is_finished_by_the_next(
    tmp_path: Path, service: SlowService, shared: dict[str, str]
):
    """The next process also continues with the fallback that answered so far."""
    settings = {**shared, **LEASE}
    with serve_process(tmp_path, **settings) as (site, process):
        tab, cookie, conversation = ask(site, service)
        begun = tab.until("stage.opened", title="shop · slow")
        assert until(PATIENCE, lambda: site.shell(BEGUN))
        refused = service.refused
        process.kill()
        process.wait(PATIENCE)
        tab.close()
        service.may_end.set()
        with serve_process(tmp_path, **settings) as (next_site, _):
            with watching(next_site, cookie, conversation) as page:
                frames = page.until("run.status", status="done")
            stored = next_site.shell(STORED)

    steps = dict(stored.pop("steps"))
    assert stored == FINISHED
    assert set(steps.values()) == {"done"}
    notices = [one["text"] for one in begun if one["type"] == "notice.added"]
    assert notices == ([] if shared else [NOTICE])
    assert (service.refused, service.asked) == (refused, 3)
    assert [name for name, _ in service.called] == ["quick", "slow", "slow"]
    assert service.called[1] == service.called[2]
    assert "run.continued" in kinds(frames)
    assert frames[-2]["message"]["text"] == FINISHED["answer"][0]


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
@pytest.mark.full
def test_a_process_that_lives_goes_on_with_the_answer_of_one_that_is_killed(
    tmp_path: Path, service: SlowService
):
    need_services()
    with (
        shared_services() as shared,
        serve_process(tmp_path, **shared, **LEASE) as (site, process),
        serve_process(tmp_path, **shared, **LEASE) as (other, _),
    ):
        tab, cookie, conversation = ask(site, service)
        with watching(other, cookie, conversation) as page:
            page.until("stage.opened", title="shop · slow")
            process.kill()
            service.may_end.set()
            frames = page.until("run.status", status="done")
        tab.close()
        stored = other.shell(STORED)

    steps = dict(stored.pop("steps"))
    assert stored == FINISHED
    assert set(steps.values()) == {"done"}
    assert [name for name, _ in service.called] == ["quick", "slow", "slow"]
    assert "run.continued" in kinds(frames)


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
@pytest.mark.full
def test_a_process_that_is_told_to_stop_hands_its_answer_over(
    tmp_path: Path, service: SlowService, shared: dict[str, str]
):
    with serve_process(tmp_path, **shared) as (site, process):
        tab, cookie, conversation = ask(site, service)
        process.send_signal(signal.SIGTERM)
        rest = tab.rest()
        status = process.wait(PATIENCE)
        tab.close()
        handed_over = site.shell(STATUS)
        service.may_end.set()
        with serve_process(tmp_path, **shared) as (next_site, _):
            with watching(next_site, cookie, conversation) as page:
                frames = page.until("run.status", status="done")
            stored = next_site.shell(STORED)

    del stored["steps"]
    assert (status, tab.code) == (0, 3012)
    assert (rest[-1]["type"], rest[-1]["status"]) == ("run.status", "queued")
    assert handed_over == [["queued", ""]]
    assert stored == FINISHED
    assert service.asked == 3
    assert [name for name, _ in service.called] == ["quick", "slow", "slow"]
    assert "run.continued" in kinds(frames)


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
@pytest.mark.full
def test_a_tool_that_ends_in_time_is_not_called_again_after_the_process_stopped(
    tmp_path: Path, service: SlowService
):
    with serve_process(tmp_path) as (site, process):
        tab, cookie, conversation = ask(site, service)
        process.send_signal(signal.SIGTERM)
        service.may_end.set()
        tab.rest()
        process.wait(PATIENCE)
        tab.close()
        with serve_process(tmp_path) as (next_site, _):
            with watching(next_site, cookie, conversation) as page:
                page.until("run.status", status="done")
            stored = next_site.shell(STORED)

    del stored["steps"]
    assert stored == FINISHED
    assert [name for name, _ in service.called] == ["quick", "slow"]


@pytest.mark.slow("starts a site, stops or kills it, and waits for the next to take over")
@pytest.mark.full
def test_a_queued_question_is_answered_after_its_process_was_killed(
    tmp_path: Path, service: SlowService, shared: dict[str, str]
):
    limits = {**shared, **LEASE, "RUNS_PER_PERSON": "1"}
    with serve_process(tmp_path, **limits) as (site, process):
        tab, cookie, _ = ask(site, service)
        second = PageSocket(site.url, SLUG, cookie)
        conversation = second.ask("And then?")
        second.until("run.status", status="queued")
        process.kill()
        process.wait(PATIENCE)
        for one in (tab, second):
            one.close()
        service.may_end.set()
        with serve_process(tmp_path, **limits) as (next_site, _):
            with watching(next_site, cookie, conversation) as page:
                frames = page.until("run.status", status="done")
            stored = next_site.shell(STATUS)

    statuses = [frame["status"] for frame in frames if frame["type"] == "run.status"]
    assert statuses == ["queued", "running", "done"]
    assert frames[-2]["message"]["text"] == FINISHED["answer"][0]
    assert "run.continued" not in kinds(frames)
    assert stored == [["done", ""]] * 2
