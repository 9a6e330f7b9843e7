"""Defines forms for encrypted columns, whose values users can enter and remove, but never see."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import Model

Row = TypeVar("Row", bound=Model)


class SecretInputsForm(forms.ModelForm[Row]):
    secret_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The form fields of each encrypted column: an input for a new value and, optionally, a
    checkbox that removes the value.
    """
    typed_and_removed = ""
    """The error if a user enters and removes a value at the same time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for column, (typed, *_) in self.secret_fields.items():
            if typed in self.fields:
                self.fields[typed].help_text = self.secret_state(getattr(self.instance, column))

    def secret_state(self, stored: str) -> str:
        """Return the input's help text about the stored value, which the form does not show."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for typed, *clear in self.secret_fields.values():
            if clear and self.cleaned_data.get(clear[0]) and self.cleaned_data.get(typed):
                self.add_error(clear[0], self.typed_and_removed)
        return cleaned

    def _post_clean(self) -> None:
        # Secrets must be set before the model's own checks, which run here.
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
        # The row does not have the values that the form has rejected, so its errors are wrong.
        for name in by_field.keys() & self.errors.keys() - {NON_FIELD_ERRORS}:
            del by_field[name]
        super()._update_errors(errors)  # type: ignore[misc]
