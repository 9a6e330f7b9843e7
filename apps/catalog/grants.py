"""Reads an application's grants, which give roles to users and groups.

Grants are not part of an application's history, so restoring a state does not change them.
"""

from collections.abc import Iterable
from typing import Literal

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from apps.catalog.models import Application, Role

Kind = Literal["user", "group"]
Holder = tuple[Kind, str]
"""The kind and name of a user or group with a role."""


def grants_of(application: Application) -> dict[Holder, Role]:
    """Return the role of each user and group that has a grant for the application. The highest
    roles come first; within a role, groups come before users.
    """
    found: dict[Holder, Role] = {}
    for grant in application.grants.select_related("user", "group"):
        group = grant.group
        holder: Holder = ("group", group.name) if group else ("user", str(grant.user))
        found[holder] = Role(grant.role)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def find_holders(holders: Iterable[Holder]) -> dict[Holder, int]:
    """Return the IDs of these users and groups. Omit unknown users and groups."""
    wanted = set(holders)
    users = get_user_model()._default_manager.filter(username__in=names_of("user", wanted))
    groups = Group.objects.filter(name__in=names_of("group", wanted))
    return {
        **{("user", name): pk for pk, name in users.values_list("pk", "username")},
        **{("group", name): pk for pk, name in groups.values_list("pk", "name")},
    }


def names_of(kind: Kind, holders: Iterable[Holder]) -> list[str]:
    return [name for one, name in holders if one == kind]
