"""Defines the widgets and base classes for the admin. No other module imports the theme's package,
django-unfold.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.widgets import (
    AutocompleteMixin,
    AutocompleteSelect,
    AutocompleteSelectMultiple,
)
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import cached_property
from django.utils.text import capfirst
from unfold.admin import ModelAdmin, StackedInline
from unfold.forms import AdminForm, AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.views import ChangeList
from unfold.widgets import (
    INPUT_CLASSES,
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanSwitchWidget,
)

from apps.console.admin.cells import NOTHING
from apps.console.admin.rows.row_choices import (
    UserChoiceField,
    UserChoicesField,
    explain_empty,
)
from apps.console.menu import page_of_list, row_name
from apps.console.run_search import MOST_LISTED
from apps.console.time_cells import time_column
from apps.integers import read_integer

__all__ = ["AdminForm", "AdminPasswordChangeForm", "UserChangeForm", "UserCreationForm"]

Row = TypeVar("Row", bound=models.Model)

CheckboxChoices = UnfoldAdminCheckboxSelectMultipleWidget
PasswordInput = UnfoldAdminPasswordWidget
Select = UnfoldAdminSelectWidget
SearchedSelect = UnfoldAdminSelect2Widget
"""A select input with a search box. It searches in the browser, because the page has all options.
"""
TextInput = UnfoldAdminTextInputWidget
Switch = UnfoldBooleanSwitchWidget
TEXT_INPUT = " ".join(INPUT_CLASSES)
SEARCH = "Search…"


class LowTextarea(UnfoldAdminTextareaWidget):  # type: ignore[misc]  # the theme is not typed
    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"rows": 4, **(attrs or {})})


class SearchedChoices(UnfoldAdminSelect2MultipleWidget):  # type: ignore[misc]  # the theme is not typed
    """A searchable select input for multiple values, which it shows as chips. The page contains all
    its options.
    """

    def build_attrs(
        self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the HTML attributes, including the class that the theme's script requires. The
        theme replaces the classes of many-to-many fields.
        """
        attrs: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        return {
            **attrs,
            "class": "unfold-admin-autocomplete admin-autocomplete",
            "data-close-on-select": "false",
            "data-placeholder": SEARCH,
        }


class UrlInput(UnfoldAdminURLInputWidget):  # type: ignore[misc]  # the theme is not typed
    """A URL input that, unlike the theme's own input, does not repeat the stored URL as a link."""

    template_name = "django/forms/widgets/url.html"


class RowsBelow(StackedInline):  # type: ignore[misc]  # the theme is not typed
    """Edits dependent rows on the page of their parent row."""


