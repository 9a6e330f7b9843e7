"""The number of attempts at a service, counted at the service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.answers.assembly import Assembly
from apps.agent.answers.replies import BACKOFF, ONCE, RetryPolicy
from apps.agent.backoff import Backoff
from apps.agent.messages import ModelMessage
from apps.agent.model import ModelRequest
from apps.agent.stages import silent
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Opening, PreparedCapabilities
from apps.capabilities.rest.capability import rest
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ModelFailed
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.runs.workspaces import open_workspace
from apps.workspace.openai.model import make_openai_model
from tests.capabilities.deployment.scripts import simple, team
from tests.capabilities.manifests import manifest, opened, tool, tool_set, use
from tests.capabilities.mcp.desk import answering
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Reply, Seen, serving
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.contract import proves
from tests.dial_core import serve_core
from tests.dial_core.faults import Faults
from tests.tables import each_row
from tests.workspace.dial.callers import workspace as core_workspace
from tests.workspace.openai.service import (
    CLOSE,
    DONE,
    RESET,
    Service,
    answer,
    chunked,
    finish,
    service,
    text,
)

CALLER = Caller("user-1", "key")
QUESTION = ModelMessage("user", "Hi")
GOOD = chunked(text("Hello"), finish(), DONE)
BUSY = [b"HTTP/1.1 429 No\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n"]
BROKEN = answer("500 Oops", b"")
TROUBLES = [[CLOSE], [RESET], BUSY, BROKEN, answer("503 No", b"")]


@pytest.fixture(autouse=True)
def _loopback(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    monkeypatch.setattr("random.uniform", lambda least, most: least)  # no backoff


async def ask(running: Service, backoff: Backoff) -> str:
    """Return the text of the answer, or "" if there is none."""
    assembly = Assembly(lambda event: None)
    model = make_openai_model(base_url=running.url, api_key="k", model="m")
    try:
        await RetryPolicy(backoff).receive(model, ModelRequest((QUESTION,)), assembly, "m")
    except ModelFailed:
        return ""
    return assembly.reply("m").message.text


@proves("T-57", "D-33")
@each_row("trouble", TROUBLES)
@each_row(("backoff", "times"), [(Backoff(3, 0, 0), 3), (ONCE, 1)])
@each_row("is_kept", [True, False])
async def test_a_service_in_trouble_is_asked_as_often_as_the_policy_says(
    trouble: Sequence[Any], backoff: Backoff, times: int, is_kept: bool
):
    before = [GOOD] if is_kept else []

    async with service(*before, *[trouble] * 8) as running:
        for _ in before:
            assert await ask(running, backoff) == "Hello"
        assert await ask(running, backoff) == ""

    assert len(running.requests) == len(before) + times


@proves("D-33")
@each_row("status", [429, 500, 502, 503, 504, 400, 401, 404, 422])
async def test_a_status_of_trouble_is_asked_again_and_no_other_d_33(status: int):
    async with service(*[answer(f"{status} No", b"")] * 8) as running:
        await ask(running, BACKOFF)

    assert len(running.requests) == (4 if status in {429, 500, 502, 503, 504} else 1)


@proves("R-12")
async def test_a_connection_that_was_closed_in_a_pause_costs_no_attempt():
    async with service([*GOOD, CLOSE], GOOD) as running:
        await ask(running, ONCE)
        await running.closed()
        said = await ask(running, ONCE)

    assert (said, len(running.requests)) == ("Hello", 2)


def document(deployment_id: str) -> dict[str, Any]:
    return manifest_with(
        orchestrator={
            "deployment": {"deployment_id": deployment_id},
            "system_prompt": {"type": "custom", "content": "Help.", "variables": {}},
        }
    )


def application(deployment_id: str) -> ResolvedApplication:
    written = read_manifest(document(deployment_id))
    return ResolvedApplication(1, "app", "App", "", True, 1, written, PreparedCapabilities((), ()))


@asynccontextmanager
async def deployed(trouble: Sequence[Any], **features: Any) -> AsyncIterator[Service]:
    """Create the deployment `far`, which returns errors."""
    async with service(*[trouble] * 8) as running:
        await sync_to_async(make_deployment)(
            "far", provider="openai", base_url=running.url, features=features
        )
        yield running


async def failure_of(outer: ResolvedApplication) -> None:
    with pytest.raises(ModelFailed):
        await run_application(
            outer, RunRequest((QUESTION,)), open_workspace(CALLER), CALLER, lambda event: None
        )


@proves("R-12")
@pytest.mark.django_db
@pytest.mark.parametrize(("features", "times"), [({}, 4), ({"dial": True}, 1)])
async def test_an_orchestrator_asks_a_model_four_times_and_an_application_once_r_12(
    features, times
):
    async with deployed(BROKEN, **features) as running:
        await failure_of(application("far"))

    assert len(running.requests) == times


@proves("R-12")
@pytest.mark.django_db
async def test_an_application_of_our_own_works_once_however_often_its_model_is_asked():
    await sync_to_async(make_application)("inner", manifest=document("far"))

    async with deployed(BROKEN) as running:
        await failure_of(application("inner"))

    assert len(running.requests) == 4


@proves("R-12")
@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "times"), [("model", 4), ("application", 1)])
async def test_core_is_asked_for_a_model_four_times_and_for_an_application_once_r_12(
    kind: str, times: int, settings: Any
):
    with serve_core() as core:
        settings.DIAL_URL = core.url
        if kind == "model":
            core.add_model("far")
        else:
            core.add_application("far", "http://127.0.0.1:1")
        core.faults["far"] = Faults(error=(503, "No"))
        own = core_workspace(core.url)
        with pytest.raises(ModelFailed):
            await run_application(
                application("far"), RunRequest((QUESTION,)), own, own.caller, lambda event: None
            )

    asked = [request for request in core.requests if request.path.endswith("/chat/completions")]
    assert len(asked) == times


@pytest.mark.django_db
@pytest.mark.parametrize("features", [{}, {"dial": True}])
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_deployment_is_asked_once_as_a_tool(features: Any, trouble: Sequence[Any]):
    own = open_workspace(CALLER)
    opener = deployment.prepare(manifest(team(simple("far"))))
    assert opener is not None

    async with (
        deployed(trouble, **features) as running,
        opener(Opening(own, CALLER, silent)) as contribution,
    ):
        await use(contribution.tools[0], query="Hi")

    assert len(running.requests) == 1


@each_row("method", ["get", "post"])
@each_row("trouble", TROUBLES)
async def test_a_rest_tool_is_called_once(method: str, trouble: Sequence[Any]):
    kept = answer("200 OK", b"{}")

    async with service(kept, *[trouble] * 8) as running:
        written = manifest(tool_set(tool(f"{running.url}/", method)))
        async with opened(rest, written) as contribution:
            first = await use(contribution.tools[0])
            await use(contribution.tools[0])

    assert first.content == "{}"
    assert len(running.requests) == 2


@pytest.mark.parametrize("trouble", [None, Reply(500), Reply(429, b"", {"Retry-After": "0"})])
async def test_an_mcp_tool_is_called_once(trouble: Reply | None):
    by_hand = answering(Reply())

    async def answer_to(seen: Seen) -> Reply:
        if b"tools/call" not in seen.body:
            return await by_hand(seen)
        if trouble is None:
            raise ConnectionResetError
        return trouble

    async with (
        nothing_left_over(),
        serving(answer=answer_to) as running,
        opened(mcp, manifest(over_http(running.url))) as contribution,
    ):
        await use(contribution.tools[0])

    assert len([seen for seen in running.seen if b"tools/call" in seen.body]) == 1
