"""The look of the admin, and pages of our own in it. Nothing else imports the theme's package."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.widgets import (
    AutocompleteMixin,
    AutocompleteSelect,
    AutocompleteSelectMultiple,
)
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from unfold.admin import ModelAdmin, StackedInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.views import ChangeList
from unfold.widgets import (
    INPUT_CLASSES,
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanSwitchWidget,
)

from apps.integers import read_integer

__all__ = ["AdminPasswordChangeForm", "UserChangeForm", "UserCreationForm"]

Row = TypeVar("Row", bound=models.Model)

CheckboxChoices = UnfoldAdminCheckboxSelectMultipleWidget
PasswordInput = UnfoldAdminPasswordWidget
TextInput = UnfoldAdminTextInputWidget
Switch = UnfoldBooleanSwitchWidget
TEXT_INPUT = " ".join(INPUT_CLASSES)
SELECT = " ".join([*INPUT_CLASSES, "min-w-0"])
"""Of several values; names that are too long for a phone are cut."""


class LowTextarea(UnfoldAdminTextareaWidget):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"rows": 4, **(attrs or {})})


class RowsBelow(StackedInline):  # type: ignore[misc]  # the theme is not typed
    """Rows on the page of the one that they belong to."""


class KnownRows(AutocompleteMixin):
    """Django's own widgets of rows fail to show a refused form with an impossible id."""

    def optgroups(
        self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None
    ) -> list[tuple[str | None, list[dict[str, Any]], int | None]]:
        return super().optgroups(name, [one for one in value if is_id(str(one))], attr)


class RowChoice(KnownRows, AutocompleteSelect):
    pass


class RowChoices(KnownRows, AutocompleteSelectMultiple):
    pass


def is_id(text: str) -> bool:
    """Return whether a row can have this id; "" stands for no row."""
    return not text or read_integer(text) is not None


class RowList(ChangeList):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Raises IncorrectLookupParameters, also where a date is beyond those of the database."""
        try:
            super().__init__(request, *args, **kwargs)
        except OverflowError as error:
            raise IncorrectLookupParameters(error) from error


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

    def url(self, page: str, *arguments: Any) -> str:
        """The address of a page of these rows, such as "changelist"."""
        return reverse(f"admin:{self.url_name(page)}", args=arguments)

    def url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[RowList]:
        return RowList

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            options.setdefault("widget", RowChoice(db_field, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **options)

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            options.setdefault("widget", RowChoices(db_field, self.admin_site))
        return super().formfield_for_manytomany(db_field, request, **options)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Rows that only the site itself writes, which nobody may delete, go with their row."""
        to_delete, counts, lacking, protected = super().get_deleted_objects(objs, request)
        registered = filter(self.admin_site.is_registered, apps.get_models())
        unasked = {
            str(model._meta.verbose_name)
            for model in registered
            if isinstance(self.admin_site.get_model_admin(model), ReadOnlyAdmin)
        }
        return to_delete, counts, {name for name in lacking if str(name) not in unasked}, protected

    def staff_path(self, route: str, view: Any, page: str) -> Any:
        return path(route, self.admin_site.admin_view(view), name=self.url_name(page))

    def viewer_path(self, route: str, view: Any, page: str) -> Any:
        """Refuses staff who may not view these rows."""

        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            answer: HttpResponse = view(request, *args, **kwargs)
            return answer

        return self.staff_path(route, checked, page)

    def page(
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        common = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "list_url": self.url("changelist"),
        }
        return TemplateResponse(request, template, common | context)


class ReadOnlyAdmin(Admin[Row]):
    """Of rows that are shown, and that only the site itself writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
