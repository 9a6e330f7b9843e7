"""The look of the admin. Nothing else in the project imports the theme's package."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from django.db import models
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import (
    INPUT_CLASSES,
    UnfoldAdminPasswordWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanSwitchWidget,
)

__all__ = ["AdminPasswordChangeForm", "UserChangeForm", "UserCreationForm"]

Row = TypeVar("Row", bound=models.Model)

PasswordInput = UnfoldAdminPasswordWidget
Switch = UnfoldBooleanSwitchWidget
TEXT_INPUT = " ".join(INPUT_CLASSES)


class LowTextarea(UnfoldAdminTextareaWidget):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"rows": 4, **(attrs or {})})


class Admin(ModelAdmin, Generic[Row]):  # type: ignore[misc]  # the theme is not typed
    list_filter_sheet = False
    compressed_fields = False
    list_per_page = 50
    warn_unsaved_form = True
    formfield_overrides = {
        models.TextField: {"widget": LowTextarea},
        models.JSONField: {"widget": LowTextarea},
        models.URLField: {"widget": UnfoldAdminURLInputWidget, "assume_scheme": "https"},
    }
