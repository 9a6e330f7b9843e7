"""Budgets in a browser: operators see and raise them, and users see their own."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ADMIN, barriers, open_account
from tests.sites.serving import Site

FILL = """
from decimal import Decimal
from zoneinfo import ZoneInfo
from django.contrib.auth.models import User
from django.utils import timezone
from apps.accounts.caller import bucket_of
from apps.insights.budgets.models import Budget, BudgetWindow
from apps.insights.budgets.windows import window_at
Budget.objects.all().delete()
budget = Budget.objects.create(
    subject_kind="user", amount=Decimal(1000), soft_amount=Decimal(800), window="month"
)
start, end = window_at("month", ZoneInfo("UTC"), timezone.now())
BudgetWindow.objects.create(
    budget=budget, holder=bucket_of(User.objects.get(username=name).pk),
    starts_at=start, ends_at=end, spent=900,
)
result = budget.pk
"""
EMPTY = "from apps.insights.budgets.models import Budget; Budget.objects.all().delete()"


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_an_operator_sees_who_has_used_how_much_and_raises_it_once(
    admin_page: Page, site: Site, scheme, width
):
    number = site.shell(FILL, name=ADMIN["username"])
    admin_page.emulate_media(color_scheme=scheme)
    admin_page.set_viewport_size({"width": width, "height": 900})

    for path in ("/admin/insights/budget/", f"/admin/insights/budget/{number}/change/"):
        admin_page.goto(path)
        expect(admin_page.get_by_role("heading", level=1).first).to_be_visible()
        assert barriers(admin_page) == []
    admin_page.goto(f"/admin/insights/budget/{number}/standing/")
    expect(admin_page.get_by_role("meter", name=f"Used by {ADMIN['username']}")).to_be_visible()
    assert barriers(admin_page) == []

    admin_page.get_by_role("button", name="Raise").click()
    expect(admin_page.locator("#id_note_error")).to_be_visible()
    assert barriers(admin_page) == []
    admin_page.get_by_label("Raise by").fill("500")
    admin_page.get_by_label("Note").fill("The fair of this month")
    admin_page.get_by_role("button", name="Raise").click()
    expect(admin_page.get_by_text("The fair of this month")).to_be_visible()
    expect(admin_page.get_by_text("600 of 1,500")).to_be_visible()
    site.shell(EMPTY)


@pytest.mark.slow("a form in a browser")
def test_the_fields_of_a_budget_appear_with_the_choice_that_they_belong_to(admin_page: Page):
    admin_page.goto("/admin/insights/budget/add/")
    currency, team = admin_page.locator("#id_currency"), admin_page.locator(".field-team")
    expect(currency).to_be_hidden()
    expect(team).to_be_hidden()

    admin_page.get_by_label("Unit").select_option("money")
    admin_page.locator("#id_subject_kind").select_option("team")

    expect(currency).to_be_visible()
    expect(team).to_be_visible()
    expect(admin_page.locator(".field-user")).to_be_hidden()
    assert barriers(admin_page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_people_are_told_of_their_own_budget_in_the_account_menu(
    admin_page: Page, site: Site, scheme, width
):
    site.shell(FILL, name=ADMIN["username"])
    admin_page.emulate_media(color_scheme=scheme)
    admin_page.set_viewport_size({"width": width, "height": 900})

    admin_page.goto("/")
    open_account(admin_page)
    expect(admin_page.get_by_text("100 of 1,000 tokens left")).to_be_visible()
    assert barriers(admin_page) == []
    site.shell(EMPTY)
