"""Teams in the admin have groups, and cannot lose all their administrators."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from apps.accounts.caller import WidgetVisitor, widget_bucket
from apps.accounts.models import AuditEntry, Team
from apps.console.admin.callers import caller_names, shown_caller
from tests.accounts.teams import make_team
from tests.console.admin.govern.test_giving import typed
from tests.console.pages import signed_in

pytestmark = pytest.mark.django_db

LIST = "/admin/accounts/team/"


@pytest.fixture
def client() -> Client:
    return signed_in()


def test_a_team_is_made_changed_and_deleted_with_its_group(client):
    ada, grace = [User.objects.create_user(name) for name in ("ada", "grace")]
    closed = User.objects.create_user("closed", is_active=False)
    fields = {"administrators": [ada.pk], "members": [grace.pk], "visibility": "members"}

    ours = Group.objects.filter(installation_role=None)
    made = client.post(f"{LIST}add/", {"name": "Docs", **fields})
    team = Team.objects.get()
    team.group.user_set.add(closed)
    members = set(team.group.user_set.all())
    changed = client.post(
        f"{LIST}{team.pk}/change/", {"name": "Sales", **fields, "members": [ada.pk]}
    )

    assert (made.status_code, changed.status_code) == (302, 302)
    assert members == {ada, grace, closed}
    assert set(team.group.user_set.all()) == {ada, closed}
    assert list(ours.values_list("name", flat=True)) == ["Sales"]
    assert "nobody can open them" in client.get(f"{LIST}{team.pk}/delete/").text
    client.post(f"{LIST}{team.pk}/delete/", {"post": "yes"})
    assert (Team.objects.count(), ours.count()) == (0, 0)


def test_a_team_keeps_an_administrator(client):
    ada = User.objects.create_user("ada")
    team = make_team("Docs", by=ada)
    sent = {"name": "Docs", "visibility": "members", "administrators": []}

    page = client.post(f"{LIST}{team.pk}/change/", sent)

    assert page.context["adminform"].form.errors == {
        "administrators": [
            "The team needs an administrator. Make another member an administrator first."
        ]
    }
    assert list(team.administrators.all()) == [ada]


def subjects() -> list[str]:
    found = AuditEntry.objects.filter(event="team.changed", address="127.0.0.1").order_by("pk")
    actor = f"user-{User.objects.get(username='operator').pk}"
    return list(found.filter(actor=actor).values_list("subject", flat=True))


def test_what_the_admin_changes_of_a_team_is_in_the_audit(client):
    ada, grace, lin = [User.objects.create_user(name) for name in ("ada", "grace", "lin")]
    made = {"name": "Docs", "administrators": [ada.pk], "members": [grace.pk, lin.pk]}
    client.post(f"{LIST}add/", {**made, "visibility": "members"})
    team = Team.objects.get()
    began = subjects()

    change = f"{LIST}{team.pk}/change/"
    changed = {**made, "name": "Sales", "administrators": [grace.pk], "members": [ada.pk]}
    client.post(change, {**changed, "visibility": "administrators"})
    client.post(change, {**changed, "visibility": "administrators"})
    client.post(f"{LIST}{team.pk}/delete/", {"post": "yes"})

    assert began == [
        "Docs: created",
        "Docs: shown to members",
        "Docs: added ada",
        "Docs: added grace",
        "Docs: added lin",
        "Docs: ada is now an administrator",
    ]
    assert subjects()[len(began) :] == [
        "Sales: renamed from Docs",
        "Sales: shown to administrators",
        "Sales: removed lin",
        "Sales: grace is now an administrator",
        "Sales: ada is no longer an administrator",
        "Sales: deleted",
    ]


def test_who_joins_or_leaves_a_team_on_the_page_of_a_user_is_in_the_audit(client):
    ada, docs = User.objects.create_user("ada"), make_team("Docs")
    role = Group.objects.create(name="readers")
    page = f"/admin/auth/user/{ada.pk}/change/"
    both = [docs.group.pk, role.pk]

    for groups in (both, both, []):
        assert client.post(page, typed(ada, groups=groups)).status_code == 302

    assert subjects() == ["Docs: added ada", "Docs: removed ada"]


def test_what_the_page_of_a_group_changes_of_its_team_is_in_the_audit(client):
    docs, right = make_team("Docs"), Permission.objects.get(codename="view_auditentry")
    page = f"/admin/auth/group/{docs.group.pk}/change/"

    for given in ([right.pk], []):
        assert client.post(page, {"name": "Sales", "permissions": given}).status_code == 302
    client.post(f"/admin/auth/group/{docs.group.pk}/delete/", {"post": "yes"})

    assert not Team.objects.exists()
    assert subjects() == [
        "Sales: renamed from Docs",
        "Sales: may accounts.view_auditentry",
        "Sales: may no longer accounts.view_auditentry",
        "Sales: deleted",
    ]


def test_a_name_that_a_group_has_is_refused(client):
    Group.objects.create(name="Docs")

    answer = client.post(f"{LIST}add/", {"name": "Docs", "visibility": "members"})

    assert "A group with this name already exists." in answer.text
    assert Team.objects.count() == 0


def test_a_prompt_that_is_gone_stays_chosen(client):
    team = make_team("Docs", prompt="gone")

    page = client.get(f"{LIST}{team.pk}/change/").text

    assert '<option value="gone" selected>gone</option>' in page


def test_the_list_tells_of_teams_that_nobody_administers(client):
    ada = User.objects.create_user("ada")
    make_team("Docs", by=ada)
    make_team("Sales", ada)

    page = client.get(LIST).text

    assert page.count("None: nobody can add members") == 1


def test_people_are_named_by_their_name_or_else_their_address_or_username():
    people = [
        User.objects.create_user("a1", "anna@example.org", first_name="Anna", last_name="Berg"),
        User.objects.create_user("b2", "ben@example.org"),
        User.objects.create_user("c3"),
    ]
    buckets = [f"user-{one.pk}" for one in people]

    names = caller_names(buckets)

    assert list(map(names.get, buckets)) == ["Anna Berg", "ben@example.org", "c3"]
    assert shown_caller(buckets[0], names) == f'<span title="{buckets[0]}">Anna Berg</span>'
    assert shown_caller("session-1", names) == "session-1"


def test_callers_are_named_with_their_teams():
    ada = User.objects.create_user("ada")
    docs = make_team("Docs", ada)
    buckets = [f"user-{ada.pk}", f"user-{ada.pk}-team-{docs.pk}", f"user-{ada.pk}-team-0"]
    buckets += [f"team-{docs.pk}", "user-0-team-1", "dial"]

    assert list(map(caller_names(buckets).get, buckets)) == [
        *("ada", "ada in Docs", "ada in a deleted team", "Docs", "user-0-team-1", "dial")
    ]


def test_visitors_are_named_by_the_beginning_of_their_hash():
    session, widget = f"session-{'0a1b2c3d' * 4}", widget_bucket(WidgetVisitor(7, False), "tab")

    assert caller_names([session, widget]) == {
        session: "visitor 0a1b2c",
        widget: f"widget visitor {widget[-32:][:6]}",
    }


def test_the_list_of_groups_leaves_out_teams_whose_page_links_to_their_permissions(client):
    docs = make_team("Docs")
    Group.objects.create(name="readers")

    groups = client.get("/admin/auth/group/").context["cl"].result_list
    page = client.get(f"/admin/accounts/team/{docs.pk}/change/").text

    assert "readers" in {group.name for group in groups}
    assert docs.group not in groups
    assert f"/admin/auth/group/{docs.group.pk}/change/" in page
