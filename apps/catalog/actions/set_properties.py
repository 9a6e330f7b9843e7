"""Changes properties of an application that are not part of a version. The changes apply
immediately, and do not affect the draft or the live version.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from apps.catalog.actions.go_live import lock_application
from apps.catalog.actions.save_rules import check_row
from apps.catalog.models import Application
from apps.catalog.versions.publishing_requests import TWO_PEOPLE, audit_rule

GRANTING = ("is_public", "is_shared", "owner")
"""The columns that determine who can use an application."""
PROPERTIES = ("slug", "is_enabled", *GRANTING, TWO_PEOPLE)


def check(row: Application) -> None:
    """Raise `ValidationError` if a property of the application is invalid. Values that belong to a
    version are not checked.
    """
    check_row(row, exclude=[f.name for f in row._meta.fields if f.name not in PROPERTIES])


def execute(
    row: Application, values: Mapping[str, Any], user: Any, *, address: str = ""
) -> Application:
    """Save new values of properties, and return the stored application. `values` maps columns in
    `PROPERTIES` to their values.

    `address` is the user's IP address, for the audit log. Raises `ValidationError` with the errors
    in each field.
    """
    with transaction.atomic():
        row = lock_application(row)
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        for name in changed:
            setattr(row, name, values[name])
        check(row)
        if changed:
            row.save(update_fields=[*changed, "updated_at"])
        if TWO_PEOPLE in changed:
            audit_rule(row, user, address)
    return row
