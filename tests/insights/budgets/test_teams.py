"""Budgets of teams count the use of all members, and users' own budgets apply in every team."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.insights import call_rows
from apps.insights.budgets.models import Budget
from apps.insights.budgets.rules import Holder, holders_of, read_rules
from apps.insights.meter import CallEntry, RunMeter
from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import calls_between, sum_up_rows
from tests.accounts.teams import make_team
from tests.insights.budgets.rows import make_budget

PERSON = Holder("user", "user-7", "user-7")
TEAM = Holder("team", "team-3", "team-3")


@pytest.mark.parametrize(
    ("bucket", "door", "team", "holders"),
    [
        ("user-7", "page", None, [PERSON]),
        ("user-7-team-3", "page", 3, [PERSON, TEAM]),
        ("key-ab12cd34", "gateway", 3, [Holder("key", "key-ab12cd34", "key-ab12cd34"), TEAM]),
        ("session-1", "page", None, []),
    ],
)
def test_a_call_counts_for_the_person_and_for_the_team(bucket, door, team, holders):
    meter = RunMeter(lambda entry: None, door, bucket, team=team)

    assert list(holders_of(meter)) == holders


@pytest.mark.django_db
@pytest.mark.postgres
def test_the_rows_of_calls_name_the_team():
    made = ModelCallReport("gpt", 1.0, ())
    used = ToolCallReport("search", 1, 1.0)
    for team in (3, None):
        meter = RunMeter(lambda entry: None, "page", "user-7", team=team)
        call_rows.write([CallEntry(meter, report, 1.0) for report in (made, used)])

    for model in (ModelCall, ToolUse):
        assert list(model.objects.order_by("pk").values_list("team", flat=True)) == [3, None]
    calls = calls_between(datetime(1970, 1, 1, tzinfo=UTC), datetime(1971, 1, 1, tzinfo=UTC))
    teams = [name for dimension, name, _ in sum_up_rows(calls, (), ()) if dimension == "team"]
    assert teams == ["3"]


@pytest.mark.django_db
@pytest.mark.postgres
def test_a_budget_of_a_team_names_it_alone():
    team, user = make_team("Docs"), User.objects.create_user("ada")
    own, each = make_budget("team", 10, team=team), make_budget("team", 20)
    wrong = Budget(subject_kind="team", user=user, amount=1, window="day")

    with pytest.raises(ValidationError, match="the budget is for a team"):
        wrong.full_clean()
    found = read_rules().of(Holder("team", f"team-{team.pk}", f"team-{team.pk}"))
    assert ([rule.id for rule in found], own.subject, each.subject) == ([own.pk], "Docs", "")
