"""The grants of an application by the names of people and groups, and the audit of them.

Grants are no part of an application's history: what brings back an earlier version gives nobody
their role back.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.catalog.models import Application, Grant, Role

Kind = Literal["user", "group"]
Holder = tuple[Kind, str]
"""Who has a role: a person by the username, or a group by its name."""


def grants_of(application: Application) -> dict[Holder, Role]:
    """The highest roles first, then groups before people, by name."""
    found: dict[Holder, Role] = {}
    for grant in application.grants.select_related("user", "group"):
        group = grant.group
        holder: Holder = ("group", group.name) if group else ("user", str(grant.user))
        found[holder] = Role(grant.role)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def find_holders(holders: Iterable[Holder]) -> dict[Holder, int]:
    """The ids of those that exist."""
    wanted = set(holders)
    users = get_user_model()._default_manager.filter(username__in=names_of("user", wanted))
    groups = Group.objects.filter(name__in=names_of("group", wanted))
    return {
        **{("user", name): pk for pk, name in users.values_list("pk", "username")},
        **{("group", name): pk for pk, name in groups.values_list("pk", "name")},
    }


def names_of(kind: Kind, holders: Iterable[Holder]) -> list[str]:
    return [name for one, name in holders if one == kind]


def set_grants(application: Application, wanted: Mapping[Holder, Role]) -> None:
    """Make these the grants of the application. Raises `KeyError` for a holder who is none."""
    before, ids = grants_of(application), find_holders({**wanted})
    gone = [holder for holder, role in before.items() if wanted.get(holder) != role]
    application.grants.filter(user__username__in=names_of("user", gone)).delete()
    application.grants.filter(group__name__in=names_of("group", gone)).delete()
    new = {holder: role for holder, role in wanted.items() if before.get(holder) != role}
    Grant.objects.bulk_create(
        Grant(application=application, role=role, **{f"{holder[0]}_id": ids[holder]})
        for holder, role in new.items()
    )


@transaction.atomic
def change_grants(
    application: Application,
    wanted: Callable[[Mapping[Holder, Role]], Mapping[Holder, Role]],
    actor: str,
    address: str,
) -> None:
    """Replace the grants by what `wanted` makes of them, and audit the change; `actor` is a bucket.

    Other changes wait until these are saved. Raises `KeyError` for a holder who is none.
    """
    Application.objects.select_for_update().get(pk=application.pk)
    before = grants_of(application)
    set_grants(application, wanted(before))
    audit_grants(application, before, actor, address)


def audit_grants(
    application: Application, before: Mapping[Holder, Role], actor: str, address: str
) -> None:
    """Write down which roles were granted and revoked since; `actor` is a bucket."""
    after = grants_of(application)
    for holder in sorted({**before, **after}):
        if before.get(holder) == after.get(holder):
            continue
        event: audit.Event = "access.granted" if holder in after else "access.revoked"
        role = {**before, **after}[holder].name.lower()
        subject = f"{role}: {' '.join(holder)}"
        audit.record(AuditEvent(event, actor, address, application.slug, subject=subject))
