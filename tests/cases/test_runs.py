"""Cases run on a state of an application, manually or from a build, and can be required for
publishing."""

from __future__ import annotations

import asyncio
from typing import Any
from xml.etree import ElementTree

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.steps.results import RecordedOpening, write_record
from apps.cases.background import ABANDONED, begin_later
from apps.cases.case_messages import read_messages
from apps.cases.documents import (
    CaseDocumentInvalid,
    case_as_document,
    case_documents,
    case_from_document,
)
from apps.cases.from_runs import RunNotReadable, case_from_run
from apps.cases.latest_results import latest_statuses
from apps.cases.models import CaseRun, CaseSettings
from apps.cases.runner import CaseRunRequest, begin, carry_out, stop
from apps.catalog.actions import publish, save_draft
from apps.catalog.models import Application
from apps.live.hub import Hub
from apps.live.models import Run, RunStep
from apps.live.run_summary import RunSummary
from apps.tasks.failures import give_up
from tests.capabilities.manifests import parameter, tool, tool_set
from tests.capabilities.service import Reply, Seen, json_reply, serving
from tests.cases.rows import ASKED, make_case
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with
from tests.chat.scripts import settled
from tests.tasks.jobs import run_waiting_jobs

# A separate thread writes the costs of runs, which no transaction of a test rolls back.
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("loopback", "quick_demo"),
    pytest.mark.postgres,
]


def carried_out(application: Application, user: User | None = None, **wanted: Any) -> CaseRun:
    request = CaseRunRequest(**wanted)
    run = begin(application, user, request)

    async def to_its_end() -> CaseRun:
        hub = Hub()
        found = await carry_out(hub, run, request.cases)
        await settled(hub)
        return found

    found = async_to_sync(to_its_end)()
    found.refresh_from_db()
    return found


def demo(**fields: Any) -> Application:
    make_deployment()
    return make_application(**fields)


def test_a_case_is_recorded_live_and_then_replayed_offline_by_a_build(tmp_path, capsys):
    application = demo()
    make_case(application, "Greets", {"kind": "not_called", "tool": "*"})
    make_case(application, "Says the impossible", {"kind": "contains", "text": "impossible"})
    junit = tmp_path / "cases.xml"

    with pytest.raises(CommandError, match="1 of 2 attempts failed"):
        call_command("run_cases", "travel", "--live", "--record")
    application.refresh_from_db()
    with pytest.raises(CommandError, match="1 of 2 attempts failed"):
        call_command("run_cases", "travel", "--version", "1", "--junit", str(junit))
    call_command("run_cases", "travel", "--case", "Greets")

    suite = ElementTree.parse(junit).getroot()[0]
    live, replayed, single = CaseRun.objects.order_by("pk")
    texts = [[one.text for one in run.results.order_by("name")] for run in (live, replayed)]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.find("failure") is None for case in suite] == [True, False]
    assert texts[0] == texts[1] != ["", ""]
    assert [run.state for run in (live, replayed, single)] == ["failed", "failed", "passed"]
    assert (replayed.target, single.is_whole) == ("1", False)
    told = capsys.readouterr().out
    assert "FAILED  Says the impossible" in told
    assert "The answer does not contain “impossible”." in told


