"""Budgets in the admin: the list with its bars, the form, and raising a window."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from apps.catalog.models import Change
from apps.insights.budgets.models import Budget, BudgetOverride, BudgetWindow
from apps.insights.budgets.reservations import window_of
from apps.insights.budgets.rules import BudgetClaim, Rule
from tests.catalog.rows import make_application
from tests.console.pages import permit, staff_account
from tests.contract import proves
from tests.insights.budgets.rows import make_budget

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.usefixtures("at_noon"),
]

LIST = "/admin/insights/budget/"
TYPED = {
    "subject_kind": "user",
    "user": "",
    "key": "",
    "application": "",
    "unit": "tokens",
    "currency": "USD",
    "amount": "1000",
    "soft_amount": "800",
    "window": "day",
    "time_zone": "Europe/Berlin",
}


def spend(budget: Budget, holder: str = "", **sums: int) -> BudgetWindow:
    window = BudgetWindow.objects.filter(
        pk=window_of(BudgetClaim(Rule.of(budget), holder), timezone.now())
    )
    window.update(**sums)
    return window.get()


def raising(holder: str = "", amount: str = "500", note: str = "A fair", seen: int = 0) -> Any:
    return {"holder": holder, "amount": amount, "note": note, "seen": seen}


def test_a_budget_is_added_and_its_history_kept(client, operator):
    answer = client.post(f"{LIST}add/", TYPED)

    budget = Budget.objects.get()
    assert answer.status_code == 302
    assert (budget.amount, budget.soft_amount, str(budget)) == (
        Decimal(1000),
        Decimal(800),
        "Daily tokens of each user",
    )
    assert [change.what for change in Change.objects.filter(kind="insights.budget")] == ["created"]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"amount": "-1"}, "amount"),
        ({"amount": "NaN"}, "amount"),
        ({"soft_amount": "1001"}, "soft_amount"),
        ({"window": ""}, "window"),
        ({"time_zone": "Mars"}, "time_zone"),
        ({"subject_kind": "run"}, "window"),
    ],
)
def test_mistakes_stand_at_their_fields(client, operator, fields, name):
    answer = client.post(f"{LIST}add/", {**TYPED, **fields})

    assert list(answer.context["adminform"].form.errors) == [name]
    assert Budget.objects.count() == 0


def test_a_budget_names_no_subject_of_another_kind(client, operator):
    application = make_application("travel")

    answer = client.post(f"{LIST}add/", {**TYPED, "application": application.pk})

    assert answer.context["adminform"].form.errors == {
        "application": ["Leave this field empty: the budget is for a user."]
    }


def test_the_usage_names_applications_by_their_titles(client, operator):
    desk = make_application("travel-desk", title="Travel Desk")
    own = make_budget("application", 1000, application=desk)
    general = make_budget("application", 10)
    spend(own, spent=850)
    spend(general, "travel-desk", spent=1)

    for budget in (own, general):
        page = client.get(f"{LIST}{budget.pk}/standing/").text
        assert ">Travel Desk<" in page
        assert ">travel-desk<" not in page


@proves("budgets")
def test_the_list_shows_how_much_is_used(client, operator):
    budget = make_budget("application", 1000, soft_amount=800, application=make_application())
    spend(budget, spent=850)
    general = make_budget("user", 10)
    spend(general, f"user-{operator.pk}", spent=1)
    spend(general, "user-999", spent=5)
    make_budget("run", 10)

    page = client.get(LIST).text

    assert "85%, 150 left" in page
    assert "50%, 5 left</a> and 1 more" in page
    assert "By each run" in page


def test_the_list_names_people_and_applications_by_their_titles(client, operator):
    lena = User.objects.create_user("lena", first_name="Lena", last_name="Marković")
    support = make_application("support", title="Support desk")
    make_budget("user", 10, user=lena)
    make_budget("application", 10, application=support)
    make_budget("run", 10, application=support)
    make_budget("user", 10)

    context = client.get(LIST).context

    admin = context["cl"].model_admin
    assert {admin.subject_name(row) for row in context["cl"].result_list} == {
        "User Lena Marković",
        "Application Support desk",
        "Each run of Support desk",
        "Each user",
    }


def test_only_the_amounts_can_be_changed(client, operator):
    budget = make_budget("user", 10)
    form = client.get(f"{LIST}{budget.pk}/change/").context["adminform"].form

    assert set(form.fields) >= {"amount", "soft_amount"}
    assert {"unit", "window", "subject_kind", "time_zone"}.isdisjoint(form.fields)


@proves("budgets")
def test_a_window_is_raised_once_with_a_note_that_stays(client, operator):
    budget = make_budget("user", 1000, user=operator)
    page = f"{LIST}{budget.pk}/standing/"

    answer = client.post(page, raising(amount="500.0"), follow=True)

    [(name, override, _)] = answer.context["overrides"]
    assert (name, override.amount, override.note, override.by) == (
        "operator",
        Decimal(500),
        "A fair",
        "operator",
    )
    assert BudgetWindow.objects.get().raised == 500
    assert "1,500 of 1,500" in answer.text


@proves("budgets")
def test_of_two_operators_the_second_hears_of_the_first(client, operator):
    budget = make_budget("user", 1000, user=operator)
    page = f"{LIST}{budget.pk}/standing/"
    client.post(page, raising(note="First"))

    second = client.post(page, raising(note="Second"))
    seen = second.context["form"].data["seen"]
    again = client.post(page, raising(note="Second", seen=seen))

    [said] = second.context["form"].non_field_errors()
    assert said.startswith("operator raised it by 500 in the meantime: “First”.")
    assert again.status_code == 302
    assert list(BudgetOverride.objects.values_list("note", flat=True)) == ["Second", "First"]
    assert BudgetWindow.objects.get().raised == 1000


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"amount": "-5"}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "1.5"}, "amount"),
        ({"amount": "Infinity"}, "amount"),
        ({"amount": "1000000000000"}, "amount"),
        ({"note": ""}, "note"),
        ({"holder": "user-999"}, "holder"),
    ],
)
def test_a_wrong_override_changes_nothing(client, operator, fields, name):
    budget = make_budget("user", 1000, user=operator)

    answer = client.post(f"{LIST}{budget.pk}/standing/", {**raising(), **fields})

    assert list(answer.context["form"].errors) == [name]
    assert not BudgetWindow.objects.filter(raised__gt=0).exists()


@proves("budgets")
def test_calls_without_a_price_are_told(client, operator):
    budget = make_budget("application", 5, unit="money", application=make_application())
    spend(budget, unpriced=3)

    assert "no price: 3 calls" in client.get(f"{LIST}{budget.pk}/standing/").text


def test_who_may_only_look_cannot_raise(client):
    person = staff_account("auditor")
    client.force_login(person)
    budget = make_budget("user", 1000, user=person)
    page = f"{LIST}{budget.pk}/standing/"
    before = client.get(page).status_code
    permit(person, "view_budget", "see_all_applications")

    looked, posted = client.get(page), client.post(page, raising())

    assert before == 403
    assert (looked.status_code, looked.context["form"]) == (200, None)
    assert posted.status_code in (200, 403)
    assert BudgetOverride.objects.count() == 0


def test_notes_are_escaped(client, operator):
    budget = make_budget("user", 1000, user=operator)
    page = f"{LIST}{budget.pk}/standing/"

    answer = client.post(page, raising(note="<script>alert(1)</script>"), follow=True)

    assert "<script>alert(1)" not in answer.text


def test_a_budget_is_shown_in_words_and_its_amount_entered_with_separators(client, operator):
    budget = make_budget("user", 2_000_000)

    page = client.get(f"{LIST}{budget.pk}/change/")
    client.post(f"{LIST}{budget.pk}/change/", {"amount": "3,500,000", "soft_amount": "1,000"})

    budget.refresh_from_db()
    assert page.context["subtitle"] == "2,000,000 tokens for each user, daily"
    assert 'value="2,000,000"' in page.text
    assert "Each user" in page.text
    assert "field-currency" not in page.text
    assert (budget.amount, budget.soft_amount) == (Decimal(3_500_000), Decimal(1000))


@pytest.mark.parametrize("typed", ["1,5", "1,00,0", "1,000,"])
def test_a_comma_that_separates_no_thousands_is_refused(client, operator, typed):
    answer = client.post(f"{LIST}add/", {**TYPED, "amount": typed})

    assert list(answer.context["adminform"].form.errors) == ["amount"]


def test_a_user_who_may_only_look_at_a_budget_reads_its_amounts(client):
    reader = staff_account("reader")
    permit(reader, "view_budget", "access_all_applications")
    client.force_login(reader)
    budget = make_budget("user", 2_000_000, soft_amount=1_500_000)

    page = client.get(f"{LIST}{budget.pk}/change/").text

    assert "2,000,000 tokens" in page
    assert "1,500,000 tokens" in page
