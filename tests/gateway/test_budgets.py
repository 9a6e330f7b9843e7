"""Responses to programs and DIAL Core when a budget is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.doors import run_consumer
from apps.doors.admission import Admission
from apps.insights.budgets.models import Budget
from apps.insights.budgets.process import ProcessBudgets
from apps.live.database import on_a_thread
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.run_summary import RunSummary
from tests.catalog.rows import manifest_with
from tests.contract import proves
from tests.gateway.scripts import (
    Answer,
    ScriptedModel,
    add_application,
    ask,
    calls,
    ends,
    question,
    says,
)
from tests.insights.budgets.rows import make_budget, standings
from tests.sites.serving import Site, serve

make = sync_to_async(make_budget)
WORDS = "This app’s daily budget is used up: 0 of 10 tokens left. The budget renews on "


@pytest.fixture
def writer(at_noon: None) -> RunSummaryWriter:
    return RunSummaryWriter(on_a_thread, ProcessBudgets(on_a_thread))


def error_of(answer: Answer) -> Any:
    return answer.json()["error"]


@proves("budgets")
@pytest.mark.django_db
async def test_a_spent_budget_is_429_with_the_time_of_its_renewal(writer):
    application = await add_application()
    await make(amount=10)
    model = ScriptedModel([says("Hello"), ends(prompt=9, completion=1)])

    first = await ask(application, model, question(), recorded=writer.recorded)
    second = await ask(application, model, question(stream=True), recorded=writer.recorded)
    await writer.close()

    error = error_of(second)
    assert (first.status, second.status) == (200, 429)
    assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    assert error["message"] == error["display_message"]
    assert error["message"].startswith(WORDS)
    assert 0 < int(second.headers["retry-after"]) <= 86_400
    assert len(model.asked) == 1
    statuses = [row.status async for row in RunSummary.objects.order_by("started_at")]
    assert statuses == ["done", "refused"]


@proves("budgets")
@pytest.mark.django_db
@pytest.mark.parametrize(("is_core", "status"), [(False, 429), (True, 403)])
async def test_core_is_told_of_a_refusal_that_it_does_not_take_for_a_failure(
    writer, monkeypatch, is_core, status
):
    application = await add_application()
    await make(amount=0)

    async def from_core(scope, while_connected):
        appdata = f"somebody/appdata/{application.slug}"
        return Admission(Caller("dial-somebody", kind="dial", appdata=appdata))

    if is_core:
        monkeypatch.setattr(run_consumer, "visit", from_core)
    answer = await ask(
        application, ScriptedModel(), question(stream=True), recorded=writer.recorded
    )

    error = error_of(answer)
    assert (answer.status, error["code"]) == (status, "insufficient_quota")
    assert error["display_message"].startswith(WORDS.replace("of 10", "of 0"))


@proves("budgets")
@pytest.mark.django_db
async def test_in_the_middle_of_a_stream_the_error_comes_as_its_last_event(writer):
    application = await add_application(
        manifest=manifest_with(
            orchestrator={"deployment": {"deployment_id": "scripted"}}, features={"timestamp": {}}
        )
    )
    await make(amount=10)
    name = "internal_current_timestamp"
    model = ScriptedModel([says("One moment."), *[[*calls(name), *ends(9, 1, "tool_calls")]]])

    answer = await ask(application, model, question(stream=True), recorded=writer.recorded)

    events = answer.body.decode().split("\n\n")
    [last] = [json.loads(one[6:]) for one in events if one.startswith('data: {"error"')]
    assert answer.status == 200
    assert "One moment." in answer.body.decode()
    assert last["error"]["code"] == "insufficient_quota"
    assert last["error"]["message"].startswith(WORDS)


@pytest.mark.django_db
async def test_the_soft_line_is_told_in_a_stage(writer):
    application = await add_application()
    await make(amount=100_000, soft_amount=0)
    model = ScriptedModel([says("Hello"), ends()])

    answer = await ask(application, model, question(stream=True), recorded=writer.recorded)

    assert "0% of this app’s daily budget has been used" in answer.body.decode()
    assert answer.text() == "Hello"


@pytest.mark.django_db
async def test_a_visitor_counts_in_the_application_alone(writer):
    application = await add_application()
    await make("user", 0)
    await make("key", 0)
    await make("application", 1000)

    model = ScriptedModel([says("Hello"), ends(3, 4)])
    answer = await ask(application, model, question(), recorded=writer.recorded)
    await writer.close()
    budgets = writer.budgets
    assert isinstance(budgets, ProcessBudgets)
    await budgets.close()

    assert answer.status == 200
    assert await sync_to_async(standings)() == [(application.slug, 7, 0)]
    assert await Budget.objects.acount() == 3


PREPARE = """
from decimal import Decimal
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.insights.budgets.models import Budget
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="ours", display_name="Ours", provider="demo")
manifest = {"orchestrator": {"deployment": {"deployment_id": "ours"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug="own", title="Own", manifest=manifest)
row, result = ApiKey.objects.create_key(name="test")
Budget.objects.create(subject_kind="key", key=row, amount=Decimal(1), window="month")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    with serve(tmp_path_factory.mktemp("site")) as served:
        yield served, served.shell(PREPARE)


@proves("budgets")
def test_openais_client_reads_a_spent_quota_and_when_it_renews(site):
    served, key = site
    hello: Any = {"model": "own", "messages": [{"role": "user", "content": "Hello"}]}
    with openai.OpenAI(base_url=f"{served.url}/openai/v1", api_key=key, max_retries=0) as client:
        answered = client.chat.completions.create(**hello)
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(**hello)

    assert answered.choices[0].message.content
    assert (refused.value.code, refused.value.type) == ("insufficient_quota", "insufficient_quota")
    assert 0 < int(refused.value.response.headers["retry-after"]) <= 31 * 86_400
    assert "This API key’s monthly budget is used up" in refused.value.message