def test_a_build_that_names_what_there_is_not_is_told():
    application = demo()

    for wanted, said in (
        (("other",), "Unknown application: 'other'."),
        (("travel",), "There are no test cases. Create one first."),
        (("travel", "--record"), "--record requires --live. Add --live."),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("run_cases", *wanted)
    make_case(application, "Greets")
    with pytest.raises(CommandError, match="travel has no version 7, or it was withdrawn"):
        call_command("run_cases", "travel", "--version", "7")


async def test_a_service_is_called_live_and_left_alone_in_a_replay():
    def made(url: str) -> Application:
        make_deployment()
        item = parameter("query", "item", description="What to look up.")
        look_up = tool(url, properties={"item": item}, required=("item",))
        application = make_application(manifest=manifest_with(tool_sets=[tool_set(look_up)]))
        question = [{"role": "user", "text": 'Call shop_look_up with {"item": "tea"}'}]
        make_case(application, "Looks up", messages=question)
        return application

    hub = Hub()
    async with serving(json_reply('{"price": 3}')) as service:
        application = await database_sync_to_async(made)(service.url)
        request = CaseRunRequest(mode="live", is_recording=True)
        live = await carry_out(hub, await database_sync_to_async(begin)(application, None, request))
        asked = len(service.targets)
    replay = await carry_out(
        hub, await database_sync_to_async(begin)(application, None, CaseRunRequest())
    )
    await settled(hub)

    first, second = await database_sync_to_async(
        lambda: [run.results.get() for run in (live, replay)]
    )()
    assert (asked, live.state, replay.state) == (len(first.tools), "passed", "passed")
    assert (first.tools, first.text) == (second.tools, second.text)
    assert first.tools[0]["name"] == "shop_look_up"


async def test_a_live_run_waits_for_room_in_the_rate_and_is_stopped_while_it_waits(settings):
    settings.REDIS_URL = ""
    limited = manifest_with(features={"rate_limits": {"requests_per_minute": 1}})
    hub, told = Hub(), asyncio.Event()

    def made() -> CaseRun:
        application = demo(manifest=limited)
        for name in ("A", "B", "C"):
            make_case(application, name)
        return begin(application, make_operator(), CaseRunRequest(mode="live"))

    run = await database_sync_to_async(made)()
    work = asyncio.create_task(carry_out(hub, run, on_result=lambda result: told.set()))
    async with asyncio.timeout(60):
        await told.wait()
        await database_sync_to_async(stop)(run)
        await work
    await settled(hub)

    def kept() -> tuple[str, list[tuple[str, int]]]:
        run.refresh_from_db()
        return run.state, list(run.results.values_list("name", "place"))

    assert await database_sync_to_async(kept)() == ("stopped", [("A", 0)])


async def test_stopping_a_run_ends_the_call_that_an_attempt_waits_for():
    def made(url: str) -> CaseRun:
        make_deployment()
        application = make_application(manifest=manifest_with(tool_sets=[tool_set(tool(url))]))
        make_case(application, "Waits", messages=[{"role": "user", "text": "Call shop_look_up"}])
        return begin(application, None, CaseRunRequest(mode="live"))

    async def never(seen: Seen) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    hub = Hub()
    async with serving(answer=never) as service, asyncio.timeout(60):
        run = await database_sync_to_async(made)(service.url)
        work = asyncio.create_task(carry_out(hub, run))
        await service.asked.wait()
        await database_sync_to_async(stop)(run)
        await work
        await service.left.wait()
    await settled(hub)

    kept = await database_sync_to_async(run.results.count)()
    assert (run.state, kept) == ("stopped", 0)


async def test_results_stand_in_the_order_of_the_cases_whichever_ends_first():
    slow = asyncio.Event()

    def made(url: str) -> CaseRun:
        make_deployment()
        properties = {"item": parameter("query", "item", description="What to look up.")}
        look_up = tool(url, properties=properties, required=("item",))
        application = make_application(manifest=manifest_with(tool_sets=[tool_set(look_up)]))
        for name in ("first", "second"):
            question = f'Call shop_look_up with {{"item": "{name}"}}'
            make_case(application, name, messages=[{"role": "user", "text": question}])
        return begin(application, None, CaseRunRequest(mode="live"))

    async def answer(seen: Seen) -> Reply:
        if "first" in seen.target:
            await slow.wait()
        else:
            slow.set()
        return json_reply("{}")

    hub, told = Hub(), list[str]()
    async with serving(answer=answer) as service, asyncio.timeout(60):
        run = await database_sync_to_async(made)(service.url)
        await carry_out(hub, run, on_result=lambda result: told.append(result.name))
    await settled(hub)

    kept = await database_sync_to_async(lambda: [one.name for one in run.results.all()])()
    assert (run.state, told, kept) == ("passed", ["first", "second"], ["first", "second"])


async def test_a_job_makes_the_attempts_that_a_killed_process_left_out():
    def made() -> CaseRun:
        application = demo()
        for name in ("A", "B"):
            make_case(application, name)
        run = begin_later(application, None, CaseRunRequest(mode="live", times=2))
        case = application.cases.get(name="A")
        run.results.create(case=case, name="A", attempt=1, place=0, passed=True, text="Kept")
        return run

    def kept(run: CaseRun) -> tuple[str, list[tuple[str, int, int]], list[str]]:
        run.refresh_from_db()
        rows = run.results.all()
        found = [(row.name, row.attempt, row.place) for row in rows]
        return run.state, found, [row.text for row in rows if row.text == "Kept"]

    run = await database_sync_to_async(made)()
    await run_waiting_jobs()

    assert await database_sync_to_async(kept)(run) == (
        "passed",
        [("A", 1, 0), ("A", 2, 1), ("B", 1, 2), ("B", 2, 3)],
        ["Kept"],
    )


def test_a_run_ends_with_its_job():
    application = demo()
    make_case(application, "A")
    run = begin_later(application, None, CaseRunRequest(mode="live"))

    give_up("cases.carry_out", [run.pk, None], {})

    run.refresh_from_db()
    assert (run.state, run.problem) == ("failed", ABANDONED)


def test_a_draft_is_published_only_after_its_cases_have_passed():
    application, user = demo(), make_operator()
    case = make_case(application, "Greets", {"kind": "contains", "text": "impossible"})
    CaseSettings.objects.create(application=application, requires_cases=True)
    written = manifest_with(contexts=[{"type": "user-defined", "content": "Be brief."}])
    save_draft.execute(application, {"manifest": written}, None, user)
    application.refresh_from_db()

    with pytest.raises(ValidationError, match="Run all of them on the current draft"):
        publish.execute(application, "Shorter", user=user)
    failed = carried_out(application, user, target="draft", mode="live", times=2)
    with pytest.raises(ValidationError, match="Test cases failed on this draft: “Greets”"):
        publish.execute(application, "Shorter", user=user)
    case.expectations = []
    case.save()
    with pytest.raises(ValidationError, match="Run all of them on the current draft"):
        publish.execute(application, "Shorter", user=user)
    passed = carried_out(application, user, target="draft", mode="live")
    version = publish.execute(application, "Shorter", user=user)

    assert (failed.state, failed.results.count(), passed.state) == ("failed", 2, "passed")
    assert (version.number, version.document) == (2, written)
    standing = latest_statuses([case.pk])[case.pk]
    assert (standing.run, standing.words) == (passed.pk, "passed")


def test_a_case_keeps_its_form_as_a_document_and_mistakes_have_their_places():
    application = demo()
    case = make_case(application, "Greets", {"kind": "contains", "text": "Hello"})
    make_case(application, "Somebody's", is_from_real_run=True)

    document = case_as_document(case)
    again = case_from_document(application, document)
    with pytest.raises(CaseDocumentInvalid) as refused:
        wrong = {"kind": "matches", "pattern": "("}
        case_from_document(
            application,
            {"name": "X", "messages": [{"role": "assistant", "text": "y"}], "expect": [wrong]},
        )

    assert document == {
        "name": "Greets",
        "messages": ASKED,
        "expect": [{"kind": "contains", "text": "Hello"}],
    }
    assert (again.pk, case_as_document(again)) == (case.pk, document)
    assert [one.split(":")[0] for one in refused.value.problems] == [
        "messages",
        "expect[0].pattern",
    ]
    assert [one["name"] for one in case_documents(application, False)] == ["Greets"]
    assert len(list(case_documents(application, True))) == 2


def test_a_case_is_made_of_a_run_by_whoever_may_read_it():
    application = demo()
    run = Run.objects.create(
        stream="1d3e4567-e89b-12d3-a456-426614174000",
        request="1d3e4567-e89b-12d3-a456-426614174001",
        application="travel",
        bucket="user-1",
        status="done",
    )
    summary = RunSummary.objects.create(
        id=run.pk, door="page", application="travel", bucket="user-1", status="done"
    )
    with pytest.raises(RunNotReadable):
        case_from_run(summary, make_operator())
    call = ToolCall("1", "shop_look_up", "{}")
    said = (
        ModelMessage("system", "Be brief."),
        ModelMessage("user", "What is tea?", name="Ada"),
        ModelMessage("assistant", "", tool_calls=(call,)),
        ModelMessage("tool", "A leaf", tool_call_id="1"),
        ModelMessage("assistant", "A leaf."),
        ModelMessage("user", "And coffee?"),
    )
    opening = write_record(RecordedOpening(said, {}))
    RunStep.objects.create(run=run, key="open", kind="open", status="done", result=opening)

    case = case_from_run(summary, User.objects.get(username="operator"))

    assert case_as_document(case) == {
        "name": "And coffee?",
        "messages": [
            {"role": "user", "text": "What is tea?", "name": "Ada"},
            {"role": "assistant", "text": "A leaf."},
            {"role": "user", "text": "And coffee?"},
        ],
        "from_real_run": True,
    }
    assert case._state.adding
    assert read_messages(case.messages)[0] == ModelMessage("user", "What is tea?", name="Ada")
    assert (case.application, case.source_run) == (application, run.pk)
    with pytest.raises(PermissionDenied):
        case_from_run(summary, User.objects.create_user("somebody"))
