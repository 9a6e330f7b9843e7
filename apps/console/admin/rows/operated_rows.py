"""Defines the base class for the admin pages for rows with a secret, such as webhooks."""

from typing import Any, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_POST

from apps.accounts.keys import new_keys
from apps.catalog.models import Application
from apps.console.admin.rows.recorded import RecordedAdmin
from apps.console.operator_rights import (
    editable_applications,
    edits_all,
    may_rule,
    of_seen,
    sees_all,
)
from apps.workspace.versions import VersionedRow

Row = TypeVar("Row", bound=VersionedRow)


class OperatedRows(RecordedAdmin[Row]):
    """The admin pages of rows with a secret that belong to an application. Operators can change a
    row if they can edit its application.

    The page shows a new secret only once. Subclasses create and describe the secret.
    """

    renewal_words = "The new one replaces it immediately."
    change_form_outer_after_template = "admin/triggers/secret_button.html"

    def new_secret(self, row: Row) -> str:
        """Set a new secret on the row without saving it, and return the secret."""
        raise NotImplementedError

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        rows: QuerySet[Row] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    def deletions_seen(self, request: HttpRequest) -> Q:
        # Nobody has a role in a deleted application.
        return Q() if sees_all(request.user) else Q(pk__in=())

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request)
        return may and (obj is None or self.may_rule(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request)
        return may and (obj is None or self.may_rule(request, obj))

    def may_rule(self, request: HttpRequest, row: Any) -> bool:
        return may_rule(request, row.application)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.related_model is Application and not edits_all(request.user):
            options["queryset"] = editable_applications(request)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.shown_secret = self.new_secret(obj)
        obj.saved_by = request.user
        self.before_save(obj)
        super().save_model(request, obj, form, change)

    def before_save(self, row: Row) -> None:
        """Set fields that depend on `saved_by`. Does nothing by default."""

    def get_urls(self) -> list[URLPattern]:
        renew = require_POST(self.renew)
        return [
            self.staff_path("<int:number>/secret/", self.show_secret, "secret"),
            self.staff_path("<int:number>/secret/renew/", renew, "renew"),
            *super().get_urls(),
        ]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.keep_secret(request, obj)

    def keep_secret(self, request: HttpRequest, row: Any) -> HttpResponse:
        new_keys.store_new_key(request.session, str(row.uuid), row.shown_secret)
        return redirect(self.url("secret", row.pk))

    def renew(self, request: HttpRequest, number: int) -> HttpResponse:
        """Replace the row's secret, and show the new one. Raises `PermissionDenied` if the user may
        not change the row, and `Http404` if it does not exist.
        """
        row: Any = self.found(request, number)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        row.shown_secret = self.new_secret(row)
        row.saved_by = request.user
        row.save()
        self.log_change(request, row, f"Created a new {self.secret_name_of(row)}.")
        return self.keep_secret(request, row)

    def show_secret(self, request: HttpRequest, number: int) -> HttpResponse:
        row: Any = self.found(request, number)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        secret = new_keys.pop_new_key(request.session, str(row.uuid))
        context = {"row": row, "secret": secret, "secret_name": self.secret_name_of(row)}
        context |= {"change_url": self.url("change", row.pk), **self.secret_context(request, row)}
        return self.page(request, "admin/triggers/secret.html", f"{row}", context)

    def secret_name_of(self, row: Row) -> str:
        raise NotImplementedError

    def secret_context(self, request: HttpRequest, row: Row) -> dict[str, Any]:
        return {}

    def found(self, request: HttpRequest, number: int) -> Row:
        row: Row | None = self.get_object(request, str(number))
        if row is None:
            raise Http404
        return row

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        if row is not None and self.has_change_permission(request, row):
            name = self.secret_name_of(row)
            url, words = self.url("renew", row.pk), self.renewal_words
            context["renewal"] = {"url": url, "name": name, "words": words}
        page: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return page


def show_count(page: admin.ModelAdmin[Any], request: HttpRequest, words: str, count: int) -> None:
    page.message_user(request, f"{words}: {count}.", messages.SUCCESS)
