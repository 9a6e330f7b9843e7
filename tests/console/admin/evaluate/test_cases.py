"""Cases and their runs in the admin and under `/api/`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from apps.accounts.models import AuditEntry
from apps.agent.messages import ModelMessage
from apps.agent.steps.results import RecordedOpening, write_record
from apps.cases.models import Case, CaseResult, CaseRun, CaseSettings
from apps.live.models import Run, RunStep
from apps.live.run_summary import RunSummary
from tests.cases.rows import ASKED, make_case
from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import browser_of, permit, staff_account, words
from tests.tasks.jobs import run_waiting_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_demo"), pytest.mark.postgres]

LIST = "/admin/cases/case/"
RUNS = "/admin/cases/caserun/"


def staff(*codes: str) -> tuple[Client, User]:
    wanted = ("view_case", "add_case", "change_case", "add_caserun", "view_caserun", *codes)
    user = staff_account("olga", *wanted)
    return browser_of(user), user


def test_an_operator_makes_a_case_and_mistakes_are_told_at_their_place(client):
    client, user = staff()
    application = make_application(owner=user)
    fields = {"name": "Greets", "application": application.pk, "messages": json.dumps(ASKED)}

    wrong = json.dumps([{"kind": "matches", "pattern": "("}])
    refused = client.post(f"{LIST}add/", {**fields, "expectations": wrong})
    expected = [{"kind": "contains", "text": "Hello"}]
    client.post(f"{LIST}add/", {**fields, "expectations": json.dumps(expected)})

    assert "expectations[0].pattern: the pattern is not a regular expression" in words(refused)
    case = Case.objects.get()
    assert (case.name, case.messages, case.expectations) == ("Greets", ASKED, expected)
    assert not case.is_from_real_run


def test_each_mistake_in_a_case_is_shown_once(client):
    client, user = staff()
    application = make_application(owner=user)
    wrong = json.dumps([{"kind": "matches", "pattern": "("}])
    fields = {"name": "Greets", "application": application.pk, "expectations": wrong}
    messages = ("[", "[]", '[{"role": "user", "text": ""}]', '[{"role": "user", "text": 1}]')

    found = []
    for text in messages:
        page = client.post(f"{LIST}add/", {**fields, "messages": text})
        found.append(page.context["adminform"].form.errors)

    counts = [{name: len(texts) for name, texts in errors.items()} for errors in found]
    assert counts == [{"messages": 1, "expectations": 1}] * len(messages)


def test_cases_of_other_applications_are_as_if_there_were_none():
    client, user = staff()
    mine = make_case(make_application("mine", owner=user), "Mine")
    other = make_case(make_application("other"), "Other")
    run = CaseRun.objects.create(application=other.application)

    listed = words(client.get(LIST))
    api = client.get("/api/cases/").json()["results"]
    pages = (f"{LIST}run/?application=other", f"{RUNS}{run.pk}/", f"/api/case-runs/{run.pk}/")
    begun = client.post("/api/case-runs/", {"application": "other"}, "application/json")

    assert ("Mine" in listed, "Other" in listed) == (True, False)
    assert [(one["id"], one["has_passed"]) for one in api] == [(mine.pk, None)]
    found = [client.get(page, follow=True).status_code for page in pages]
    assert (found, begun.status_code) == ([404, 404, 404], 400)


async def test_a_run_is_begun_in_the_admin_goes_on_by_itself_and_is_read_by_a_script():
    def prepared() -> User:
        _client, user = staff()
        make_deployment()
        application = make_application(owner=user)
        make_case(application, "Greets", {"kind": "equals", "text": "Hello"})
        return user

    user = await sync_to_async(prepared)()
    client = AsyncClient()
    await sync_to_async(client.force_login)(user)

    asked = {"target": "live", "mode": "live", "times": 1, "is_recording": "on"}
    begun = await client.post(f"{LIST}run/?application=travel", asked)
    run = await CaseRun.objects.aget()
    await run_waiting_jobs()
    page = await client.get(f"{RUNS}{run.pk}/change/")
    again = await client.post(
        "/api/case-runs/", {"application": "travel"}, content_type="application/json"
    )
    await run_waiting_jobs()
    read = (await client.get(f"/api/case-runs/{again.json()['id']}/")).json()
    compared = await client.get(f"{RUNS}compare/?a={run.pk}&b={again.json()['id']}")

    assert begun.headers["Location"] == f"{RUNS}{run.pk}/change/"
    assert "<dt>Version</dt><dd>Live</dd>" in page.content.decode()
    assert "0 of 1 passed" in words(page)
    assert "The answer differs from the expected text." in words(page)
    assert (again.status_code, again.json()["mode"]) == (201, "replay")
    assert (read["state"], read["done"], len(read["results"])) == ("failed", 1, 1)
    assert read["results"][0]["failures"][0]["text"] == (
        "The answer differs from the expected text."
    )
    assert '<span class="console-badge">differs</span>' not in compared.content.decode()
    columns = [f"Run {one}: Live" for one in (run.pk, again.json()["id"])]
    assert all(column in words(compared) for column in columns)


def test_a_run_proposes_a_replay_of_what_is_recorded_and_otherwise_a_live_run_that_records():
    client, user = staff()
    application = make_application(owner=user)
    first, second = (make_case(application, name) for name in ("First", "Second"))
    model = make_deployment()

    def proposed(query: str = "") -> tuple[Any, ...]:
        page = client.get(f"{LIST}run/?application=travel{query}")
        initial = page.context["form"].initial
        return initial["mode"], initial["is_recording"], page.context["model_problem"]

    nothing = proposed()
    first.cassettes.create(tape={})
    one, both = proposed(f"&case={first.pk}"), proposed()
    second.cassettes.create(tape={})
    recorded = proposed()
    model.is_enabled = False
    model.save()
    second.cassettes.all().delete()
    mode, is_recording, problem = proposed()

    assert (nothing, both) == (("live", True, ""), ("live", True, ""))
    assert (one, recorded) == (("replay", False, ""), ("replay", False, ""))
    assert (mode, is_recording) == ("replay", False)
    assert problem == "the deployment 'demo-model' is disabled; enable it or choose another."


def test_a_case_made_of_a_run_is_marked_and_its_reading_is_in_the_audit():
    client, user = staff()
    application = make_application(owner=user)
    run = Run.objects.create(
        stream="1d3e4567-e89b-12d3-a456-426614174000",
        request="1d3e4567-e89b-12d3-a456-426614174001",
        application="travel",
        bucket="user-1",
        status="done",
    )
    values = {"door": "page", "application": "travel", "bucket": "user-1", "status": "done"}
    RunSummary.objects.create(id=run.pk, **values)
    opening = write_record(RecordedOpening((ModelMessage("user", "What is tea?"),), {}))
    RunStep.objects.create(run=run, key="open", kind="open", status="done", result=opening)
    address = f"{LIST}add/?run={run.pk}"
    fields = {
        "name": "Tea",
        "application": application.pk,
        "messages": json.dumps(ASKED),
        "expectations": "[]",
    }

    forbidden = [client.get(address).status_code, client.post(address, fields).status_code]
    permit(user, "read_run_contents")
    form = words(client.get(address))
    client.post(address, fields)

    assert forbidden == [403, 403]
    assert "What is tea?" in form
    case = Case.objects.get()
    assert (case.source_run, case.is_from_real_run, case.messages) == (run.pk, True, ASKED)
    events = list(AuditEntry.objects.order_by("pk").values_list("event", flat=True))
    assert events == ["access.denied", "contents.read"]


def test_an_application_can_require_its_cases_and_a_list_costs_few_queries(
    django_assert_max_num_queries,
):
    client, user = staff()
    application = make_application(owner=user)
    for number in range(30):
        case = make_case(application, f"Case {number}")
        run = CaseRun.objects.create(application=application, state="passed", total=1)
        CaseResult.objects.create(run=run, case=case, name=case.name, passed=True)

    client.get(LIST)  # keeps the session
    with django_assert_max_num_queries(19):
        page = client.get(f"{LIST}?application=travel")
    asked = {"application": "travel", "requires_cases": "on"}
    client.post(f"{LIST}require/", asked)

    assert words(page).count("passed") >= 30
    assert CaseSettings.objects.get().requires_cases


def test_a_case_is_written_by_a_script_with_the_checks_of_the_admin():
    client, user = staff("delete_case")
    make_application(owner=user)
    sent = {"name": "Greets", "application": "travel", "messages": ASKED}

    created = client.post("/api/cases/", sent, "application/json")
    wrong = client.post("/api/cases/", {**sent, "name": "X", "messages": []}, "application/json")
    address = f"/api/cases/{created.json()['id']}/"
    changed = client.patch(address, {"name": "Hello"}, "application/json")
    deleted = client.delete(address)

    assert [one.status_code for one in (created, wrong, changed, deleted)] == [201, 400, 200, 204]
    assert wrong.json()["errors"][0]["path"] == "messages"
    assert (changed.json()["name"], changed.json()["version"]) == ("Hello", 2)
