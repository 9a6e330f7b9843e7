"""Restores an application to a state from its history, without publishing it.

Restored properties apply immediately. Values that belong to a version become a draft. A deleted
application is restored with a draft only.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions import create, save_draft, set_properties
from apps.catalog.actions.go_live import lock_application
from apps.catalog.actions.set_properties import PROPERTIES
from apps.catalog.history.actors import ChangeNote, noting
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.definitions import COLUMNS, definition_of
from apps.catalog.versions.publishing_requests import audit_rule

DRAFT_FIRST = "There is a draft. Publish or discard it first."


def changed_text(row: Application, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `values` that belong to a version and differ from the live version."""
    live = definition_of(row).columns
    return {name: values[name] for name in COLUMNS if name in values and values[name] != live[name]}


def check(row: Application, values: Mapping[str, Any], user: Any) -> None:
    """Raise `ValidationError` if the values are invalid for the application, or if they would
    become a draft and a draft already exists.

    Errors in the manifest are allowed, because the draft is checked when it is published.
    """
    wanted = with_values(row, values)
    if row._state.adding:
        create.check(wanted)
    else:
        set_properties.check(wanted)
    if not (written := changed_text(row, values)):
        return
    if ApplicationDraft.objects.filter(application=row.pk).exists():
        raise ValidationError(DRAFT_FIRST)
    save_draft.check(ApplicationDraft(**{**definition_of(row).columns, **written}), user)


def with_values(row: Application, values: Mapping[str, Any]) -> Application:
    """Return an unsaved copy of the application with the restored properties. For a deleted
    application, the copy has all restored values.
    """
    wanted = copy(row)
    for name, value in values.items():
        if name in PROPERTIES or row._state.adding:
            setattr(wanted, name, value)
    return wanted


def execute(
    row: Application, values: Mapping[str, Any], user: Any, *, change: int, address: str = ""
) -> Application:
    """Restore the application to its state before or after the change with the ID `change`.
    `values` maps columns to their values in that state.

    `row` is unsaved if the application was deleted. `address` is the user's IP address, for the
    audit log. Raises `ValidationError` under the same conditions as `check`.
    """
    with transaction.atomic(), noting(ChangeNote(restored_from=change)):
        if row._state.adding:
            check(row, values, user)
            row = with_values(row, values)
            create.execute(row, user)
            if row.needs_second_publisher:
                audit_rule(row, user, address)
            return row
        row = lock_application(row)
        check(row, values, user)
        written = changed_text(row, values)
        properties = {name: values[name] for name in PROPERTIES if name in values}
        row = set_properties.execute(row, properties, user, address=address)
        if written:
            save_draft.execute(row, written, 0, user, is_current=True, keeps_masks=True)
    return row
