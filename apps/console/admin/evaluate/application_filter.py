"""Defines a list filter for rows that belong to an application."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.callers import distinct_titles
from apps.console.operator_rights import visible_applications


class OfApplication(admin.SimpleListFilter):
    """A list filter by application. It offers only visible applications that have at least one
    row.
    """

    title = parameter_name = "application"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        related = model_admin.model._meta.get_field("application").related_query_name()
        rows = (
            visible_applications(request)
            .filter(**{f"{related}__isnull": False})
            .distinct()
            .order_by("title")
        )
        return list(distinct_titles(rows).items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if not self.value() else queryset.filter(application__slug=self.value())
