"""Teams in the API for scripts have the admin's permission checks and audit events."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from rest_framework.test import APIClient

from apps.accounts.models import AuditEntry, Team
from apps.catalog.models import Grant, Role
from tests.accounts.teams import make_team
from tests.catalog.rows import make_application
from tests.console.pages import script_of, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

LIST = "/api/teams/"


@pytest.fixture
def people() -> tuple[User, User]:
    return User.objects.create_user("ada"), User.objects.create_user("grace")


def subjects() -> list[str]:
    return [*AuditEntry.objects.order_by("pk").values_list("subject", flat=True)]


def test_a_team_is_made_read_changed_and_deleted_with_its_group(api, people):
    sent = {"name": "Docs", "visibility": "members", "members": ["grace"]}

    made = api.post(LIST, {**sent, "administrators": ["ada"]}, format="json")
    team = Team.objects.get()
    url = f"{LIST}{team.pk}/"
    told = {
        "id": team.pk,
        "name": "Docs",
        "visibility": "members",
        "prompt": "",
        "members": ["ada", "grace"],
        "administrators": ["ada"],
    }
    assert (made.status_code, made.json()) == (201, told)
    assert (api.get(url).json(), api.get(LIST).json()["results"]) == (told, [told])

    renamed = api.patch(url, {"name": "Sales", "members": []}, format="json")
    assert (renamed.status_code, renamed.json()) == (
        200,
        {**told, "name": "Sales", "members": ["ada"]},
    )
    assert api.delete(url).status_code == 204
    assert not Group.objects.filter(name="Sales").exists()
    assert subjects() == [
        *("Docs: created", "Docs: shown to members", "Docs: added ada", "Docs: added grace"),
        *("Docs: ada is now an administrator", "Sales: renamed from Docs", "Sales: removed grace"),
        "Sales: deleted",
    ]


def test_members_are_added_and_removed_one_by_one_and_closed_accounts_stay(api, people):
    closed = User.objects.create_user("closed", is_active=False)
    team = make_team("Docs", closed, by=people[0])
    url = f"{LIST}{team.pk}/members/"

    added = api.put(f"{url}grace/", {"is_administrator": True}, format="json")
    lowered = api.put(f"{url}ada/", {"is_administrator": False}, format="json")
    kept = api.put(f"{url}grace/", {}, format="json")
    removed = api.delete(f"{url}ada/")

    assert added.json()["administrators"] == ["ada", "grace"]
    assert lowered.json()["members"] == ["ada", "grace"]
    assert (kept.json()["administrators"], removed.json()["members"]) == (["grace"], ["grace"])
    assert api.put(f"{url}nobody/", {}, format="json").status_code == 404
    assert api.put(f"{url}closed/", {}, format="json").status_code == 404
    assert api.delete(f"{url}nobody/").status_code == 404
    assert {user.username for user in team.group.user_set.all()} == {"closed", "grace"}
    assert subjects() == [
        *(
            "Docs: added grace",
            "Docs: grace is now an administrator",
            "Docs: ada is no longer an administrator",
        ),
        "Docs: removed ada",
    ]


def test_the_last_administrator_stays_one(api, people):
    ada, grace = people
    team = make_team("Docs", grace, by=ada)
    url = f"{LIST}{team.pk}/"

    refused = [
        api.delete(f"{url}members/ada/"),
        api.put(f"{url}members/ada/", {"is_administrator": False}, format="json"),
        api.patch(url, {"administrators": []}, format="json"),
    ]

    message = "The team needs an administrator. Make another member an administrator first."
    assert [(one.status_code, one.json()["errors"]) for one in refused] == [
        (400, [{"path": path, "message": message}])
        for path in ("administrators", "is_administrator", "administrators")
    ]
    told = api.get(url).json()
    assert (told["administrators"], told["members"]) == (["ada"], ["ada", "grace"])
    assert subjects() == []


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ({"name": "readers"}, "name"),
        ({"name": "x" * 151}, "name"),
        ({}, "name"),
        ({"name": "Docs", "prompt": "gone"}, "prompt"),
        ({"name": "Docs", "visibility": "world"}, "visibility"),
        ({"name": "Docs", "members": ["nobody"]}, "members"),
    ],
)
def test_what_is_wrong_has_its_place(api, sent, path):
    Group.objects.create(name="readers")

    answer = api.post(LIST, sent, format="json")

    assert answer.status_code == 400
    assert [one["path"] for one in answer.json()["errors"]] == [path]
    assert not Team.objects.exists()


def statuses(client: APIClient, team: Team) -> list[int]:
    url = f"{LIST}{team.pk}/"
    answers: list[Any] = [
        client.get(LIST),
        client.post(LIST, {"name": "New"}, format="json"),
        client.patch(url, {"visibility": "members"}, format="json"),
        client.put(f"{url}members/ada/", {}, format="json"),
        client.delete(f"{url}members/ada/"),
        client.delete(url),
    ]
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        ((), [403] * 6),
        (("view_team",), [200, 403, 403, 403, 403, 403]),
        (("view_team", "add_team"), [200, 201, 403, 403, 403, 403]),
        (("view_team", "change_team"), [200, 403, 200, 200, 200, 403]),
        (("view_team", "delete_team"), [200, 403, 403, 403, 403, 204]),
    ],
)
def test_each_right_opens_what_it_opens_in_the_admin(people, rights, expected):
    client = script_of(staff_account("vera", *rights))

    assert statuses(client, make_team("Docs")) == expected


def test_a_team_with_more_rights_than_the_caller_is_only_read(people):
    rights = ("view_team", "change_team", "delete_team")
    client = script_of(staff_account("vera", *rights))
    strong, granted = make_team("Strong"), make_team("Granted")
    strong.group.permissions.add(Permission.objects.get(codename="view_auditentry"))
    application = make_application("travel")
    Grant.objects.create(application=application, group=granted.group, role=Role.EDITOR)

    for team in (strong, granted):
        assert statuses(client, team) == [200, 403, 403, 403, 403, 403]


def test_accounts_that_are_not_staff_have_no_way_in(people):
    assert statuses(script_of(people[0]), make_team("Docs", by=people[0])) == [403] * 6
    assert APIClient().get(LIST).status_code == 401
