"""A form of a row that others may edit at the same time: no unseen change is overwritten.

The person who saves second is told what the first has changed, and can merge both edits, choose
a side where they clash, or overwrite.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from django import forms

from apps.catalog.history.conflicts import (
    Conflict,
    conflict,
    last_deletion,
    merge,
    present,
    sentence,
    since,
)
from apps.catalog.history.kinds import Kind, Snapshot, has_document, kind_of
from apps.catalog.history.restoration import earlier
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import masked, masked_text
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)

MERGE = "_merge"
CHOICE = "choice:"
"""Before the path of a clash, in the name of the input that says whose value stays."""


class VersionedForm(forms.ModelForm[Row]):
    """`seen_version` is the newest version that the person was told of, `base_version` the one
    that the form began with.
    """

    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    secret_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """By encrypted column: the field for a new value and, where there is one, that to remove it."""
    starting: ClassVar[Mapping[str, Any]] = {}
    """Initial values that replace those of the row."""
    gone: ClassVar[int | None] = None
    """The number of the deleted row that was edited."""
    conflict: Conflict | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self.starting:
            kwargs["initial"] = {**(kwargs.get("initial") or {}), **self.starting}
        super().__init__(*args, **kwargs)
        self.fields["seen_version"].initial = self.instance.version
        self.newer: int | None = None

    def full_clean(self) -> None:
        super().full_clean()
        if not self.is_bound or self.instance._state.adding:
            return
        if self.newer is not None:
            self.conflict = self.found_conflict()
        elif (
            self.add_prefix(MERGE) in self.data
            and self.cleaned_data.get("base_version") is not None
        ):
            self.merge()
            super().full_clean()

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        seen = self.cleaned_data.get("seen_version")
        if seen is None:
            return cleaned
        version: int | None = None
        if not self.instance._state.adding:
            # The row stays locked until it is saved, or the request ends.
            rows = self._meta.model._default_manager.select_for_update().filter(pk=self.instance.pk)
            version = rows.values_list("version", flat=True).first()
        if version is None:
            self.refuse_deleted(seen)
        elif version != seen:
            self.newer = version
            began = self.cleaned_data.get("base_version")
            self.change_data(seen_version=version, base_version=seen if began is None else began)
            name = self.instance._meta.verbose_name
            found = since(kind_of(type(self.instance)), self.instance.pk, seen)
            raise forms.ValidationError(
                f"Somebody saved this {name} while you were editing it. Nothing was saved now, and "
                f"what you typed stands here; saving again overwrites with it what was saved "
                f"meanwhile. {found.sentences}".rstrip()
            )
        return cleaned

    def _post_clean(self) -> None:
        # Typed secrets have to be set before the model's own checks, which run here.
        for column, (typed, *clear) in self.secret_fields.items():
            if clear and self.cleaned_data.get(clear[0]):
                setattr(self.instance, column, "")
            elif value := self.cleaned_data.get(typed):
                setattr(self.instance, column, value)
        super()._post_clean()  # type: ignore[misc]

    def _update_errors(self, errors: Any) -> None:
        by_field = getattr(errors, "error_dict", {})
        for column, (typed, *_) in self.secret_fields.items():
            if column in by_field:
                by_field[typed] = by_field.pop(column)
        super()._update_errors(errors)  # type: ignore[misc]

    def refuse_deleted(self, seen: int) -> None:
        """Raises `ValidationError` for a deleted row, once; saving again adds it."""
        if not seen:
            return
        self.change_data(seen_version="", base_version="")
        name, kind = self.instance._meta.verbose_name, kind_of(type(self.instance))
        number = self.instance.pk or self.gone
        deletion = None if number is None else last_deletion(kind, number)
        said = f" {sentence(deletion)}" if deletion is not None else ""
        raise forms.ValidationError(
            f"Somebody deleted this {name} while you were editing it. What you typed stands here; "
            f"saving makes it anew.{said}"
        )

    def change_data(self, **values: Any) -> None:
        data: Any = copy(self.data)  # a dictionary would lose values that are sent more than once
        for name, value in values.items():
            data[self.add_prefix(name)] = value
        self.data = data

    def found_conflict(self) -> Conflict | None:
        """None if the row was deleted meanwhile."""
        kind = kind_of(type(self.instance))
        stored = present(kind, self.instance.pk)
        began = self.cleaned_data.get("base_version")
        if stored is None:
            return None
        seen = self.cleaned_data.get("seen_version") if began is None else began
        meanwhile = since(kind, self.instance.pk, seen or 0)
        typed = self.typed(kind)
        return conflict(kind, meanwhile, typed.snapshot, kind.snapshot(stored), typed.unread)

    def merge(self) -> None:
        """Put the merged values into `data`; a column that cannot be read stays as it is typed."""
        kind = kind_of(type(self.instance))
        stored = present(kind, self.instance.pk)
        began = self.cleaned_data.get("base_version")
        if stored is None or began is None:
            return
        typed, theirs = self.typed(kind), kind.snapshot(stored)
        meanwhile = since(kind, self.instance.pk, began)
        base = None if meanwhile.base is None else {**meanwhile.base, **typed.left_out(theirs)}
        mine = {**typed.snapshot, **typed.left_out(theirs)}
        merged, _ = merge(kind, base, mine, theirs, self.choices())
        dropped: dict[str, Any] = {}
        for column in kind.secrets:
            if merged.get(column) != mine[column]:
                dropped |= dict.fromkeys(self.secret_fields.get(column, ()), "")
        read = kind.readable(mine)
        brought = {
            column: merged.get(column)
            for column in kind.columns
            if column in self.fields and merged.get(column) != read[column]
        }
        for column, document in typed.documents.items():
            setattr(self.instance, column, document)
        values = earlier(kind, {**context(kind, mine), **brought}, self.instance, stored).values
        # The checks compare what is typed with what is stored, not with what was typed before.
        for field in self.instance._meta.concrete_fields:
            setattr(self.instance, field.attname, getattr(stored, field.attname))
        self.data = self.as_typed() | dropped | posted(self, {c: values[c] for c in brought})
        set_omitted(self, values)

    def as_typed(self) -> dict[str, Any]:
        """The data by the names of the fields: widgets may send theirs under other names."""
        return {
            self.add_prefix(name): field.widget.value_from_datadict(
                self.data, self.files, self.add_prefix(name)
            )
            for name, field in self.fields.items()
        }

    def typed(self, kind: Kind) -> Typed:
        """A snapshot of the typed values, also of invalid ones; documents have to be JSON."""
        snapshot = kind.snapshot(self.instance)
        unread, documents = [], {}
        for column in kind.columns:
            is_text = column == kind.json_text and has_document(snapshot)
            if column in self.fields and (column in kind.documents or is_text):
                try:
                    document = parse(str(self[column].value()))
                except JSONTextInvalid:
                    unread.append(column)
                    continue
                documents[column] = self[column].value() if is_text else document
                snapshot[column] = masked_text(documents[column]) if is_text else masked(document)
            elif column in self.errors:
                unread.append(column)
        return Typed(snapshot, tuple(unread), documents)

    def choices(self) -> dict[str, str]:
        prefix = self.add_prefix(CHOICE)
        return {
            name.removeprefix(prefix): str(self.data.get(name))
            for name in self.data
            if name.startswith(prefix)
        }


@dataclass(frozen=True, slots=True)
class Typed:
    """`unread` names columns whose text cannot be compared; `documents` has the others as typed,
    with their credentials.
    """

    snapshot: Snapshot
    unread: tuple[str, ...]
    documents: Mapping[str, Any]

    def left_out(self, other: Snapshot) -> Snapshot:
        return {column: other[column] for column in self.unread}


def context(kind: Kind, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The column that decides whether a text is a document."""
    return {"kind": snapshot["kind"]} if kind.json_text else {}


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
