"""Defines the widgets and base classes of the admin. No other module imports the theme's package,
django-unfold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.widgets import (
    AutocompleteMixin,
    AutocompleteSelect,
    AutocompleteSelectMultiple,
)
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin, StackedInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.views import ChangeList
from unfold.widgets import (
    INPUT_CLASSES,
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanSwitchWidget,
)

from apps.console.run_search import MOST_LISTED
from apps.integers import read_integer

__all__ = ["AdminPasswordChangeForm", "UserChangeForm", "UserCreationForm"]

Row = TypeVar("Row", bound=models.Model)

CheckboxChoices = UnfoldAdminCheckboxSelectMultipleWidget
PasswordInput = UnfoldAdminPasswordWidget
SearchedSelect = UnfoldAdminSelect2Widget
"""A select input with a search box. It searches in the browser, because the page has all options.
"""
Switch = UnfoldBooleanSwitchWidget
TEXT_INPUT = " ".join(INPUT_CLASSES)
SELECT = " ".join([*INPUT_CLASSES, "min-w-0"])
"""The CSS classes of a multiple-select input. Names that are too long for a phone are truncated."""


class LowTextarea(UnfoldAdminTextareaWidget):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"rows": 4, **(attrs or {})})


class RowsBelow(StackedInline):  # type: ignore[misc]  # the theme is not typed
    """Edits dependent rows on the page of their parent row."""


class LenientAutocomplete(AutocompleteMixin):
    """Ignores submitted values that are not IDs. Django's own autocomplete widgets fail on them."""

    def optgroups(
        self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None
    ) -> list[tuple[str | None, list[dict[str, Any]], int | None]]:
        return super().optgroups(name, [one for one in value if is_id(str(one))], attr)


class RowChoice(LenientAutocomplete, AutocompleteSelect):
    pass


class RowChoices(LenientAutocomplete, AutocompleteSelectMultiple):
    pass


def is_id(text: str) -> bool:
    """Return True if the text can be the ID of a row, or is empty (no row)."""
    return not text or read_integer(text) is not None


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # of querysets only
    """Counts and shows at most `MOST_LISTED` rows of a large table."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found: int = rows.order_by()[:MOST_LISTED].count()
        return found


class RowList(ChangeList):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Raise `IncorrectLookupParameters` for dates outside the database's range."""
        try:
            super().__init__(request, *args, **kwargs)
        except OverflowError as error:
            raise IncorrectLookupParameters(error) from error

    @property
    def is_cut(self) -> bool:
        """True if the table may have more rows than the list shows."""
        is_bounded = isinstance(self.paginator, BoundedPaginator)
        return is_bounded and bool(self.paginator.count >= MOST_LISTED)


class Admin(ModelAdmin, Generic[Row]):  # type: ignore[misc]  # the theme is not typed
    first_page = ""
    """The name of the URL of the page that adds a row, or "" for the admin's own form."""
    choices: Mapping[str, Mapping[str, Sequence[str]]] = {}
    """Fields that the form shows only for certain values of another field, by that field and its
    value.
    """
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
        """Return the URL of the admin page with this name, such as "changelist"."""
        return reverse(f"admin:{self.url_name(page)}", args=arguments)

    def url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[RowList]:
        return RowList

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            options.setdefault("widget", RowChoice(db_field, self.admin_site))
        elif db_field.name not in self.get_readonly_fields(request):
            options.setdefault("widget", SearchedSelect())
        return super().formfield_for_foreignkey(db_field, request, **options)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        shown: HttpResponse = super().render_change_form(
            request, {**context, "choices": self.choices}, *args, **options
        )
        return shown

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            options.setdefault("widget", RowChoices(db_field, self.admin_site))
        return super().formfield_for_manytomany(db_field, request, **options)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Require no permission to delete dependent rows that only the server writes."""
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
        """Return a URL pattern for a view. Only staff who may view these rows can open it."""

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
    """The admin of rows that only the server writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
