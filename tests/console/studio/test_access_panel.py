"""The studio's access panel saves at once and publishes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from apps.accounts.models import AuditEntry, Team
from apps.catalog.actions import create, save_draft
from apps.catalog.grants import grants_of
from apps.catalog.models import Application, Grant, Role
from apps.catalog.versions.definitions import definition_of
from tests.catalog.rows import make_application, manifest_with
from tests.console.pages import browser_of, permit, staff_account
from tests.console.studio.asking import page_data, send
from tests.contract import proves
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

MAY = ("view_application", "change_application")
BROKEN = {"orchestrator": {"deployment": {"deployment_id": "gone"}, "nonsense": 1}}


@pytest.fixture
def row() -> Application:
    return make_application(is_shared=False, manifest=manifest_with())


@pytest.fixture
def owner(row: Application) -> Client:
    return browser_of(with_role(row, "olga", Role.OWNER))


def with_role(row: Application, name: str, role: Role) -> User:
    user = staff_account(name, *MAY)
    Grant.objects.create(application=row, user=user, role=role)
    return user


def told(client: Client, row: Application, name: str, body: Any) -> tuple[int, Any]:
    answer = send(client, row, name, body)
    return answer.status_code, answer.json()


def audited() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("event", "subject"))


@proves("access")
def test_access_is_saved_at_once_and_publishes_nothing(row, owner):
    Application.objects.update(manifest=BROKEN)
    draft = save_draft.execute(row, {"title": "Tours"}, 0, None)
    Group.objects.create(name="Sales")

    for name, body in (
        ("access", {"is_enabled": False}),
        ("access", {"audience": "shared"}),
        ("access", {"takes_two": True}),
        ("access", {"owner": "olga"}),
        ("grant", {"kind": "group", "name": "Sales", "role": "editor"}),
    ):
        status, _ = told(owner, row, name, body)
        assert status == 200, body
    answer = send(owner, row, "access", {}).json()

    row.refresh_from_db()
    assert answer["access"] == page_data(owner, row)["access"]
    assert answer["access"] == {
        "is_enabled": False,
        "is_published": True,
        "audience": "shared",
        "owner": {"kind": "user", "what": "User", "name": "olga", "title": "olga"},
        "takes_two": True,
        "grants": [
            {"kind": "user", "what": "User", "name": "olga", "title": "olga", "role": "owner"},
            {"kind": "group", "what": "Group", "name": "Sales", "title": "Sales", "role": "editor"},
        ],
        "may_enable": True,
        "may_grant": True,
        "may_rule": False,
        "finds_all": False,
    }
    assert (answer["state"]["takes_two"], row.live_number, row.manifest) == (True, 1, BROKEN)
    assert definition_of(row.draft).digest == definition_of(draft).digest
    assert audited() == [
        ("publishing.rule_changed", "two people"),
        ("access.granted", "editor: group Sales"),
    ]


def test_a_role_is_changed_and_taken_back(row, owner):
    User.objects.create_user("anna")

    roles = [
        told(owner, row, "grant", {"kind": "user", "name": "anna", "role": role})[0]
        for role in ("user", "editor", "")
    ]

    assert roles == [200, 200, 200]
    assert grants_of(row) == {("user", "olga"): Role.OWNER}
    assert [event for event, _ in audited()] == [
        "access.granted",
        "access.granted",
        "access.revoked",
    ]


LIST, HOME = "/admin/catalog/application/", "/admin/"


@each_row(
    ("name", "body", "words"),
    [
        (
            "grant",
            {"kind": "user", "name": "olga", "role": ""},
            "You no longer have a role in “Travel”, so it is no longer in your list.",
        ),
        (
            "access",
            {"owner": "anna"},
            "“Travel” now belongs to anna, and you no longer have a role in it.",
        ),
    ],
)
@each_row(("permissions", "page"), [(MAY, LIST), ((), HOME)])
def test_users_who_remove_their_own_role_go_to_the_list_which_says_so(
    permissions, page, name, body, words
):
    Application.objects.all().delete()
    User.objects.all().delete()
    row = make_application(is_shared=False, manifest=manifest_with())
    anna = User.objects.create_user("anna")
    if name == "grant":
        olga = staff_account("olga", *permissions)
        Grant.objects.create(application=row, user=olga, role=Role.OWNER)
    else:
        olga = staff_account("olga", *permissions)
        Application.objects.update(owner=olga)
        Grant.objects.create(application=row, user=anna, role=Role.USER)
    client = browser_of(olga)

    answer = told(client, row, name, body)
    shown = client.get(answer[1]["left"])

    assert answer == (200, {"left": page})
    assert (shown.status_code, words in shown.text) == (200, True)


@proves("access")
def test_an_editor_enables_an_application_and_changes_nothing_else(row):
    editor = browser_of(with_role(row, "emil", Role.EDITOR))

    refused = {
        "audience": told(editor, row, "access", {"audience": "public"}),
        "owner": told(editor, row, "access", {"owner": "emil"}),
        "unknown owner": told(editor, row, "access", {"owner": "nobody"}),
        "rule": told(editor, row, "access", {"takes_two": True}),
        "grant": told(editor, row, "grant", {"kind": "user", "name": "emil", "role": "owner"}),
        "search": told(editor, row, "people", {"text": "e"}),
    }
    status, answer = told(editor, row, "access", {"is_enabled": False})

    words = {"message": "Only owners of the application can change who can use it."}
    assert refused == dict.fromkeys(refused, (403, words))
    assert (status, answer["access"]["is_enabled"]) == (200, False)
    assert (answer["access"]["may_grant"], answer["access"]["may_rule"]) == (False, False)


@proves("access")
def test_only_a_superuser_lets_one_person_publish_again(row, owner, admin_client):
    Application.objects.update(needs_second_publisher=True)

    by_owner = told(owner, row, "access", {"takes_two": False})
    by_superuser, answer = told(admin_client, row, "access", {"takes_two": False})

    words = {"message": "Only a superuser can turn off two-person publishing."}
    assert (by_owner, by_superuser) == ((403, words), 200)
    assert answer["access"]["takes_two"] is False
    assert audited() == [("publishing.rule_changed", "one person")]


def found(client: Client, row: Application, text: str) -> list[tuple[str, str]]:
    status, answer = told(client, row, "people", {"text": text})
    assert status == 200
    return [(one["what"], one["name"]) for one in answer["found"]]


@proves("access")
def test_people_are_found_by_those_who_may_know_of_them(row, owner):
    User.objects.create_user("anna", first_name="Anna", last_name="Smith")
    User.objects.create_user("anders", email="anders@smith.example")
    User.objects.create_user("andrea-smith", is_active=False)
    desk = Group.objects.create(name="Smith desk")
    Group.objects.create(name="Smith sales")
    Team.objects.create(group=desk)
    viewer = browser_of(with_role(row, "vera", Role.OWNER))
    permit(User.objects.get(username="vera"), "view_user", "view_group")

    strangers = found(owner, row, "smith")
    desk.user_set.add(*User.objects.filter(username__in=("olga", "anna")))
    colleagues = found(owner, row, "SMITH")
    all_of_them = found(viewer, row, "smith")

    assert strangers == []
    assert colleagues == [("Team", "Smith desk"), ("User", "anna")]
    assert all_of_them == [
        ("Team", "Smith desk"),
        ("Group", "Smith sales"),
        ("User", "anders"),
        ("User", "anna"),
    ]
    assert found(viewer, row, "  ") == []


@proves("access")
def test_an_owner_is_chosen_among_known_people_and_nobody_is_guessed(row, owner):
    anna = User.objects.create_user("anna")

    hidden = [told(owner, row, "access", {"owner": name}) for name in ("anna", "nobody")]
    Grant.objects.create(application=row, user=anna)
    known, _ = told(owner, row, "access", {"owner": "anna"})

    row.refresh_from_db()
    assert hidden[0] == hidden[1]
    assert (hidden[0][0], known, row.owner) == (422, 200, anna)


def test_nobody_becomes_the_owner_whose_own_files_another_person_attached(row, admin_client):
    anna = User.objects.create_user("anna")
    own = {"type": "file", "url": f"files/user-{anna.pk}/notes.txt"}
    Application.objects.update(manifest=manifest_with(contexts=[own]))

    status, answer = told(admin_client, row, "access", {"owner": "anna"})

    row.refresh_from_db()
    assert (status, row.owner) == (422, None)
    assert "Only the owner can attach it" in answer["message"]


def test_an_application_may_have_no_owner(row, owner):
    Application.objects.update(owner=User.objects.get(username="olga"))

    status, answer = told(owner, row, "access", {"owner": ""})

    row.refresh_from_db()
    assert (status, answer["access"]["owner"], row.owner) == (200, None, None)


def test_an_editor_changes_the_name_in_addresses(row):
    editor = browser_of(with_role(row, "emil", Role.EDITOR))
    make_application("taken")

    status, answer = told(editor, row, "access", {"slug": " journeys "})
    refused = told(editor, row, "access", {"slug": "taken"})

    row.refresh_from_db()
    assert (status, answer["slug"], answer["chat"]) == (200, "journeys", "/chat/journeys/")
    assert refused == (422, {"message": "Application with this Slug already exists."})
    assert (row.slug, row.live_number) == ("journeys", 1)


def test_what_was_never_published_is_not_enabled(owner):
    row = Application(slug="tours", title="Tours", manifest=manifest_with())
    create.execute(row, User.objects.get(username="olga"))
    Grant.objects.create(application=row, user=User.objects.get(username="olga"), role=Role.OWNER)

    refused = told(owner, row, "access", {"is_enabled": True})
    shared, _ = told(owner, row, "access", {"audience": "shared"})

    row.refresh_from_db()
    assert refused == (
        422,
        {"message": "The application has no published version. Publish it first."},
    )
    assert (shared, row.is_enabled, row.is_shared, row.live_number) == (200, False, True, 0)


UNREADABLE: dict[str, tuple[str, Any]] = {
    "a number as a switch": ("access", {"is_enabled": 1}),
    "an audience of nobody": ("access", {"audience": "nobody"}),
    "a list of audiences": ("access", {"audience": ["public"]}),
    "a name in addresses by number": ("access", {"slug": 3}),
    "an owner by number": ("access", {"owner": 3}),
    "an owner with NUL": ("access", {"owner": "a\0"}),
    "a long name": ("grant", {"kind": "user", "name": "a" * 200, "role": "user"}),
    "another kind": ("grant", {"kind": "team", "name": "olga", "role": "user"}),
    "another role": ("grant", {"kind": "user", "name": "olga", "role": "king"}),
    "no name": ("grant", {"kind": "user", "role": "user"}),
    "no text": ("people", {}),
    "a list": ("access", []),
}


@each_row(["case", "sent"], UNREADABLE.items())
def test_what_cannot_be_read_is_refused_and_nothing_is_saved(row, owner, case, sent):
    before = grants_of(row)

    status, answer = told(owner, row, *sent)

    assert (status, [*answer]) == (400, ["message"])
    assert (grants_of(row), Application.objects.get(pk=row.pk).version) == (before, row.version)
