"""Explains why a user has a role in an application."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Prefetch, Q, QuerySet

from apps.catalog.models import Application, Grant, Role

ACCESS_ALL = "access_all_applications"


@dataclass(frozen=True, slots=True)
class AccessSource:
    """One reason why a user has a role in an application. `why` completes "has the role …", for
    example "by a grant to the group guides".
    """

    role: Role
    why: str


@dataclass(frozen=True, slots=True)
class SourcedRole:
    application: Application
    sources: Sequence[AccessSource]

    @property
    def role(self) -> str:
        """Return the label of the user's highest role in the application, including roles granted
        to any of the user's teams.
        """
        return str(max(source.role for source in self.sources).label)


def sourced_roles(user: Any, rows: QuerySet[Application]) -> list[SourcedRole]:
    """Return the user's role in each application and the reasons for it, sorted by title. Runs four
    queries.

    A closed account has no roles. Grants to all of the user's teams count.
    """
    if not user.is_active:
        return []
    grants = Grant.objects.filter(Q(user=user) | Q(group__user=user)).order_by("-role", "pk")
    given = Prefetch("grants", grants.select_related("group__team"), to_attr="given")
    everything = list(reasons_for_all(user))
    found = rows.defer("manifest").prefetch_related(given)
    roles = (SourcedRole(row, [*everything, *sources_of(user, row)]) for row in found)
    return [one for one in roles if one.sources]


def reasons_for_all(user: Any) -> Iterator[AccessSource]:
    if user.is_superuser:
        yield AccessSource(Role.OWNER, "as a superuser")
    held = Permission.objects.filter(codename=ACCESS_ALL, content_type__app_label="catalog")
    if held.filter(user=user).exists():
        yield AccessSource(Role.OWNER, "by a permission to access all applications")
    for name in user.groups.filter(permissions__in=held).values_list("name", flat=True):
        yield AccessSource(
            Role.OWNER, f"by a permission of the group {name} to access all applications"
        )


def sources_of(user: Any, row: Any) -> Iterator[AccessSource]:
    if row.owner_id == user.pk:
        yield AccessSource(Role.OWNER, "as its owner")
    for grant in row.given:
        yield AccessSource(Role(grant.role), f"by a grant {holder(grant)}")
    if row.is_shared:
        yield AccessSource(Role.USER, "shared with all signed-in users")
    if row.is_public:
        yield AccessSource(Role.USER, "public")


def holder(grant: Grant) -> str:
    if grant.group is None:
        return "to the user"
    if hasattr(grant.group, "team"):
        return f"to the team {grant.group.name}, while working in it"
    return f"to the group {grant.group.name}"
