"""The blocks of the admin's home page."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import bucket_of
from apps.accounts.models import Team
from apps.capabilities.mcp.administration import PooledSession
from apps.catalog.actions import request_publishing, save_draft
from apps.catalog.models import ApplicationDraft
from apps.console.admin.watch import home
from apps.feedback.models import Feedback
from apps.insights.budgets.models import Budget, BudgetWindow
from apps.insights.rollups import sum_up_all
from apps.live.history.run_rows import count_runs
from apps.live.models import Interaction, Run
from apps.live.run_summary import RunSummary
from apps.notes.spaces import owner_of_team
from tests.catalog.content.files import write
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import permit, staff_account
from tests.contract import proves
from tests.insights.calls import NOON, model_call, store, tool_use
from tests.notes.written import write as write_note

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def block(client: Client, title: str) -> home.HomeBlock:
    blocks: list[home.HomeBlock] = client.get("/admin/").context["blocks"]
    return next(one for one in blocks if one.title == title)


def facts(client: Client, title: str) -> dict[str, str]:
    return {fact.name: fact.text for fact in block(client, title).facts}


def test_the_health_of_an_idle_site_is_good(client, operator):
    found = block(client, "Health")

    assert [(fact.name, fact.state) for fact in found.facts] == [
        ("Database", "good"),
        ("Channel layer", "good"),
        ("File storage", found.facts[2].state),
        ("Usage totals", ""),
    ]


def test_sums_that_are_late_are_told_of(client, operator):
    store(model_call())
    with time_machine.travel(NOON + timedelta(hours=2)):
        sum_up_all(count_runs)

    with time_machine.travel(NOON + timedelta(hours=3)):
        client.force_login(operator)
        early = block(client, "Health").facts[-1]
    with time_machine.travel(NOON + timedelta(hours=5)):
        client.force_login(operator)
        late = block(client, "Health").facts[-1]

    assert (early.text, early.state) == ("until 1 Mar 2026, 13:00 UTC", "good")
    assert (late.text, late.state) == ("until 1 Mar 2026, 13:00 UTC", "bad")


def test_runs_are_counted_by_their_state(client, operator):
    for status in ("running", "waiting", "waiting", "queued", "done"):
        ids = {"stream": uuid4(), "request": uuid4()}
        Run.objects.create(application="travel", bucket="user-1", status=status, holder="p", **ids)
    Run.objects.filter(status="running").update(beat_at=timezone.now() - timedelta(hours=1))
    RunSummary.objects.create(door="gateway", application="travel", bucket="key-1")

    assert facts(client, "Runs now") == {
        "Running": "1",
        "Waiting for a user": "2",
        "Queued": "1",
        "Through the gateway": "1",
        "Processes with runs": "1",
        "Runs without a process": "1, waiting for takeover",
    }


def test_what_was_spent_today_is_compared_with_yesterday_at_this_time(client, operator):
    day = timedelta(days=1)
    store(
        *(
            model_call(started_at=at, cost=Decimal(cost), currency="USD")
            for at, cost in (
                (NOON - timedelta(hours=3), 3),
                (NOON - timedelta(minutes=1), 3),
                (NOON - day - timedelta(hours=3), 3),
                (NOON - day - timedelta(minutes=1), 1),
                (NOON - day + timedelta(minutes=1), 100),
                (NOON - 2 * day, 100),
            )
        ),
        model_call(started_at=NOON - timedelta(hours=1), cost=Decimal("0.5"), currency="EUR"),
    )
    with time_machine.travel(NOON):
        client.force_login(operator)
        of_rows = facts(client, "Spent today")
        sum_up_all(count_runs)
        of_sums = facts(client, "Spent today")

    assert of_rows == {
        "EUR": "0.5000 EUR",
        "USD": "6.00 USD, +50% compared with this time yesterday",
    }
    assert of_sums == of_rows


def test_errors_are_grouped_by_cause_and_counted_by_run_with_links_to_the_runs(client, operator):
    now = timezone.now()
    recent, retried = {"started_at": now - timedelta(minutes=1)}, uuid4()
    store(
        *(model_call(**recent, error="status 401", run=uuid4()) for _ in range(2)),
        *(model_call(**recent, error="status 401", run=retried) for _ in range(3)),
        model_call(**recent, error="cancelled"),
        model_call(started_at=now - timedelta(hours=25), error="timeout"),
        tool_use(**recent, has_failed=True),
    )
    RunSummary.objects.create(door="page", application="travel", bucket="user-1", status="failed")

    found = block(client, "Errors").facts

    assert [(fact.name, fact.text.partition(",")[0], fact.link) for fact in found] == [
        (
            "Failed runs of travel",
            "once",
            "/admin/runs/runsummary/?hours=24&door=users&status=failed&application=travel",
        ),
        (
            "The service rejected the key (status 401): gpt",
            "3 times",
            "/admin/runs/runsummary/?hours=24&door=users&error=status+401",
        ),
        (
            "Tool failed: Search",
            "once",
            "/admin/runs/runsummary/?hours=24&door=users&error=Tool+failed&tool=search",
        ),
    ]


def test_used_mcp_servers_that_are_down_are_named_without_their_addresses(
    client, operator, monkeypatch
):
    secret = "https://down.example/token-123/mcp"
    server = {"url": secret, "protocol": "streamable_http"}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": server}
    make_application(manifest=manifest_with(tool_sets=[toolset]))

    def session(state: Any, url: str, error: str = "") -> PooledSession:
        return PooledSession(1, url, "http", "user-1", state, (), 0, 1, error=error)

    async def sessions() -> list[PooledSession]:
        unused = "https://unused.example/mcp"
        return [
            session("connected", "https://up.example/mcp"),
            session("error", unused, f"{unused} cannot be reached."),
            session("error", secret, f"{secret} cannot be reached."),
        ]

    monkeypatch.setattr(home, "sessions", sessions)

    assert facts(client, "Unavailable MCP servers") == {"desk": "down.example cannot be reached."}


def test_the_largest_workspaces_of_notes_are_named_with_their_sizes(client, operator):
    group = Group.objects.create(name="Editors")
    team, ada = Team.objects.create(group=group), User.objects.create_user("ada")
    for title in ("Secret one", "Secret two"):
        write_note(title, "Ä" * 2048, owner=owner_of_team(team.pk))
    write_note("Secret", "x", owner=bucket_of(ada.pk))

    told = facts(client, "Notes")

    assert told == {
        "Editors": "2 notes, 8.0\xa0KB with all versions",
        "ada": "1 note, 1\xa0byte with all versions",
    }
    assert [*told] == ["Editors", "ada"]


def test_a_block_that_cannot_be_read_says_so_and_the_others_are_shown(
    client, operator, monkeypatch
):
    def broken(now: Any) -> None:
        raise OSError("secret of the disk")

    monkeypatch.setattr(home, "read_daily_spend", broken)

    answer = client.get("/admin/")

    failed = [one.title for one in answer.context["blocks"] if one.has_failed]
    assert failed == ["Spent today"]
    assert "This block cannot be loaded." in answer.text
    assert "secret of the disk" not in answer.text


def test_people_see_the_blocks_of_what_they_may_see(client):
    reader = staff_account("reader")
    client.force_login(reader)
    nothing = client.get("/admin/").context["blocks"]
    permit(reader, "view_usagesum")

    titles = [one.title for one in client.get("/admin/").context["blocks"]]

    assert (nothing, titles) == ([], ["Spent today"])


def test_the_page_takes_sixteen_queries_at_most(client, operator, django_assert_max_num_queries):
    store(model_call(error="timeout"), tool_use(has_failed=True))
    client.get("/admin/")

    with django_assert_max_num_queries(22):
        client.get("/admin/")


@pytest.mark.usefixtures("at_noon")
def test_what_needs_somebody_is_counted_with_links(client, operator):
    ids = {"stream": uuid4(), "request": uuid4()}
    run = Run.objects.create(application="travel", bucket="user-1", status="waiting", **ids)
    Interaction.objects.create(run=run, key="a", kind="approval", asked={})
    Interaction.objects.create(run=run, key="b", kind="question", asked={})
    row = make_application("travel")
    ApplicationDraft.objects.create(application=row, title="Travel", manifest=row.manifest)
    for rating, state in (("down", "new"), ("down", "done"), ("up", "new")):
        about = {"message": uuid4(), "application": row, "bucket": "user-1"}
        Feedback.objects.create(rating=rating, state=state, **about)
    budget = Budget.objects.create(
        subject_kind="application", application=row, unit="tokens", amount=10, window="day"
    )
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    BudgetWindow.objects.create(
        budget=budget, holder="travel", starts_at=day, ends_at=day + timedelta(days=1), spent=9
    )

    found = block(client, "Needs attention").facts

    assert [(fact.name, fact.text, fact.state) for fact in found] == [
        ("Waiting approvals", "1", "bad"),
        ("Other open questions", "1", ""),
        ("New negative feedback", "1", "bad"),
        ("10 tokens for application Travel, daily", "90% used", ""),
        ("Unpublished changes", "1 application", ""),
    ]
    [used] = block(client, "Spend against budget").facts
    assert (used.name, used.percent, used.low_percent) == (found[3].name, 90, 80)
    assert client.get(found[2].link).context["cl"].result_count == 1
    shown = client.get(found[-1].link).context["cl"].result_list
    assert [application.slug for application in shown] == ["travel"]


def test_drafts_wait_for_whoever_did_not_change_them(client, operator):
    row = make_application("travel", needs_second_publisher=True)
    anna = User.objects.create_superuser("anna")
    save_draft.execute(row, {"title": "Tours"}, None, anna)
    request_publishing.execute(row, "Tours", anna)

    told = [
        fact
        for user in (operator, anna)
        for fact in (client.force_login(user), block(client, "Needs attention").facts)[1]
        if fact.name == "Drafts waiting for a second user"
    ]

    assert [(fact.text, fact.state) for fact in told] == [("1", "bad")]
    client.force_login(operator)
    shown = client.get(told[0].link).context["cl"].result_list
    assert [application.slug for application in shown] == ["travel"]


def test_runs_of_today_are_compared_with_yesterday_at_this_time(client, operator):
    day = timedelta(days=1)
    for hours, status in ((1, "done"), (2, "failed"), (25, "done"), (23, "failed")):
        RunSummary.objects.create(
            door="page",
            application="travel",
            bucket="user-1",
            status=status,
            started_at=NOON - timedelta(hours=hours),
        )
    RunSummary.objects.create(
        door="page", application="travel", bucket="user-1", started_at=NOON - 2 * day
    )
    with time_machine.travel(NOON):
        client.force_login(operator)
        found = facts(client, "Runs today")

    assert found == {"Runs": "2, +100% compared with this time yesterday", "Failed": "1"}


def test_the_numbers_of_today_link_to_the_runs_that_were_counted(client, operator):
    counted = [
        RunSummary.objects.create(
            door=door,
            application="travel",
            bucket="user-1",
            status=status,
            started_at=NOON - timedelta(hours=hours),
        )
        for door, status, hours in (
            ("page", "failed", 2),
            ("page", "done", 3),
            ("studio", "failed", 1),
            ("page", "failed", 20),  # Yesterday, but in the last 24 hours.
        )
    ][:2]

    with time_machine.travel(NOON):
        client.force_login(operator)
        shown = {
            fact.name: (fact.text, client.get(fact.link).context["cl"].result_list)
            for fact in block(client, "Runs today").facts
        }

    assert shown == {
        "Runs": ("2", counted),
        "Failed": ("1", counted[:1]),
    }


def test_failed_test_messages_of_the_studio_are_not_errors(client, operator):
    recent = {"started_at": timezone.now(), "door": "studio"}
    store(
        model_call(**recent, error="status 401", run=uuid4()), tool_use(**recent, has_failed=True)
    )
    RunSummary.objects.create(door="studio", application="travel", bucket="user-1", status="failed")
    client.force_login(operator)

    assert not block(client, "Errors").facts
    assert facts(client, "Runs today") == {"Runs": "0", "Failed": "0"}


@proves("m4.2")
def test_the_first_page_tells_of_broken_content_before_anybody_uses_it(client, settings, tmp_path):
    settings.PREDEFINED_DIR = write(tmp_path, prompt__polite="Be polite.", tool__bad=b"{")
    settings.PREDEFINED_EXTRA_PATHS = [str(tmp_path / "gone")]
    client.force_login(make_operator())

    found = block(client, "Needs attention").facts

    page = "/admin/catalog/contentitem/"
    assert [(fact.name, fact.text, fact.link) for fact in found] == [
        ("Broken predefined content", "1", f"{page}?state=broken"),
        ("Content layers with errors", "1", page),
    ]


@pytest.mark.parametrize("path", ["auth/user/", "auth/user/add/", "auth/group/add/"])
def test_people_are_edited_in_the_same_look(client, path):
    client.force_login(make_operator())

    assert b"unfold/css/styles.css" in client.get(f"/admin/{path}").content


def test_recent_changes_are_told_in_words_with_their_users(client, operator):
    lena = User.objects.create_user("lena", first_name="Lena", last_name="Marković")
    permit(lena, "view_systemmessage")
    lena.is_staff = True
    lena.save()
    sent = {"text": "The carrier API is down.", "level": "info", "until_0": "", "until_1": ""}
    client.post("/admin/catalog/systemmessage/add/", sent)
    hers = Client()
    hers.force_login(lena)

    [change] = block(client, "Recent changes").facts

    assert change.name == f"{operator} added system message “The carrier API is down.”"
    assert change.text == "just now"
    assert client.get(change.link).status_code == 200
    assert [one.title for one in hers.get("/admin/").context["blocks"] if one.is_wide] == []
