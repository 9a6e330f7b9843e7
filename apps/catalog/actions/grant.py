"""Replaces the roles that users and groups have in an application."""

from collections.abc import Callable, Mapping

from django.db import transaction

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.catalog.actions.go_live import lock_application
from apps.catalog.grants import Holder, find_holders, grants_of, names_of
from apps.catalog.models import Application, Grant, Role


@transaction.atomic
def execute(
    application: Application,
    revise: Callable[[Mapping[Holder, Role]], Mapping[Holder, Role]],
    actor: str,
    address: str,
) -> None:
    """Replace an application's grants with those that `revise` returns, and record each change in
    the audit log.

    `revise` gets the current grants. `actor` is the bucket of the user who makes the change, such
    as `user-7`. Concurrent changes wait until the new grants are saved. Raises `KeyError` if a user
    or group does not exist.
    """
    lock_application(application)
    before = grants_of(application)
    set_grants(application, before, revise(before))
    record(application, before, actor, address)


def set_grants(
    application: Application, before: Mapping[Holder, Role], after: Mapping[Holder, Role]
) -> None:
    gone = [holder for holder, role in before.items() if after.get(holder) != role]
    new = {holder: role for holder, role in after.items() if before.get(holder) != role}
    ids = find_holders(new)
    application.grants.filter(user__username__in=names_of("user", gone)).delete()
    application.grants.filter(group__name__in=names_of("group", gone)).delete()
    Grant.objects.bulk_create(
        Grant(application=application, role=role, **{f"{holder[0]}_id": ids[holder]})
        for holder, role in new.items()
    )


def record(
    application: Application, before: Mapping[Holder, Role], actor: str, address: str
) -> None:
    """Record in the audit log which roles were granted or revoked since `before`. `actor` is the
    bucket of the user who made the change, such as `user-7`.
    """
    after = grants_of(application)
    for holder in sorted({**before, **after}):
        if before.get(holder) == after.get(holder):
            continue
        event: audit.Event = "access.granted" if holder in after else "access.revoked"
        role = {**before, **after}[holder].name.lower()
        subject = f"{role}: {' '.join(holder)}"
        audit.record(AuditEvent(event, actor, address, application.slug, subject=subject))
