"""Converts an earlier state of a row to values for the row's form, which validates and saves them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import models

from apps.catalog.credentials.masking import restore_credentials, unmasked_text
from apps.catalog.history.recorded_models import RowKind, Snapshot, has_document
from apps.manifest.secrets import is_hidden


@dataclass(frozen=True, slots=True)
class EarlierState:
    """The values of an earlier state by column, without encrypted columns."""

    values: Mapping[str, Any]
    notes: tuple[str, ...]
    """The reasons why some values cannot be restored."""


def earlier_state(kind: RowKind, state: Snapshot, *sources: models.Model | None) -> EarlierState:
    """Return the values of an earlier state of a row. A masked credential is restored if one of the
    `sources` contains it and sends it to the same server.

    Other credentials remain masked, and the form reports them with their paths.
    """
    rows = [row for row in sources if row is not None]
    values: dict[str, Any] = {}
    notes: list[str] = []
    for column, value in state.items():
        if column not in kind.columns:
            continue  # The column was removed in the meantime.
        if column in kind.secrets:
            notes += secret_notes(kind, column, value, rows)
        elif column in kind.people:
            values[column] = account(value)
            if value is not None and values[column] is None:
                notes.append(f"{column}: the account {value!r} no longer exists.")
        elif column in kind.documents:
            values[column] = restore_credentials(
                value, [getattr(row, column) for row in rows]
            ).document
        elif column == kind.json_text and has_document(state):
            # A merge has already parsed the text.
            is_text = isinstance(value, str)
            text = value if is_text else json.dumps(value, indent=2, ensure_ascii=False)
            values[column], _ = unmasked_text(text, [getattr(row, column) for row in rows])
        else:
            values[column] = value
    return EarlierState(values, tuple(notes))


def secret_notes(kind: RowKind, column: str, value: Any, rows: list[models.Model]) -> list[str]:
    name = str(getattr(kind.model._meta.get_field(column), "verbose_name", column))
    present = next((kind.value(row, column) for row in rows), "")
    if present == value:
        return []
    if present:
        return [f"The {name} is not stored in the history. The current one is unchanged."]
    return [f"The {name} is not stored in the history. Enter it again."] if is_hidden(value) else []


def account(name: Any) -> Any:
    """Return the ID of the user with this username, or None."""
    users = get_user_model()._default_manager.filter(**{get_user_model().USERNAME_FIELD: name})
    return users.values_list("pk", flat=True).first()
