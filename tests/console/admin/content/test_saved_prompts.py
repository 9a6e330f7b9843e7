"""The list of shared prompts in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from apps.accounts.models import Team
from apps.catalog.saved_prompts import SavedPrompt

pytestmark = [pytest.mark.django_db]


def test_a_team_more_in_the_filter_costs_no_query(
    admin_client: Any, django_assert_max_num_queries: Any
):
    for number in range(20):
        Team.objects.create(group=Group.objects.create(name=f"Team {number}"))
    SavedPrompt.objects.create(name="tea", title="Tea", text="Tea?", team=Team.objects.last())
    admin_client.get("/admin/catalog/savedprompt/")

    with django_assert_max_num_queries(15):
        page = admin_client.get("/admin/catalog/savedprompt/")

    assert "Team 19" in page.text
