"""What is said on the pages that ask before rows are deleted, one or many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from apps.console.admin.theme import Admin

Row = TypeVar("Row", bound=Model)


class DeletingAdmin(Admin[Row]):
    delete_confirmation_template = "admin/catalog/delete.html"
    delete_selected_confirmation_template = "admin/catalog/delete_selected.html"

    def consequences(self, request: HttpRequest, rows: Iterable[Row]) -> list[SafeString]:
        """What deleting the rows means for others, as paragraphs before one is asked for it."""
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
