"""The properties of an application that are no part of a version: a change applies at once.

The draft and the live version stay as they are.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from apps.catalog.models import Application
from apps.catalog.versions.publishing_requests import TWO_PEOPLE, audit_rule

GRANTING = ("is_public", "is_shared", "owner")
"""Columns that decide who may use an application."""
PROPERTIES = ("slug", "is_enabled", *GRANTING, TWO_PEOPLE)


def save_properties(
    row: Application, values: Mapping[str, Any], user: Any, *, address: str = ""
) -> Application:
    """Save the given `PROPERTIES`, and return the row as it is stored.

    `address` is for the audit. Raises `ValidationError` by fields.
    """
    with transaction.atomic():
        row = Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        for name in changed:
            setattr(row, name, values[name])
        others = [field.name for field in row._meta.fields if field.name not in PROPERTIES]
        row.full_clean(exclude=others)
        if changed:
            row.save(update_fields=[*changed, "updated_at"])
        if TWO_PEOPLE in changed:
            audit_rule(row, user, address)
    return row
