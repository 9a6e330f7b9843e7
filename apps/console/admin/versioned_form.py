"""A form of a row that others may edit at the same time: no unseen change is overwritten.

The person who saves second is told what the first has changed, and can merge both edits, choose
a side where they clash, or overwrite.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, TypeVar

from django import forms

from apps.catalog.history.conflicts import Conflict, last_deletion, sentence, since
from apps.catalog.history.kinds import kind_of
from apps.console.admin.edit_merge import conflict_of, merge_typed
from apps.console.admin.secret_inputs import SecretInputsForm
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)

MERGE = "_merge"


class VersionedForm(SecretInputsForm[Row]):
    """`seen_version` is the newest version that the person was told of, `base_version` the one
    that the form began with.
    """

    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    starting: ClassVar[Mapping[str, Any]] = {}
    """Initial values that replace those of the row."""
    gone: ClassVar[int | None] = None
    """The number of the deleted row that was edited."""
    conflict: Conflict | None = None
    is_overtaken = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self.starting:
            kwargs["initial"] = {**(kwargs.get("initial") or {}), **self.starting}
        super().__init__(*args, **kwargs)
        self.fields["seen_version"].initial = self.instance.version

    def full_clean(self) -> None:
        super().full_clean()
        if not self.is_bound or self.instance._state.adding:
            return
        began = self.cleaned_data.get("base_version")
        if self.is_overtaken:
            seen = self.cleaned_data.get("seen_version")
            self.conflict = conflict_of(self, (seen if began is None else began) or 0)
        elif self.add_prefix(MERGE) in self.data and began is not None:
            merge_typed(self, began)
            super().full_clean()

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        seen = self.cleaned_data.get("seen_version")
        if seen is None:
            return cleaned
        # The row stays locked until it is saved, or the request ends.
        rows = self._meta.model._default_manager.select_for_update().filter(pk=self.instance.pk)
        version = rows.values_list("version", flat=True).first()
        if version is None:
            self.refuse_deleted(seen)
        elif version != seen:
            self.refuse_overtaken(seen, version)
        return cleaned

    def refuse_overtaken(self, seen: int, version: int) -> None:
        """Raises `ValidationError`; saving again overwrites `version`."""
        self.is_overtaken = True
        began = self.cleaned_data.get("base_version")
        self.change_data(seen_version=version, base_version=seen if began is None else began)
        found = since(kind_of(type(self.instance)), self.instance.pk, seen)
        raise forms.ValidationError(
            f"Somebody saved this {self.instance._meta.verbose_name} while you were editing it. "
            f"Nothing was saved now, and what you typed stands here; saving again overwrites with "
            f"it what was saved meanwhile. {found.sentences}".rstrip()
        )

    def refuse_deleted(self, seen: int) -> None:
        """Raises `ValidationError` for a deleted row, once; saving again adds it."""
        if not seen:
            return
        self.change_data(seen_version="", base_version="")
        number = self.instance.pk or self.gone
        deletion = None if number is None else last_deletion(kind_of(type(self.instance)), number)
        said = f" {sentence(deletion)}" if deletion is not None else ""
        raise forms.ValidationError(
            f"Somebody deleted this {self.instance._meta.verbose_name} while you were editing it. "
            f"What you typed stands here; saving makes it anew.{said}"
        )

    def change_data(self, **values: Any) -> None:
        data: Any = copy(self.data)  # a dictionary would lose values that are sent more than once
        for name, value in values.items():
            data[self.add_prefix(name)] = value
        self.data = data
