"""Offers rows in select inputs and filters, with names that users recognize."""

from typing import Any

from django.contrib import admin
from django.contrib.admin import RelatedOnlyFieldListFilter
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.contrib.auth import get_permission_codename
from django.contrib.auth.models import User
from django.forms import ModelChoiceField, ModelMultipleChoiceField
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from apps.accounts.persons import name_with_username
from apps.console.menu import row_name


class RowChoicesView(AutocompleteJsonView):
    """Serves the rows that a select input with a search offers."""

    def serialize_result(self, row: Any, to_field_name: str) -> dict[str, str]:
        """Return the row's ID and its text. Users are shown with their full names."""
        found: dict[str, str] = super().serialize_result(row, to_field_name)
        return {**found, "text": name_with_username(row)} if isinstance(row, User) else found


class UserChoiceField(ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, user: Any) -> str:
        return name_with_username(user)


class UserChoicesField(ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, user: Any) -> str:
        return name_with_username(user)


class UserFilter(RelatedOnlyFieldListFilter):
    """Filters a list by the users who occur in it, and shows their names."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        found = super().field_choices(field, request, model_admin)
        users = User.objects.filter(pk__in=[pk for pk, _ in found])
        return [(user.pk, name_with_username(user)) for user in users.order_by("username")]


def explain_empty(field: Any, operator: Any) -> None:
    """If the field of a form has no rows to choose from, start its help text with a link to the
    page that adds a row.
    """
    if field.queryset.exists():
        return
    opts = field.queryset.model._meta
    has_others = opts.default_manager.exists()
    note = f"No {row_name(opts, 0)} {'that you can choose' if has_others else 'yet'}."
    manager: Any = admin.site.get_model_admin(opts.model)
    if operator.has_perm(f"{opts.app_label}.{get_permission_codename('add', opts)}"):
        url = reverse(manager.first_page) if manager.first_page else manager.url("add")
        link = (
            '<a class="text-primary-700 underline dark:text-primary-400" href="{}">Create one</a>'
        )
        shown = format_html("{} " + link, note, url)
    else:
        shown = format_html("{} Ask an administrator to create one.", note)
    field.help_text = format_html("{}<br>{}", shown, field.help_text) if field.help_text else shown
