"""An earlier state of a row, as values for the row's form, which checks and saves them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import models

from apps.catalog.history.kinds import RowKind, Snapshot, has_document
from apps.catalog.masking import put_back, unmasked_text
from apps.manifest.secrets import is_hidden


@dataclass(frozen=True, slots=True)
class Earlier:
    """`values` by columns, without encrypted ones; a note for each value that cannot come back."""

    values: Mapping[str, Any]
    notes: tuple[str, ...]


def earlier(kind: RowKind, state: Snapshot, *sources: models.Model | None) -> Earlier:
    """A state with the credentials that a source has for the same servers.

    A credential that no source has stays hidden in the value; the form refuses it with its path.
    """
    rows = [row for row in sources if row is not None]
    values: dict[str, Any] = {}
    notes: list[str] = []
    for column, value in state.items():
        if column not in kind.columns:
            continue  # the column was removed since
        if column in kind.secrets:
            notes += secret_notes(kind, column, value, rows)
        elif column in kind.people:
            values[column] = account(value)
            if value is not None and values[column] is None:
                notes.append(f"{column}: there is no account {value!r} any more.")
        elif column in kind.documents:
            values[column] = put_back(value, [getattr(row, column) for row in rows]).document
        elif column == kind.json_text and has_document(state):
            # A merge has parsed it already.
            is_text = isinstance(value, str)
            text = value if is_text else json.dumps(value, indent=2, ensure_ascii=False)
            values[column], _ = unmasked_text(text, [getattr(row, column) for row in rows])
        else:
            values[column] = value
    return Earlier(values, tuple(notes))


def secret_notes(kind: RowKind, column: str, value: Any, rows: list[models.Model]) -> list[str]:
    name = str(getattr(kind.model._meta.get_field(column), "verbose_name", column))
    present = next((kind.value(row, column) for row in rows), "")
    if present == value:
        return []
    if present:
        return [f"The {name} is not kept in the history: the present one stays."]
    return [f"The {name} is not kept in the history: type it again."] if is_hidden(value) else []


def account(name: Any) -> Any:
    """The id of the account of that name, or None."""
    users = get_user_model()._default_manager.filter(**{get_user_model().USERNAME_FIELD: name})
    return users.values_list("pk", flat=True).first()
