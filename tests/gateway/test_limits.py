"""Programs that ask while as many requests as may be are answered: of a real site, and its Core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.browser.serving import Site, serve
from tests.dial_core import Core, serve_core
from tests.peers.upstream import PATIENCE, Upstream, serve_upstream

pytestmark = pytest.mark.timeout(240)

SLUG = "echo"
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "upstream"}},
    "contexts": [],
    "tool_sets": [],
    "features": {"timestamp": None},
}
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
Application.objects.create(slug=slug, title="Echo", manifest=manifest)
row, result = ApiKey.objects.create_key(name="limits")
"""
ROWS = """
from apps.live.run_summary import RunSummary
result = list(RunSummary.objects.values_list("door", "status"))
"""


@dataclass(frozen=True, slots=True)
class Installation:
    site: Site
    core: Core
    upstream: Upstream
    key: str

    def client(self, retries: int = 0) -> openai.OpenAI:
        return openai.OpenAI(
            base_url=f"{self.site.url}/openai/v1", api_key=self.key, max_retries=retries
        )


@contextmanager
def installed(folder: Path, **settings: str) -> Iterator[Installation]:
    with (
        serve_core() as core,
        serve_upstream() as upstream,
        serve(folder, DIAL_URL=core.url, **settings) as site,
    ):
        key = site.shell(PREPARE, url=upstream.url, slug=SLUG, manifest=MANIFEST)
        core.add_application(SLUG, f"{site.url}/openai/deployments/{SLUG}/chat/completions")
        yield Installation(site, core, upstream, key)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("limits"), RUNS_PER_APPLICATION="1") as running:
        yield running


@pytest.mark.parametrize("stream", [False, True])
async def test_openais_client_waits_for_its_turn_and_core_is_told_of_a_failure(
    installation: Installation, stream: bool
):
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    hello: Any = {"model": SLUG, **body, "stream": stream}
    with installation.client() as client, installation.client(retries=9) as patient:
        installation.upstream.is_left.clear()
        hanging = client.chat.completions.create(
            model=SLUG, messages=[{"role": "user", "content": "hang"}], stream=True
        )
        first = next(iter(hanging))
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(**hello)
        through_core = await installation.core.call_application(SLUG, body, stream=stream)
        hanging.close()
        assert installation.upstream.is_left.wait(PATIENCE)
        answered = patient.chat.completions.with_raw_response.create(**hello)
        told = answered.http_response.read().decode()

    text = "Too many requests to this application are being answered. Please try again in a moment."
    error = refused.value.response.json()["error"]
    assert first.choices
    assert refused.value.response.headers["retry-after"] == "2"
    assert (error["message"], error["type"], error["code"]) == (
        text,
        "rate_limit_error",
        "too_many_runs",
    )
    assert (through_core.status, through_core.headers.get("retry-after")) == (500, None)
    assert through_core.json()["error"]["display_message"] == text
    rows = {tuple(row) for row in installation.site.shell(ROWS)}
    assert rows <= {("gateway", outcome) for outcome in ("done", "stopped", "running")}
    assert (answered.status_code, "Hello" in told) == (200, True)
