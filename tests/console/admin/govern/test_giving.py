"""Roles of the installation, and the permissions that users may grant."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client

from apps.accounts.models import (
    ApiKey,
    AuditEntry,
    ClaimMapping,
    InstallationRole,
    ServiceAccount,
    Team,
)
from apps.catalog.access_sources import sourced_roles
from apps.catalog.models import Application, Grant, Role
from apps.console.giving import givable_groups
from apps.console.installation_roles import keep_groups
from tests.catalog.rows import make_application, make_operator
from tests.console.pages import browser_of, permit, signed_in
from tests.contract import proves

pytestmark = pytest.mark.django_db

USERS = "/admin/auth/user/"


def labels(group: Group) -> set[str]:
    found = group.permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{name}" for app, name in found}


def administrator(name: str = "adele", *groups: str) -> User:
    user = User.objects.create_user(name, password="x", is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups or ("administrator",)))
    return user


def typed(user: User, **changes: Any) -> dict[str, Any]:
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00"}
    return {"username": user.username, "is_active": "on", **joined, **changes}


def number(codename: str) -> int:
    found = Permission.objects.exclude(content_type__app_label="rest_framework_api_key")
    return found.get(codename=codename).pk


@pytest.mark.parametrize(
    ("left", "field"),
    [({"is_superuser": "on"}, "is_active"), ({"is_active": "on"}, "is_superuser")],
)
def test_the_last_superuser_is_neither_demoted_nor_deactivated(left, field):
    ada = User.objects.create_superuser("ada", "", "x")
    posted = {"username": "ada", "date_joined_0": "2026-01-01", "date_joined_1": "00:00", **left}
    browser = browser_of(ada)

    refused = browser.post(f"{USERS}{ada.pk}/change/", posted)
    ada.refresh_from_db()
    kept = ada.is_active, ada.is_superuser
    User.objects.create_superuser("grace", "", "x")
    taken = browser.post(f"{USERS}{ada.pk}/change/", posted)

    assert "ada is the only active superuser." in refused.context["errors"][0][0]
    assert list(refused.context["adminform"].form.errors) == [field]
    assert (kept, taken.status_code) == ((True, True), 302)


def test_the_last_superuser_is_not_deleted_in_the_admin():
    ada = User.objects.create_superuser("ada", "", "x")
    browser = browser_of(ada)
    chosen = {"action": "delete_selected", "_selected_action": [ada.pk], "post": "yes"}

    pages = [
        browser.post(f"{USERS}{ada.pk}/delete/", {"post": "yes"}),
        browser.post(USERS, chosen),
    ]

    assert all("The only active superuser." in page.content.decode() for page in pages)
    assert User.objects.filter(pk=ada.pk).exists()


@proves("operators")
def test_the_roles_are_there_from_the_start():
    operator, auditor, admins = (
        labels(Group.objects.get(name=name)) for name in ("operator", "auditor", "administrator")
    )

    assert {"catalog.change_application", "runs.view_run"} <= operator
    assert not {"workspace.change_deployment_keys", "catalog.access_all_applications"} & operator
    assert not {one for one in auditor if ".view_" not in one} - {"catalog.see_all_applications"}
    assert operator | auditor < admins
    assert "runs.read_run_contents" not in operator | auditor | admins
    assert "catalog.publish_application" in labels(Group.objects.get(name="publisher"))
    assert "runs.read_run_contents" in labels(Group.objects.get(name="reader of runs"))
    internals = ("sessions.", "contenttypes.", "account.", "admin.", "runs.add_journalentry")
    assert not [one for one in admins if one.startswith(internals)]


@proves("operators")
def test_what_is_renamed_taken_or_deleted_stays_so():
    Group.objects.filter(name="operator").update(name="builders")
    builders = Group.objects.get(name="builders")
    builders.permissions.remove(number("view_secret"))
    Group.objects.get(name="auditor").delete()
    role = InstallationRole.objects.get(name="operator")
    role.given.remove("runs.view_run")  # like a permission that was added later
    role.save()
    builders.permissions.remove(number("view_run"))

    keep_groups("default")

    names = set(Group.objects.values_list("name", flat=True))
    assert names == {"administrator", "builders", "publisher", "reader of runs"}
    assert {"runs.view_run", "workspace.view_secret"} & labels(builders) == {"runs.view_run"}


@proves("operators")
def test_a_group_of_that_name_stays_who_it_was_made_for():
    InstallationRole.objects.all().delete()
    Group.objects.all().delete()
    Group.objects.create(name="operator")

    call_command("migrate", verbosity=0)

    assert labels(Group.objects.get(name="operator")) == set()
    assert "runs.view_run" in labels(Group.objects.get(name="operator of the installation"))


def test_an_earlier_state_of_the_database_is_left_alone():
    InstallationRole.objects.all().delete()

    class Earlier:
        def get_model(self, *names: str) -> Any:
            raise LookupError(names)

    keep_groups("default", Earlier())

    assert InstallationRole.objects.count() == 0
    assert apps.is_installed("apps.console")


@proves("operators")
def test_only_what_one_has_is_offered_and_taken():
    adele, ben = administrator(), User.objects.create_user("ben")
    client = browser_of(adele)
    place = f"{USERS}{ben.pk}/change/"

    form = client.get(place).context["adminform"].form
    refused = client.post(place, typed(ben, user_permissions=[number("read_run_contents")]))
    client.post(place, typed(ben, is_superuser="on", user_permissions=[number("view_run")]))

    offered = form.fields["user_permissions"].queryset.values_list("codename", flat=True)
    assert {"view_run", "change_user"} <= {*offered}
    assert not {"read_run_contents", "view_session", "add_journalentry"} & {*offered}
    groups = dict(form.fields["user_permissions"].choices)
    assert "View run" in [label for _, label in groups["Runs"]]
    assert "Hold down" not in str(form["user_permissions"].help_text)
    assert "is_superuser" not in form.fields
    assert "user_permissions" in refused.context["adminform"].form.errors
    ben.refresh_from_db()
    assert (ben.is_superuser, ben.get_user_permissions()) == (False, {"runs.view_run"})


def test_what_one_may_not_give_is_kept():
    """A superuser granted an internal permission earlier."""
    ben = User.objects.create_user("ben")
    ben.user_permissions.add(number("view_session"))
    root = signed_in()

    root.post(f"{USERS}{ben.pk}/change/", typed(ben, user_permissions=[number("view_run")]))

    names = set(ben.user_permissions.values_list("codename", flat=True))
    assert names == {"view_session", "view_run"}


@proves("operators")
@pytest.mark.parametrize("is_active", [True, False])
def test_nobody_takes_over_an_account_with_more(is_active):
    root = make_operator("root")
    reader = User.objects.create_user("reader", is_active=is_active)
    reader.user_permissions.add(number("read_run_contents"))
    client = browser_of(administrator())

    for account in (root, reader):
        for page in ("change/", "password/", "delete/"):
            form = {"password1": "New-pass-9", "password2": "New-pass-9", "post": "yes"}
            assert client.post(f"{USERS}{account.pk}/{page}", form).status_code == 403


def test_an_administrator_without_all_applications_gives_no_group_that_opens_more():
    Permission.objects.get(codename="access_all_applications").group_set.clear()
    adele = administrator()
    guides = Group.objects.create(name="guides")
    Grant.objects.create(application=make_application(), group=guides, role=Role.EDITOR)

    before = givable_groups(adele).filter(pk=guides.pk).exists()
    adele.groups.add(guides)

    assert (before, givable_groups(adele).filter(pk=guides.pk).exists()) == (False, True)


@proves("operators")
def test_groups_with_more_are_not_edited():
    readers = Group.objects.create(name="readers")
    readers.permissions.add(number("read_run_contents"))
    client = browser_of(administrator())

    answer = client.post(f"/admin/auth/group/{readers.pk}/change/", {"name": "mine"})

    readers.refresh_from_db()
    assert (answer.status_code, readers.name) == (403, "readers")


def test_the_page_of_a_group_has_a_table_of_permissions_and_its_members():
    readers = Group.objects.create(name="readers")
    readers.permissions.add(number("view_runsummary"))
    User.objects.create_user("grace").groups.add(readers)
    client, page = signed_in(), f"/admin/auth/group/{readers.pk}/change/"

    shown = client.get(page).content.decode()
    given = [number("view_case"), number("erase_application")]
    client.post(page, {"name": "readers", "permissions": given})

    for name, is_checked in (("Test cases: View", False), ("Runs: View", True)):
        box = re.search(f'<input[^>]*aria-label="{name}"[^>]*>', shown)
        assert box is not None
        assert ("checked" in box[0]) == is_checked
    assert f"/admin/auth/user/?groups__id__exact={readers.pk}" in shown
    assert ">grace</a>" in shown
    assert labels(readers) == {"cases.view_case", "catalog.erase_application"}


def test_nobody_gives_by_a_team_or_a_mapping_what_they_lack(settings):
    """Both make users members of groups, who have the permissions of the group."""
    provider = {"provider_id": "company", "name": "Company"}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [provider]}}
    readers, others = (Group.objects.create(name=name) for name in ("readers", "others"))
    readers.permissions.add(number("read_run_contents"))
    team = Team.objects.create(group=readers)
    mapped = ClaimMapping.objects.create(provider="company", value="few", group=readers)
    adele = administrator()
    client = browser_of(adele)
    added = {"name": "readers", "members": [adele.pk], "visibility": "members"}

    def answers(page: str, form: dict[str, Any]) -> int:
        return client.post(f"/admin/accounts/{page}", form).status_code

    mapping = {"provider": "company", "value": "all"}
    refused = (
        answers(f"team/{team.pk}/change/", added),
        answers(f"team/{team.pk}/delete/", {"post": "yes"}),
        answers(f"claimmapping/{mapped.pk}/change/", {**mapping, "group": readers.pk}),
        answers(f"claimmapping/{mapped.pk}/delete/", {"post": "yes"}),
    )
    unoffered = answers("claimmapping/add/", {**mapping, "group": readers.pk})
    made = answers("claimmapping/add/", {**mapping, "group": others.pk})

    assert (refused, unoffered, made) == ((403,) * 4, 200, 302)
    assert not readers.user_set.exists()
    assert {*ClaimMapping.objects.values_list("value", "group")} == {
        ("few", readers.pk),
        ("all", others.pk),
    }


@pytest.mark.postgres
@proves("operators")
def test_a_service_account_is_made_in_one_step_and_signs_in_nowhere():
    root = signed_in()
    group = Group.objects.create(name="webhooks")
    form = {"username": "nightly", "description": "Sums up.", "groups": [group.pk]}

    made = root.post(
        "/admin/accounts/serviceaccount/add/", {**form, "permissions": [number("view_run")]}
    )

    account = ServiceAccount.objects.get(description="Sums up.").user
    assert made.status_code == 302
    assert account.get_all_permissions() == {"runs.view_run"}
    assert [*account.groups.all()] == [group]
    assert (account.has_usable_password(), account.is_staff, account.email) == (False, False, "")
    password = root.post(
        f"{USERS}{account.pk}/password/", {"password1": "New-pass-9", "password2": "New-pass-9"}
    )
    assert password.status_code == 403
    account.set_password("a-password-for-tests")
    account.save()
    person = Client()
    person.post("/login/", {"username": "nightly", "password": "a-password-for-tests"})
    assert "_auth_user_id" not in person.session


def test_a_service_account_goes_with_its_user_and_its_keys():
    client = signed_in()
    user = User.objects.create_user("nightly")
    row = ServiceAccount.objects.create(user=user)
    ApiKey.objects.create_key(name="k", user=user)
    page = client.get(f"/admin/accounts/serviceaccount/{row.pk}/change/").text

    client.post(f"/admin/accounts/serviceaccount/{row.pk}/delete/", {"post": "yes"})

    assert f"/admin/accounts/apikey/add/?user={user.pk}" in page
    assert (User.objects.filter(username="nightly").count(), ApiKey.objects.count()) == (0, 0)


@proves("operators")
def test_the_page_of_a_user_tells_what_they_may_use_and_why(django_assert_num_queries):
    root = make_operator()
    ann = User.objects.create_user("ann")
    guides, crew = Group.objects.create(name="guides"), Group.objects.create(name="crew")
    Team.objects.create(group=crew)
    ann.groups.set([guides, crew])
    guides.permissions.add(number("view_run"))
    private = {"is_shared": False}
    make_application("mine", owner=ann, **private)
    edited = make_application("edited", **private)
    Grant.objects.create(application=edited, user=ann, role=Role.EDITOR)
    Grant.objects.create(application=edited, group=guides, role=Role.USER)
    Grant.objects.create(
        application=make_application("ours", **private), group=crew, role=Role.OWNER
    )
    make_application("shared", is_public=True)
    make_application("hidden", **private)

    page = browser_of(root).get(f"{USERS}{ann.pk}/change/")

    found = [
        (one.application.slug, one.role, [f"{s.role.label} {s.why}" for s in one.sources])
        for one in page.context["roles"]
    ]
    assert found == [
        (
            "edited",
            "Editor",
            ["Editor by a grant to the user", "User by a grant to the group guides"],
        ),
        ("mine", "Owner", ["Owner as its owner"]),
        ("ours", "Owner", ["Owner by a grant to the team crew, while working in it"]),
        ("shared", "User", ["User shared with all signed-in users", "User public"]),
    ]
    assert page.context["permissions"] == [
        ("as a member of crew", []),
        ("as a member of guides", ["Can view run in progress"]),
    ]
    with django_assert_num_queries(4):
        sourced_roles(ann, Application.objects.all())


@proves("operators")
def test_who_looks_as_somebody_sees_what_they_are_offered_and_is_in_the_audit():
    root = make_operator()
    ann = User.objects.create_user("ann")
    crew = Group.objects.create(name="crew")
    team = Team.objects.create(group=crew)
    ann.groups.add(crew)
    ours = make_application("ours", is_shared=False)
    Grant.objects.create(application=ours, group=crew, role=Role.EDITOR)
    make_application("off", is_enabled=False)
    make_application("shared")
    client, place = browser_of(root), f"{USERS}{ann.pk}/as/"

    alone, working = client.get(place), client.get(f"{place}?team={team.pk}")

    offered = [
        [(row.slug, role) for row, role in one.context["offered"]] for one in (alone, working)
    ]
    assert offered == [[("shared", "User")], [("ours", "Editor"), ("shared", "User")]]
    assert client.get(f"{place}?team=999").status_code == 404
    assert client.post(place).status_code == 405
    looks = AuditEntry.objects.order_by("pk").values_list("event", "actor", "subject")
    assert [*looks] == [
        ("account.viewed", f"user-{root.pk}", f"user-{ann.pk}"),
        ("account.viewed", f"user-{root.pk}", f"user-{ann.pk}-team-{team.pk}"),
    ]


def test_who_does_not_see_all_applications_looks_as_nobody():
    operator = administrator("olga", "operator")
    operator.user_permissions.add(number("view_user"))
    client = browser_of(operator)

    assert client.get(f"{USERS}{operator.pk}/as/").status_code == 403
    assert AuditEntry.objects.count() == 0


def test_keys_are_made_for_oneself_or_by_who_edits_all_applications():
    olga, ann = administrator("olga", "operator"), User.objects.create_user("ann")
    permit(olga, "add_apikey", "view_apikey")
    ApiKey.objects.create_key(name="of all")
    client, root = browser_of(olga), signed_in("root")
    page = "/admin/accounts/apikey/add/"

    for user in ("", ann.pk, olga.pk):
        client.post(page, {"name": f"by olga for {user}", "user": user})
    root.post(page, {"name": "by root", "user": ann.pk})

    made = (
        ApiKey.objects.exclude(name="of all")
        .order_by("created")
        .values_list("name", "user__username")
    )
    assert [*made] == [(f"by olga for {olga.pk}", "olga"), ("by root", "ann")]
    listed = client.get("/admin/accounts/apikey/").context["cl"].result_list
    assert [key.name for key in listed] == [f"by olga for {olga.pk}"]


def test_a_key_works_in_a_team_of_its_person():
    root, ann = signed_in(), User.objects.create_user("ann")
    team = Team.objects.create(group=Group.objects.create(name="crew"))

    refused = root.post(
        "/admin/accounts/apikey/add/", {"name": "x", "user": ann.pk, "team": team.pk}
    )
    ann.groups.add(team.group)
    root.post("/admin/accounts/apikey/add/", {"name": "x", "user": ann.pk, "team": team.pk})

    assert "team" in refused.context["adminform"].form.errors
    assert ApiKey.objects.get().team == team
