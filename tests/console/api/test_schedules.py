"""`/api/schedules/` and the admin: when schedules run, not what they ask."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from apps.console.api.schedules import OF_OPERATORS
from apps.schedules.models import Schedule
from tests.triggers.rows import add_schedule, add_user, application_of

pytestmark = pytest.mark.django_db


def operator(*codes: str) -> tuple[Client, Any]:
    user = add_user()
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=codes))
    client = Client()
    client.force_login(user)
    return client, user


def test_an_operator_sees_schedules_of_the_own_applications_and_pauses_them():
    client, user = operator("view_schedule", "change_schedule")
    mine, other = application_of(owner=user), application_of()
    ada = add_user()
    row = add_schedule(mine, ada, name="Private", kind="cron", expression="@daily")
    hidden = add_schedule(other, ada)

    listed = client.get("/api/schedules/").json()["results"]
    page = client.get("/admin/schedules/schedule/").content.decode()
    body = {"is_paused": True}
    paused = client.patch(f"/api/schedules/{row.pk}/", body, "application/json").json()
    not_mine = client.patch(f"/api/schedules/{hidden.pk}/", body, "application/json")
    resumed = client.patch(f"/api/schedules/{row.pk}/", {"is_paused": False}, "application/json")

    assert [(one["id"], one["runs"]) for one in listed] == [
        (str(row.pk), "At 00:00 every day (UTC)")
    ]
    assert "Private" not in str(listed) + page
    assert "What is new?" not in str(listed) + page
    assert "At 00:00 every day" in page
    assert (paused["is_paused"], paused["pause_reason"]) == (True, OF_OPERATORS)
    assert (not_mine.status_code, resumed.status_code) == (404, 400)
    assert Schedule.objects.get(pk=row.pk).is_paused


def test_schedules_are_paused_in_the_admin():
    client, user = operator("view_schedule", "change_schedule")
    row = add_schedule(application_of(owner=user), add_user(), kind="cron", expression="@daily")

    chosen = {"action": "pause_selected", "_selected_action": [str(row.pk)]}
    client.post("/admin/schedules/schedule/", chosen)

    row.refresh_from_db()
    assert (row.is_paused, row.pause_reason) == (True, OF_OPERATORS)


def test_without_the_permission_nothing_is_seen_or_changed():
    client, user = operator("view_schedule")
    row = add_schedule(application_of(owner=user), add_user())

    changed = client.patch(f"/api/schedules/{row.pk}/", {"is_paused": True}, "application/json")
    made = client.post("/api/schedules/", {}, "application/json")

    assert (changed.status_code, made.status_code) == (403, 403)
    assert operator()[0].get("/api/schedules/").status_code == 403
