"""Defines the base class for forms that detect concurrent edits to a row."""

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, TypeVar

from django import forms

from apps.catalog.history.conflicts import MergeConflict, last_deletion, later_changes, sentence
from apps.catalog.history.recorded_models import row_kind
from apps.console.admin.rows.edit_merge import conflict_of, merge_typed
from apps.console.admin.rows.secret_inputs import SecretInputsForm
from apps.workspace.versions import VersionedRow

Row = TypeVar("Row", bound=VersionedRow)

MERGE = "_merge"


class VersionedForm(SecretInputsForm[Row]):
    """A form that detects concurrent edits. The user who saves second sees the other user's
    changes, and can merge both edits or overwrite the other user's.
    """

    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    """The newest version of the row that the user has seen."""
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    """The version that the user started to edit. Empty before the first conflict."""

    starting: ClassVar[Mapping[str, Any]] = {}
    """Initial values of the form. They override the values of the row."""
    gone: ClassVar[int | None] = None
    """The ID of the row if another user deleted it during the edit, else None."""
    conflict: MergeConflict | None = None
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
        # The row stays locked until it is saved or the request ends.
        rows = self._meta.model._default_manager.select_for_update().filter(pk=self.instance.pk)
        version = rows.values_list("version", flat=True).first()
        if version is None:
            self.refuse_deleted(seen)
        elif version != seen:
            self.refuse_overtaken(seen, version)
        return cleaned

    def refuse_overtaken(self, seen: int, version: int) -> None:
        """Raise `ValidationError` with the other user's changes. If the user submits the form
        again, it overwrites `version`, the row's current version.
        """
        self.is_overtaken = True
        began = self.cleaned_data.get("base_version")
        self.change_data(seen_version=version, base_version=seen if began is None else began)
        found = later_changes(row_kind(type(self.instance)), self.instance.pk, seen)
        raise forms.ValidationError(
            (
                f"Another user saved this {self.instance._meta.verbose_name} while you were "
                "editing it. Your changes are not saved yet; if you save again, they overwrite "
                f"the other changes. {found.sentences}"
            ).rstrip()
        )

    def refuse_deleted(self, seen: int) -> None:
        """Raise `ValidationError` because another user deleted the row. If the user submits the
        form again, it recreates the row.
        """
        if not seen:
            return
        self.change_data(seen_version="", base_version="")
        number = self.instance.pk or self.gone
        deletion = None if number is None else last_deletion(row_kind(type(self.instance)), number)
        said = f" {sentence(deletion)}" if deletion is not None else ""
        raise forms.ValidationError(
            f"Another user deleted this {self.instance._meta.verbose_name} while you were "
            f"editing it. If you save, it will be created again.{said}"
        )

    def change_data(self, **values: Any) -> None:
        data: Any = copy(self.data)  # A dictionary would lose values that are sent more than once.
        for name, value in values.items():
            data[self.add_prefix(name)] = value
        self.data = data
