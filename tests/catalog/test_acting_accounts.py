"""Accounts that an operator may edit, or select as the account that something runs as."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, Permission, User

from apps.accounts.models import Team
from apps.catalog.acting_accounts import may_manage
from apps.catalog.models import Application, Grant, Role
from tests.catalog.rows import make_application
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def member(user: User, name: str) -> Group:
    group, _ = Group.objects.get_or_create(name=name)
    user.groups.add(group)
    return group


def own(user: User, application: Application) -> None:
    Application.objects.filter(pk=application.pk).update(owner=user)


def grant(role: Role) -> Callable[[User, Application], None]:
    def give(user: User, to: Application) -> None:
        Grant.objects.create(application=to, user=user, role=role)

    return give


def grant_to_group(role: Role) -> Callable[[User, Application], None]:
    def give(user: User, to: Application) -> None:
        group = member(user, f"guides-{user.pk}")
        Grant.objects.create(application=to, group=group, role=role)

    return give


def grant_to_team(role: Role) -> Callable[[User, Application], None]:
    def give(user: User, to: Application) -> None:
        group = member(user, f"team-{user.pk}")
        Team.objects.create(group=group)
        Grant.objects.create(application=to, group=group, role=role)

    return give


def permit_all(user: User, to: Application) -> None:
    user.user_permissions.add(Permission.objects.get(codename="access_all_applications"))


def nothing(user: User, to: Application) -> None: ...


@each_row(
    ("of_account", "of_manager", "may"),
    [
        (nothing, nothing, True),
        (own, nothing, False),
        (grant(Role.USER), nothing, False),
        (grant_to_group(Role.USER), nothing, False),
        (grant_to_team(Role.USER), nothing, False),
        (grant(Role.EDITOR), nothing, False),
        (permit_all, nothing, False),
        (grant(Role.USER), grant(Role.USER), False),
        (grant(Role.USER), grant(Role.EDITOR), True),
        (grant_to_team(Role.USER), grant_to_group(Role.EDITOR), True),
        (grant(Role.OWNER), grant_to_team(Role.EDITOR), True),
        (grant(Role.USER), own, True),
        (own, permit_all, True),
        (permit_all, permit_all, True),
    ],
)
def test_an_account_is_managed_by_those_who_edit_all_that_it_reaches(of_account, of_manager, may):
    for rows in (Grant, Team, Application, Group, User):
        rows.objects.all().delete()
    account, manager = (User.objects.create_user(name) for name in ("robot", "olga"))
    private = make_application("private")
    make_application("shared", is_shared=True)

    of_account(account, private)
    of_manager(manager, private)

    # Permissions are cached on the row, so it is read again.
    assert may_manage(User.objects.get(pk=manager.pk), account) is may


def test_everybody_manages_their_own_account_and_superusers_all():
    private = make_application("private")
    olga, root = User.objects.create_user("olga"), User.objects.create_superuser("root")
    own(olga, private)

    assert [may_manage(*both) for both in ((olga, olga), (root, olga), (olga, root))] == [
        *(True, True, False)
    ]
