"""What is typed into a form against what others saved meanwhile: conflicts, and merged values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from apps.catalog.history.conflicts import Conflict, conflict, merge, present, since
from apps.catalog.history.kinds import RowKind, Snapshot, has_document, kind_of
from apps.catalog.history.restoration import earlier
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import masked, masked_text
from apps.console.admin.secret_inputs import SecretInputsForm

CHOICE = "choice:"
"""Before the path of a clash, in the name of the input that says whose value stays."""


@dataclass(frozen=True, slots=True)
class Typed:
    """`unread` names columns whose text cannot be compared; `documents` has the others as typed,
    with their credentials.
    """

    snapshot: Snapshot
    unread: tuple[str, ...]
    documents: Mapping[str, Any]


def read_typed(form: forms.ModelForm[Any], kind: RowKind) -> Typed:
    """The typed values, also invalid ones; documents have to be JSON."""
    snapshot = kind.snapshot(form.instance)
    unread, documents = [], {}
    for column in kind.columns:
        is_text = column == kind.json_text and has_document(snapshot)
        if column in form.fields and (column in kind.documents or is_text):
            typed = form[column].value()
            try:
                document = parse(str(typed))
            except JSONTextInvalid:
                unread.append(column)
                continue
            documents[column] = typed if is_text else document
            snapshot[column] = masked_text(typed) if is_text else masked(document)
        elif column in form.errors:
            unread.append(column)
    return Typed(snapshot, tuple(unread), documents)


def conflict_of(form: forms.ModelForm[Any], began: int) -> Conflict | None:
    """With the changes since the version `began`; None if the row was deleted meanwhile."""
    kind = kind_of(type(form.instance))
    stored = present(kind, form.instance.pk)
    if stored is None:
        return None
    typed, later = read_typed(form, kind), since(kind, stored.pk, began)
    return conflict(kind, later, typed.snapshot, kind.snapshot(stored), typed.unread)


def merge_typed(form: SecretInputsForm[Any], began: int) -> None:
    """Put the merged values into the form's data; a column that cannot be read stays as typed."""
    kind = kind_of(type(form.instance))
    stored = present(kind, form.instance.pk)
    if stored is None:
        return
    typed, theirs = read_typed(form, kind), kind.snapshot(stored)
    unread = {column: theirs[column] for column in typed.unread}
    mine = {**typed.snapshot, **unread}
    base = since(kind, stored.pk, began).base
    base = None if base is None else {**base, **unread}
    merged, _ = merge(kind, base, mine, theirs, choices(form))
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
    # The column `kind` decides whether a text is a document.
    state = {"kind": mine["kind"], **brought} if kind.json_text else brought
    values = earlier(kind, state, form.instance, stored).values
    # The checks compare what is typed with what is stored, not with what was typed before.
    for field in form.instance._meta.concrete_fields:
        setattr(form.instance, field.attname, getattr(stored, field.attname))
    taken = posted(form, {column: values[column] for column in brought})
    form.data = as_typed(form) | dict.fromkeys(dropped, "") | taken
    set_omitted(form, values)


def choices(form: forms.BaseForm) -> dict[str, str]:
    prefix = form.add_prefix(CHOICE)
    named = [name for name in form.data if name.startswith(prefix)]
    return {name.removeprefix(prefix): str(form.data.get(name)) for name in named}


def as_typed(form: forms.BaseForm) -> dict[str, Any]:
    """The data by the names of the fields: widgets may send theirs under other names."""
    return {
        form.add_prefix(name): field.widget.value_from_datadict(
            form.data, form.files, form.add_prefix(name)
        )
        for name, field in form.fields.items()
    }


def posted(form: forms.BaseForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as a browser would send them."""
    return {
        name: form.fields[name].prepare_value(value)
        for name, value in values.items()
        if name in form.fields
    }


def set_omitted(form: forms.ModelForm[Any], values: Mapping[str, Any]) -> None:
    """Set values that the form would ignore because a browser sends nothing for them."""
    for name, value in values.items():
        field = form.fields.get(name)
        if field and field.widget.value_omitted_from_data(form.data, {}, form.add_prefix(name)):
            setattr(form.instance, name, value)
