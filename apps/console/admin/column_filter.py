"""Filters a list of rows by the value of a column."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest


class ColumnFilter(admin.SimpleListFilter):
    """Filters by the column `parameter_name`. A subclass returns the offered values in `lookups`."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        try:
            return queryset.filter(**{str(self.parameter_name): self.value()})
        except ValidationError:  # The column cannot contain this value.
            return queryset.none()
