"""Programs call a real site, and its Core, while it runs the maximum number of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.contract import proves
from tests.gateway.installation import ECHO, SLUG, Installation, serve_installation
from tests.peers.upstream import PATIENCE

pytestmark = pytest.mark.timeout(240)

ROWS = """
from apps.live.run_summary import RunSummary
result = list(RunSummary.objects.values_list("door", "status"))
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("limits")
    with serve_installation(folder, ECHO, RUNS_PER_APPLICATION="1") as running:
        yield running


@proves("G-61")
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

    text = "Too many requests to this application are in progress. Please try again in a moment."
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
