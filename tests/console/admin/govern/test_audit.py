"""The audit in the admin shows users by name and finds them by name."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection

from apps.accounts.models import AuditEntry
from apps.console.admin.govern.audit import AuditAdmin, of_words
from apps.live.run_summary import RunSummary
from tests.console.pages import permit, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/admin/accounts/auditentry/"


def anna() -> User:
    return User.objects.create_user("a1", first_name="Anna", last_name="Berg")


def entry(actor: str, subject: str = "") -> AuditEntry:
    event = AuditEntry.Event.VIEWED_AS
    made: AuditEntry = AuditEntry.objects.create(event=event, actor=actor, subject=subject)
    return made


def test_people_are_named_in_the_audit_and_found_by_their_name(admin_client: Any):
    person = anna()
    named = f"user-{person.pk}"
    by, on, other = entry(named), entry("key-12", f"{named}-team-7"), entry("user-0")

    def found(words: str) -> set[int]:
        listed = admin_client.get(PAGE, {"q": words}).context["cl"].result_list
        return {row.pk for row in listed}

    page = admin_client.get(PAGE).text
    assert f'<span title="{named}">Anna Berg</span>' in page
    assert f'<span title="{named}-team-7">Anna Berg in a deleted team</span>' in page
    assert found("anna berg") == found("a1") == {by.pk, on.pk}
    assert (found("user-0"), found("")) == ({other.pk}, {by.pk, on.pk, other.pk})


def test_a_row_has_short_ids_with_buttons_that_copy_the_whole_ones(admin_client: Any):
    run, conversation = uuid4(), uuid4()
    event = AuditEntry.Event.VIEWED_AS
    row = AuditEntry.objects.create(event=event, actor="user-0", run=run, conversation=conversation)

    page = admin_client.get(PAGE).text

    link = f'<a href="/admin/runs/runsummary/?q={run}">Run</a>'
    assert f'{link} <code title="{run}">{str(run)[:8]}</code>' in page
    assert f'Conversation <code title="{conversation}">{str(conversation)[:8]}</code>' in page
    for name, id in (("run", run), ("conversation", conversation)):
        assert f'data-copies="{name}-{row.pk}"' in page
        assert f'<code id="{name}-{row.pk}" hidden>{id}</code>' in page


def test_a_list_of_many_callers_costs_no_query_for_each(
    admin_client: Any, django_assert_max_num_queries: Any
):
    for number in range(20):
        user = User.objects.create_user(f"u{number}")
        entry(f"user-{user.pk}")

    with django_assert_max_num_queries(17):
        admin_client.get(PAGE)


@pytest.mark.parametrize("words", ["user-0", "10.0.0.7", "travel", "search", "nobody"])
def test_a_search_in_the_audit_reads_indexes_alone(words: str):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite describes its plans in other words.")
    anna()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # scans tables only without an index

    plan = AuditEntry.objects.filter(of_words(words)).order_by().explain()

    assert "Seq Scan" not in plan


def test_the_rows_of_the_audit_are_counted_up_to_a_limit(admin_client: Any, monkeypatch: Any):
    monkeypatch.setattr("apps.console.admin.theme.MOST_LISTED", 3)
    monkeypatch.setattr(AuditAdmin, "list_per_page", 2)
    for number in range(5):
        entry(f"user-{number}")

    page = admin_client.get(PAGE)

    shown = page.context["cl"]
    assert (shown.result_count, len(shown.result_list), shown.is_cut) == (3, 2, True)
    assert "These are the newest rows. Use a filter to find others." in page.text


def test_runs_show_the_name_of_their_person_and_are_found_by_it(client: Any):
    person = anna()
    run = RunSummary.objects.create(
        application="travel", bucket=f"user-{person.pk}", door="page", status="done"
    )
    operator = staff_account("olga", "view_runsummary")
    permit(operator, "access_all_applications")
    client.force_login(operator)
    page = "/admin/runs/runsummary/"

    listed = client.get(page, {"user": "anna berg"})
    shown = client.get(f"{page}{run.pk}/change/").text

    assert [row.pk for row in listed.context["cl"].result_list] == [run.pk]
    label = f'<span title="{run.bucket}">Anna Berg</span>'
    assert (label in listed.text, label in shown) == (True, True)


@pytest.mark.parametrize(
    "query", ["at__lt=9999-12-31T23:59:59-14:00", "at__lt=0001-01-01T00:00:00%2B14:00"]
)
def test_a_date_that_python_cannot_write_in_utc_is_no_failure(admin_client: Any, query: str):
    assert admin_client.get(f"{PAGE}?{query}", follow=True).status_code == 200
