"""Why somebody may use an application: every source of their role in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Prefetch, Q, QuerySet

from apps.catalog.models import Application, Grant, Role

ACCESS_ALL = "access_all_applications"


@dataclass(frozen=True, slots=True)
class Source:
    """`why` completes "has the role …": "as its owner", "by a grant to the group guides"."""

    role: Role
    why: str


@dataclass(frozen=True, slots=True)
class SourcedRole:
    application: Application
    sources: Sequence[Source]

    @property
    def role(self) -> str:
        """The highest role that the person may have, in one of their teams or outside."""
        return str(max(source.role for source in self.sources).label)


def sourced_roles(user: Any, rows: QuerySet[Application]) -> list[SourcedRole]:
    """What a user may use among some applications, by title, and why; in four queries.

    Nothing for a closed account. Roles of all teams of the user are told, also of those that they
    do not work in now.
    """
    if not user.is_active:
        return []
    grants = Grant.objects.filter(Q(user=user) | Q(group__user=user)).order_by("-role", "pk")
    given = Prefetch("grants", grants.select_related("group__team"), to_attr="given")
    everything = list(reasons_for_all(user))
    found = rows.defer("manifest").prefetch_related(given)
    roles = (SourcedRole(row, [*everything, *sources_of(user, row)]) for row in found)
    return [one for one in roles if one.sources]


def reasons_for_all(user: Any) -> Iterator[Source]:
    if user.is_superuser:
        yield Source(Role.OWNER, "as a superuser")
    held = Permission.objects.filter(codename=ACCESS_ALL, content_type__app_label="catalog")
    if held.filter(user=user).exists():
        yield Source(Role.OWNER, "by a permission to access all applications")
    for name in user.groups.filter(permissions__in=held).values_list("name", flat=True):
        yield Source(Role.OWNER, f"by a permission of the group {name} to access all applications")


def sources_of(user: Any, row: Any) -> Iterator[Source]:
    if row.owner_id == user.pk:
        yield Source(Role.OWNER, "as its owner")
    for grant in row.given:
        yield Source(Role(grant.role), f"by a grant {holder(grant)}")
    if row.is_shared:
        yield Source(Role.USER, "shared with everybody who has signed in")
    if row.is_public:
        yield Source(Role.USER, "public")


def holder(grant: Grant) -> str:
    if grant.group is None:
        return "to the person"
    if hasattr(grant.group, "team"):
        return f"to the team {grant.group.name}, while working in it"
    return f"to the group {grant.group.name}"
