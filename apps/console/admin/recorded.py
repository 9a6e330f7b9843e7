"""The admin of rows with a recorded history: their forms, and deleting them."""

from collections.abc import Iterable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from apps.console.admin.history import is_number
from apps.console.admin.restoration import RESTORE_PARAMETER, RestoringAdmin

Row = TypeVar("Row", bound=Model)

HISTORY_FIELDS = (
    "History",
    {"fields": ("version", "created_at", "updated_at"), "classes": ("collapse",)},
)


class RecordedAdmin(RestoringAdmin[Row]):
    change_form_before_template: str | None = "admin/history/conflict.html"
    delete_confirmation_template = "admin/catalog/delete.html"
    delete_selected_confirmation_template = "admin/catalog/delete_selected.html"
    readonly_fields: tuple[str, ...] = ("version", "created_at", "updated_at")
    fixed_fields: tuple[str, ...] = ()
    """Fields of a new row that cannot be changed later, because manifests refer to them."""

    def get_fieldsets(self, request: HttpRequest, obj: Row | None = None) -> Any:
        """For a new row without groups of read-only fields, which would be empty."""
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
        """Attributes of the form's class: Django makes its instances without the request."""
        if request.method == "GET" and (asked := request.GET.get(RESTORE_PARAMETER, "")):
            return {"starting": self.starting_values(request, asked, obj)}
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
        # What was typed for a row that was deleted meanwhile comes back as a new row.
        if object_id and request.method == "POST" and self.is_deleted(request, object_id):
            object_id = None
        answer: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return answer

    def is_deleted(self, request: HttpRequest, object_id: str) -> bool:
        if not is_number(object_id) or self.model._default_manager.filter(pk=object_id).exists():
            return False
        deletions = self.deletions(request).filter(object_id=int(object_id))
        return deletions.exists() and bool(self.has_add_permission(request))

    def consequences(self, request: HttpRequest, rows: Iterable[Row]) -> list[SafeString]:
        """Paragraphs for the page that asks before the rows are deleted."""
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
