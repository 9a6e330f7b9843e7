"""`/api/budgets/`."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey
from apps.insights.budgets.models import Budget, BudgetWindow
from tests.accounts.teams import make_team
from tests.catalog.rows import make_application
from tests.console.pages import permit, script_of, staff_account
from tests.contract import proves
from tests.insights.budgets.rows import make_budget

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.usefixtures("at_noon"),
]

URL = "/api/budgets/"
FIELDS = {
    "subject_kind": "user",
    "subject": "operator",
    "unit": "tokens",
    "amount": "1000",
    "soft_amount": "800",
    "window": "day",
    "time_zone": "Europe/Berlin",
}


@pytest.fixture
def operator(api: APIClient) -> User:
    return User.objects.get()


@proves("budgets")
def test_a_budget_is_made_read_changed_and_deleted(api, operator):
    created = api.post(URL, FIELDS, format="json")
    address = f"{URL}{created.data['id']}/"
    changed = api.patch(address, {"amount": "2000"}, format="json")
    read = api.get(address)
    listed = api.get(URL)
    deleted = api.delete(address)

    statuses = [one.status_code for one in (created, changed, read, listed, deleted)]
    assert statuses == [201, 200, 200, 200, 204]
    assert (read["ETag"], read.data["amount"]) == ('"2"', "2000.000000")
    assert {name: created.data[name] for name in FIELDS} == {
        **FIELDS,
        "amount": "1000.000000",
        "soft_amount": "800.000000",
    }
    assert listed.data["results"] == [read.data]
    assert Budget.objects.count() == 0


def test_a_budget_of_a_team_is_made_by_its_name(api):
    docs = make_team("Docs")

    made = api.post(URL, {**FIELDS, "subject_kind": "team", "subject": "Docs"}, format="json")
    wrong = api.post(URL, {**FIELDS, "subject_kind": "team", "subject": "Sales"}, format="json")

    assert (made.status_code, made.data["subject"]) == (201, "Docs")
    assert Budget.objects.get().team == docs
    assert wrong.status_code == 400
    assert "Unknown team: 'Sales'." in wrong.text


@proves("budgets")
def test_it_tells_what_is_spent_and_reserved_and_when_it_renews(api, operator):
    budget = make_budget("user", 1000, user=operator)
    rule_window = api.get(f"{URL}{budget.pk}/").data
    from django.utils import timezone

    from apps.insights.budgets.reservations import window_of
    from apps.insights.budgets.rules import BudgetClaim, Rule

    window = window_of(BudgetClaim(Rule.of(budget), ""), timezone.now())
    BudgetWindow.objects.filter(pk=window).update(spent=120)

    read = api.get(f"{URL}{budget.pk}/").data

    assert (rule_window["spent"], rule_window["reserved"]) == ("0.000000", "0.000000")
    assert (read["spent"], read["reserved"]) == ("120.000000", "0.000000")
    assert read["renews_at"] == BudgetWindow.objects.get().ends_at


MISTAKES = [
    ({"subject": "nobody"}, "subject"),
    ({"subject_kind": "place"}, "subject_kind"),
    ({"amount": "-1"}, "amount"),
    ({"amount": "1e30"}, "amount"),
    ({"amount": "1500.5"}, "amount"),
    ({"amount": "Infinity"}, "amount"),
    ({"amount": "NaN"}, "amount"),
    ({"soft_amount": "1001"}, "soft_amount"),
    ({"unit": "money", "amount": "1000000001"}, "amount"),
    ({"unit": "euros"}, "unit"),
    ({"unit": "money", "currency": "usd"}, "currency"),
    ({"window": ""}, "window"),
    ({"window": "year"}, "window"),
    ({"time_zone": "Mars/Olympus"}, "time_zone"),
    ({"time_zone": "../../etc/passwd"}, "time_zone"),
    ({"subject_kind": "run", "subject": ""}, "window"),
]
"""Request bodies, each with the path of its error."""


def test_mistakes_have_their_paths_and_nothing_is_saved(api):
    found = [
        (sent, [one["path"] for one in api.post(URL, {**FIELDS, **sent}, "json").data["errors"]])
        for sent, _ in MISTAKES
    ]

    assert found == [(sent, [path]) for sent, path in MISTAKES]
    assert Budget.objects.count() == 0


def test_a_second_budget_of_the_same_kind_is_refused(api):
    make_budget("key", 10)

    answer = api.post(URL, {**FIELDS, "subject_kind": "key", "subject": ""}, format="json")

    assert answer.data["errors"] == [
        {"path": "window", "message": "A budget of this kind already exists. Change that one."}
    ]


def test_keys_and_applications_are_named_by_prefix_and_slug(api):
    row, _ = ApiKey.objects.create_key(name="test")
    make_application("travel")
    wanted = [("key", row.prefix, "day"), ("application", "travel", "hour"), ("run", "travel", "")]

    made = [
        api.post(URL, {**FIELDS, "subject_kind": kind, "subject": subject, "window": window})
        for kind, subject, window in wanted
    ]

    assert [
        (one.data["subject_kind"], one.data["subject"], one.data["window"]) for one in made
    ] == wanted


def test_what_was_counted_by_is_not_changed(api, operator):
    budget = make_budget("user", 1000, user=operator)

    same = api.put(f"{URL}{budget.pk}/", {**FIELDS, "time_zone": "UTC"}, format="json")
    other = api.patch(f"{URL}{budget.pk}/", {"unit": "money", "subject": "x"}, format="json")

    assert same.status_code == 200
    assert [found["path"] for found in other.data["errors"]] == ["subject", "unit"]


def test_an_outdated_edit_is_refused_with_the_changes(api, operator):
    budget = make_budget("user", 1000, user=operator)
    api.patch(f"{URL}{budget.pk}/", {"amount": "2000"}, format="json")

    late = api.patch(f"{URL}{budget.pk}/", {"amount": "3000"}, format="json", HTTP_IF_MATCH='"1"')

    assert (late.status_code, late.data["version"]) == (412, 2)


def test_only_who_may_see_them_sees_them():
    person = staff_account("auditor")
    client = script_of(person)
    before = client.get(URL).status_code
    permit(person, "view_budget")

    assert (before, client.get(URL).status_code) == (403, 200)
    assert client.post(URL, FIELDS, format="json").status_code == 403


def test_a_page_of_budgets_takes_the_same_number_of_queries(
    api, operator, django_assert_num_queries
):
    make_budget("user", 1000, user=operator)
    api.get(URL)  # records where the session is used
    with django_assert_num_queries(5):
        api.get(URL)
    make_budget("user", 1000, user=operator, window="hour")
    make_budget("key", 1000)

    with django_assert_num_queries(5):
        api.get(URL)
