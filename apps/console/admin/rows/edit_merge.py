"""Merges a submitted form with changes that other users have saved since the form was opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from apps.catalog.credentials.masking import mask_credentials, masked_text
from apps.catalog.history.conflicts import (
    MergeConflict,
    conflict,
    later_changes,
    merge_snapshots,
    present,
)
from apps.catalog.history.recorded_models import RowKind, Snapshot, has_document, row_kind
from apps.catalog.history.restoration import earlier_state
from apps.console.admin.rows.secret_inputs import SecretInputsForm
from apps.manifest.json_text import JSONTextInvalid, parse_json

CHOICE = "choice:"
"""The name of an input that resolves a clash consists of this prefix and the path of the clash."""


@dataclass(frozen=True, slots=True)
class TypedForm:
    """The values in a submitted form."""

    snapshot: Snapshot
    unread: tuple[str, ...]
    """The columns whose text cannot be parsed. The snapshot has their stored values instead."""
    documents: Mapping[str, Any]
    """The parsed JSON documents by column, with unmasked credentials."""


def read_typed(form: forms.ModelForm[Any], kind: RowKind, stored: Snapshot) -> TypedForm:
    """Return the values in a submitted form, even if the form is invalid."""
    snapshot = kind.snapshot(form.instance)
    unread, documents = [], {}
    for column in kind.columns:
        is_text = column == kind.json_text and has_document(snapshot)
        if column in form.fields and (column in kind.documents or is_text):
            typed = form[column].value()
            try:
                document = parse_json(str(typed))
            except JSONTextInvalid:
                unread.append(column)
                continue
            documents[column] = typed if is_text else document
            snapshot[column] = masked_text(typed) if is_text else mask_credentials(document)
        elif column in form.errors:
            unread.append(column)
    as_stored = {column: stored[column] for column in unread}
    return TypedForm({**snapshot, **as_stored}, tuple(unread), documents)


def conflict_of(form: forms.ModelForm[Any], began: int) -> MergeConflict | None:
    """Return the conflict between the form and the changes since the version `began`, or None if
    the row was deleted.
    """
    kind = row_kind(type(form.instance))
    stored = present(kind, form.instance.pk)
    if stored is None:
        return None
    theirs, later = kind.snapshot(stored), later_changes(kind, stored.pk, began)
    typed = read_typed(form, kind, theirs)
    return conflict(kind, later, typed.snapshot, theirs, typed.unread)


def merge_typed(form: SecretInputsForm[Any], began: int) -> None:
    """Merge the submitted values with the changes since the version `began`, and set the result as
    the form's data. Columns whose text cannot be parsed do not change.
    """
    kind = row_kind(type(form.instance))
    stored = present(kind, form.instance.pk)
    if stored is None:
        return
    theirs = kind.snapshot(stored)
    typed = read_typed(form, kind, theirs)
    mine, base = typed.snapshot, later_changes(kind, stored.pk, began).base
    choices = choices_in(form.data, form.add_prefix(CHOICE))
    merged = merge_snapshots(kind, base, mine, theirs, choices).value
    dropped = [
        form.add_prefix(name)
        for column in kind.secrets
        if merged.get(column) != mine[column]
        for name in form.secret_fields.get(column, ())
    ]
    read = kind.readable(mine)
    brought = {
        column: merged.get(column)
        for column in kind.columns
        if column in form.fields and merged.get(column) != read[column]
    }
    for column, document in typed.documents.items():
        setattr(form.instance, column, document)
    # The column `kind` determines whether a text is a document.
    state = {"kind": mine["kind"], **brought} if kind.json_text else brought
    values = earlier_state(kind, state, form.instance, stored).values
    # The checks must compare the typed values with the stored values, not with values that were
    # typed earlier.
    for field in form.instance._meta.concrete_fields:
        setattr(form.instance, field.attname, getattr(stored, field.attname))
    taken = posted_values(form, {column: values[column] for column in brought})
    form.data = as_typed(form) | dict.fromkeys(dropped, "") | taken
    set_omitted(form, values)


def choices_in(data: Mapping[str, Any], prefix: str = CHOICE) -> dict[str, str]:
    """Return the side that the user chose for each clash, by the path of the clash."""
    named = {name: value for name, value in data.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): str(value) for name, value in named.items()}


def as_typed(form: forms.BaseForm) -> dict[str, Any]:
    """Return the form's data by field name. Some widgets post their values under other names."""
    return {
        form.add_prefix(name): field.widget.value_from_datadict(
            form.data, form.files, form.add_prefix(name)
        )
        for name, field in form.fields.items()
    }


def posted_values(form: forms.BaseForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert values to the texts that a browser would post."""
    return {
        name: form.fields[name].prepare_value(value)
        for name, value in values.items()
        if name in form.fields
    }


def set_omitted(form: forms.ModelForm[Any], values: Mapping[str, Any]) -> None:
    """Set values on the instance if their inputs are missing from the form's data, because Django
    ignores such fields.
    """
    for name, value in values.items():
        field = form.fields.get(name)
        if field and field.widget.value_omitted_from_data(form.data, {}, form.add_prefix(name)):
            setattr(form.instance, name, value)
