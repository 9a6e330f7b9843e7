"""Serves the rows that a select input with a search offers."""

from typing import Any

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.contrib.auth.models import User

from apps.accounts.persons import name_with_username


class RowChoicesView(AutocompleteJsonView):
    def serialize_result(self, row: Any, to_field_name: str) -> dict[str, str]:
        """Return the row's ID and its text. Users are shown with their full names."""
        found: dict[str, str] = super().serialize_result(row, to_field_name)
        return {**found, "text": name_with_username(row)} if isinstance(row, User) else found
