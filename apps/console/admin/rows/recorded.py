"""Defines the base class for admin pages that edit, delete and restore rows with a history."""

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from apps.catalog.history.recorded_models import Snapshot
from apps.catalog.models import Change
from apps.console.admin.rows.history import HistoryAdmin, is_row_number
from apps.console.admin.rows.restoration import (
    RESTORE_PARAMETER,
    Restoration,
    prepare_restoration,
    restore_view,
    starting_values,
)

Row = TypeVar("Row", bound=Model)

HISTORY_FIELDS = (
    "History",
    {"fields": ("version", "created_at", "updated_at"), "classes": ("collapse",)},
)


class RecordedAdmin(HistoryAdmin[Row]):
    change_form_before_template: str | None = "admin/history/conflict.html"
    delete_confirmation_template = "admin/catalog/delete.html"
    delete_selected_confirmation_template = "admin/catalog/delete_selected.html"
    readonly_fields: tuple[str, ...] = ("version", "created_at", "updated_at")
    fixed_fields: tuple[str, ...] = ()
    """The fields that users can set only when they create the row."""

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(
            partial(restore_view, self, self.prepare_restoration)
        )
        route = "<int:object_id>/history/<int:number>/restore/<str:side>/"
        return [self.staff_path(route, view, "restore"), *super().get_urls()]

    def prepare_restoration(
        self, request: HttpRequest, change: Change, state: Snapshot, row: Row | None
    ) -> Restoration:
        return prepare_restoration(self, request, change, state, row)

    def get_fieldsets(self, request: HttpRequest, obj: Row | None = None) -> Any:
        """Omit groups that have only read-only fields from the form for a new row, because these
        fields are still empty.
        """
        fieldsets = super().get_fieldsets(request, obj)
        if obj is not None:
            return fieldsets
        readonly = set(self.get_readonly_fields(request))
        return [one for one in fieldsets if not readonly.issuperset(one[1]["fields"])]

    def get_readonly_fields(self, request: HttpRequest, obj: Row | None = None) -> Any:
        return self.readonly_fields if obj is None else self.readonly_fields + self.fixed_fields

    def get_form(
        self, request: HttpRequest, obj: Row | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), self.form_attributes(request, obj))

    def form_attributes(self, request: HttpRequest, obj: Row | None) -> dict[str, Any]:
        """Return class attributes for the form. They depend on the request, which Django does not
        pass to the form.
        """
        if request.method == "GET" and (reference := request.GET.get(RESTORE_PARAMETER, "")):
            return {"starting": starting_values(self, request, reference, obj)}
        if obj is None and request.resolver_match is not None:
            number = request.resolver_match.kwargs.get("object_id", "")
            return {"gone": int(number) if number else None}
        return {}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        # If the row was deleted in the meantime, save the typed content as a new row.
        if object_id and request.method == "POST" and self.is_deleted(request, object_id):
            object_id = None
        answer: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return answer

    def is_deleted(self, request: HttpRequest, object_id: str) -> bool:
        if (
            not is_row_number(object_id)
            or self.model._default_manager.filter(pk=object_id).exists()
        ):
            return False
        deletions = self.deletions(request).filter(object_id=int(object_id))
        return deletions.exists() and bool(self.has_add_permission(request))

    def consequences(self, request: HttpRequest, rows: Iterable[Row]) -> list[SafeString]:
        """Describe the effects of deleting the rows, for the confirmation page."""
        return []

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        context["consequences"] = self.consequences(request, [context["object"]])
        page: HttpResponse = super().render_delete_form(request, context)
        return page

    def response_action(self, request: HttpRequest, queryset: QuerySet[Row]) -> HttpResponse | None:
        page: HttpResponse | None = super().response_action(request, queryset)
        context = getattr(page, "context_data", None) or {}
        if "deletable_objects" in context:
            context["consequences"] = self.consequences(request, context["queryset"])
        return page