class LenientAutocomplete(AutocompleteMixin):
    """Ignores invalid IDs when a rejected form is shown again. Django's own autocomplete widgets
    fail on such IDs. `placeholder` is shown while nothing is chosen.
    """

    placeholder = SEARCH

    def build_attrs(
        self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        attrs: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        return {**attrs, "data-placeholder": self.placeholder}

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


def empty_choice(name: str, is_required: bool) -> str:
    """Return the text that a select input for rows shows while no row is chosen."""
    if not is_required:
        return "None"
    return f"Choose {'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def without_links(found: Any) -> Any:
    """From a preview of deleted rows, remove the rows that only link two tables. `found` contains
    nested lists of lines, or counts by name.
    """
    links = [
        model for model in apps.get_models(include_auto_created=True) if model._meta.auto_created
    ]
    if isinstance(found, dict):
        names = {str(model._meta.verbose_name_plural) for model in links}
        return {name: count for name, count in found.items() if str(name) not in names}
    starts = tuple(f"{capfirst(model._meta.verbose_name)}: " for model in links)
    return [
        without_links(one) if isinstance(one, list) else one
        for one in found
        if isinstance(one, list) or not str(one).startswith(starts)
    ]


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
    empty_value_display = NOTHING
    first_page = ""
    """The URL name of the page that adds a row, or "" if the admin's own form adds it."""
    choices: Mapping[str, Mapping[str, Sequence[str]]] = {}
    """The fields that the form shows only for certain values of another field. The keys are the
    other field and its value.
    """
    empty_labels: Mapping[str, str] = {}
    """The texts that the inputs of foreign keys show while no row is chosen. `empty_choice` returns
    the default.
    """
    list_filter_sheet = False
    compressed_fields = False
    list_per_page = 50
    warn_unsaved_form = True
    formfield_overrides = {
        models.TextField: {"widget": LowTextarea},
        models.JSONField: {"widget": LowTextarea},
        models.URLField: {"widget": UrlInput, "assume_scheme": "https"},
    }

    def __init__(self, model: type[Row], site: Any) -> None:
        super().__init__(model, site)
        page = page_of_list(model._meta.label_lower)
        if page is not None and page.row:  # Titles and messages use the menu's name for a row.
            self.opts = opts = copy(model._meta)
            opts.verbose_name, opts.verbose_name_plural = row_name(opts), row_name(opts, 0)

    def row_title(self, request: HttpRequest, row: Row) -> str:
        """Return the title of a row's pages."""
        return str(row)

    def url(self, page: str, *arguments: Any) -> str:
        """Return the URL of the admin page with this name, such as "changelist"."""
        return reverse(f"admin:{self.url_name(page)}", args=arguments)

    def url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_list_display(self, request: HttpRequest) -> Any:
        times = {
            field.name: time_column(field.name, str(field.verbose_name))
            for field in self.opts.fields
            if isinstance(field, models.DateTimeField)
        }
        return [times.get(name, name) for name in super().get_list_display(request)]

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[RowList]:
        return RowList

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        default = empty_choice(str(db_field.verbose_name), not db_field.blank)
        label = self.empty_labels.get(db_field.name, default)
        options.setdefault("empty_label", label)
        if db_field.name in self.get_autocomplete_fields(request):
            widget = RowChoice(db_field, self.admin_site)
            widget.placeholder = label
            options.setdefault("widget", widget)
        elif db_field.name not in self.get_readonly_fields(request):
            options.setdefault("widget", SearchedSelect())
        if db_field.related_model is User:
            options.setdefault("form_class", UserChoiceField)
        field = super().formfield_for_foreignkey(db_field, request, **options)
        if field is not None and field.required:
            explain_empty(field, request.user)
        return field

    def formfield_for_choice_field(self, db_field: Any, request: Any, **options: Any) -> Any:
        default = empty_choice(str(db_field.verbose_name), not db_field.blank)
        label = self.empty_labels.get(db_field.name, default)
        offered = db_field.get_choices(include_blank=db_field.blank, blank_choice=[("", label)])
        choices = [(value, capfirst(name)) for value, name in offered]
        options.setdefault("choices", choices)
        return super().formfield_for_choice_field(db_field, request, **options)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        more: dict[str, Any] = {"choices": self.choices}
        row = options.get("obj")
        if row is not None and context.get("subtitle") == str(row):  # Not set by the page itself.
            more["subtitle"] = self.row_title(request, row)
        shown: HttpResponse = super().render_change_form(
            request, {**context, **more}, *args, **options
        )
        return shown

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        context["subtitle"] = self.row_title(request, context["object"])
        shown: HttpResponse = super().render_delete_form(request, context)
        return shown

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            options.setdefault("widget", RowChoices(db_field, self.admin_site))
        if db_field.related_model is User:
            options.setdefault("form_class", UserChoicesField)
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
        lacking = {name for name in lacking if str(name) not in unasked}
        return without_links(to_delete), without_links(counts), lacking, protected

    def staff_path(self, route: str, view: Any, page: str) -> Any:
        return path(route, self.admin_site.admin_view(view), name=self.url_name(page))

    def viewer_path(self, route: str, view: Any, page: str) -> Any:
        """Return a URL pattern for a view. Only staff who may view the admin's rows can open it."""

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
    """The admin for rows that only the server writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
