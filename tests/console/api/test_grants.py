from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from apps.accounts.models import AuditEntry
from apps.catalog.grants import grants_of
from apps.catalog.models import Application, Grant, OperatorKey, Role
from tests.catalog.rows import make_application
from tests.console.pages import script_of, staff_account
from tests.contract import proves

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

URL = "/api/applications/travel/grants/"


@pytest.fixture(autouse=True)
def application() -> Application:
    User.objects.create_user("anna")
    User.objects.create_user("ben")
    Group.objects.create(name="Sales")
    return make_application("travel")


def audited() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(event__in=("access.granted", "access.revoked"))
    return list(rows.order_by("pk").values_list("event", "application", "subject"))


def test_the_list_is_replaced_as_a_whole_and_read_back(api):
    grants = [{"group": "Sales", "role": "editor"}, {"user": "anna", "role": "user"}]

    replaced = api.put(URL, grants)
    read = api.get(URL)

    assert (replaced.status_code, replaced.data) == (200, grants)
    assert (read.data, read["ETag"]) == (grants, replaced["ETag"])
    assert api.put(URL, []).data == []
    assert audited() == [
        ("access.granted", "travel", "editor: group Sales"),
        ("access.granted", "travel", "user: user anna"),
        ("access.revoked", "travel", "editor: group Sales"),
        ("access.revoked", "travel", "user: user anna"),
    ]


def test_one_grant_is_added_changed_and_removed(api, application):
    api.put(URL, [{"user": "ben", "role": "owner"}])
    kept = Grant.objects.get()

    added = api.post(URL, {"user": "anna", "role": "user"})
    changed = api.post(URL, {"user": "anna", "role": "editor"})
    removed = api.delete(f"{URL}?user=anna")

    ben = {"user": "ben", "role": "owner"}
    assert added.data == [ben, {"user": "anna", "role": "user"}]
    assert changed.data == [ben, {"user": "anna", "role": "editor"}]
    assert (removed.status_code, removed.data) == (200, [ben])
    assert Grant.objects.get() == kept


@pytest.mark.parametrize("query", ["", "?user=anna", "?group=ben", "?user=ben&group=Sales", "?x=1"])
def test_what_is_not_granted_cannot_be_removed(api, application, query):
    api.put(URL, [{"user": "ben", "role": "owner"}])

    assert api.delete(f"{URL}{query}").status_code == 404
    assert grants_of(application) == {("user", "ben"): Role.OWNER}


@pytest.mark.parametrize(
    ("sent", "paths"),
    [
        ([{"user": "anna", "role": "king"}], ["[0].role"]),
        ([{"user": "anna", "role": "user"}, {"role": "user"}], ["[1]"]),
        ([{"user": "anna", "group": "Sales", "role": "user"}], ["[0]"]),
        ([{"user": "nobody", "role": "user"}, {"group": "None", "role": "user"}],
         ["[0].user", "[1].group"]),
        ([{"user": "anna", "role": "user"}, {"user": "anna", "role": "owner"}], ["[1].user"]),
        (["anna"], ["[0]"]),
        ({"user": "anna", "role": "user"}, ["$"]),
    ],
)  # fmt: skip
def test_mistakes_have_their_paths_and_nothing_is_saved(api, application, sent, paths):
    api.post(URL, {"user": "ben", "role": "user"})

    answer = api.put(URL, sent)

    assert (answer.status_code, answer.data["detail"]) == (400, "Nothing was saved.")
    assert [error["path"] for error in answer.data["errors"]] == paths
    assert grants_of(application) == {("user", "ben"): Role.USER}


def test_an_outdated_list_is_refused(api, application):
    tag = api.get(URL)["ETag"]
    api.post(URL, {"user": "anna", "role": "user"}, headers={"If-Match": tag})

    answers = [
        api.put(URL, [], headers={"If-Match": tag}),
        api.post(URL, {"user": "ben", "role": "user"}, headers={"If-Match": tag}),
        api.delete(f"{URL}?user=anna", headers={"If-Match": tag}),
    ]

    assert [answer.status_code for answer in answers] == [412, 412, 412]
    assert grants_of(application) == {("user", "anna"): Role.USER}


@proves("access")
def test_only_owners_grant_and_say_for_whom_it_is(application):
    editor = staff_account(
        "editor", "view_application", "change_application", "publish_application"
    )
    _, key = OperatorKey.objects.create_key(name="script", user=editor)
    api = APIClient(headers={"Authorization": f"Bearer {key}"})
    grant = Grant.objects.create(application=application, user=editor, role=Role.EDITOR)

    refused = api.put(URL, [])
    opened = api.patch("/api/applications/travel/", {"is_public": True, "owner": "editor"})
    same = api.patch("/api/applications/travel/", {"is_public": False, "title": "Journeys"})

    assert (refused.status_code, api.get(URL).status_code) == (403, 200)
    assert [error["path"] for error in opened.data["errors"]] == ["is_public", "owner"]
    assert (same.status_code, same.data["title"]) == (200, "Journeys")
    Grant.objects.filter(pk=grant.pk).update(role=Role.OWNER)
    assert api.put(URL, [{"user": "editor", "role": "owner"}]).status_code == 200
    assert api.patch("/api/applications/travel/", {"is_public": True}).status_code == 200


@pytest.mark.parametrize("permissions", [(), ("view_application",), ("add_application",)])
def test_who_may_not_change_applications_grants_nothing(application, permissions):
    owner = staff_account("owner", *permissions)
    application.owner = owner
    application.save()
    api = script_of(owner)

    answers = [api.put(URL, []), api.post(URL, {"user": "anna", "role": "user"}), api.delete(URL)]

    assert [answer.status_code for answer in answers] == [403, 403, 403]


@pytest.mark.usefixtures("nothing_expires")
def test_grants_take_the_same_queries_however_many_there_are(api, django_assert_num_queries):
    names = [f"person-{number}" for number in range(50)]
    User.objects.bulk_create(User(username=name) for name in names)
    api.put(URL, [{"user": names[0], "role": "user"}])

    with django_assert_num_queries(4):
        answer = api.get(URL)

    assert len(answer.data) == 1
    api.put(URL, [{"user": name, "role": "user"} for name in names])
    with django_assert_num_queries(4):
        assert len(api.get(URL).data) == 50
