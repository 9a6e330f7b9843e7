"""The admin of rows with a recorded history: their forms, restoring them, deleting them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from apps.catalog.history.actors import Note, noting
from apps.catalog.history.differences import differences
from apps.catalog.history.display import MOST_SHOWN, RenderedDifference, rendered_differences
from apps.catalog.history.kinds import Snapshot
from apps.catalog.history.restoration import earlier
from apps.catalog.models import Change
from apps.console.admin.history import SIDES, HistoryAdmin, is_number
from apps.console.admin.versioned_form import VersionedForm, posted, set_omitted

Row = TypeVar("Row", bound=Model)

RESTORE_PARAMETER = "restore"
"""In the address of a form: `{number of a change}-{side}`, the state that the form starts with."""
HISTORY_FIELDS = (
    "History",
    {"fields": ("version", "created_at", "updated_at"), "classes": ("collapse",)},
)


@dataclass(frozen=True, slots=True)
class Restoration:
    """`form` saves the restored row, unless there are `problems`."""

    form: VersionedForm[Any]
    differences: list[RenderedDifference]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


class RecordedAdmin(HistoryAdmin[Row]):
    change_form_before_template: str | None = "admin/history/conflict.html"
    delete_confirmation_template = "admin/catalog/delete.html"
    delete_selected_confirmation_template = "admin/catalog/delete_selected.html"
    readonly_fields: tuple[str, ...] = ("version", "created_at", "updated_at")
    fixed_fields: tuple[str, ...] = ()
    """Fields of a new row that cannot be changed later, because manifests refer to them."""

    # --- The form -----------------------------------------------------------------------------

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
            return {"starting": self.starting_values(asked, obj)}
        if obj is None and request.resolver_match is not None:
            number = request.resolver_match.kwargs.get("object_id", "")
            return {"gone": int(number) if number else None}
        return {}

    def starting_values(self, asked: str, row: Row | None) -> Mapping[str, Any]:
        """Raises Http404, unless the state is one of this row's, or for a new row of a deleted one."""
        number, _, side = asked.partition("-")
        if not is_number(number) or side not in SIDES:
            raise Http404
        changes = Change.objects.filter(kind=self.kind.label, pk=int(number))
        if row is not None:
            changes = changes.filter(object_id=row.pk)
        else:
            changes = changes.exclude(object_id__in=self.model._default_manager.values("pk"))
        state = changes.values_list(side, flat=True).first()
        if not state:
            raise Http404
        return earlier(self.kind, state, row).values

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
        deletions = self.changes_of(int(object_id)).filter(what=Change.What.DELETED)
        return deletions.exists() and bool(self.has_add_permission(request))

    # --- Restoring ----------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(self.restore_view)
        return [
            path(
                "<int:object_id>/history/<int:number>/restore/<str:side>/",
                self.admin_site.admin_view(view),
                name=f"{self.url_prefix}_restore",
            ),
            *super().get_urls(),
        ]

    def restore_view(
        self, request: HttpRequest, object_id: int, number: int, side: str
    ) -> HttpResponse:
        """Show the differences from today's row; a POST restores. Raises PermissionDenied, Http404."""
        with transaction.atomic():
            row = self.visible_row(request, object_id, lock=request.method == "POST")
            if not self.may_save(request, row):
                raise PermissionDenied
            change = self.find_change(object_id, number)
            state = getattr(change, side) if side in SIDES else None
            if not state or not self.kind.restorable:
                raise Http404
            restoration = self.restoration(request, change, state, row)
            version = getattr(row, "version", 0)
            seen = request.POST.get("seen_version", "")
            is_stale = request.method == "POST" and seen != str(version)
            if request.method == "POST" and not is_stale and not restoration.problems:
                return self.restore(request, change, restoration)
        context = {
            "row": row,
            "change": change,
            "side": side,
            "restoration": restoration,
            "is_stale": is_stale,
            "version": version,
            "object_id": object_id,
            "starting": f"{RESTORE_PARAMETER}={change.pk}-{side}",
        }
        return self.page(request, "admin/history/restore.html", f"Restore {change.title}", context)

    def restoration(
        self, request: HttpRequest, change: Change, state: Snapshot, row: Row | None
    ) -> Restoration:
        """Type the state into the form of the admin, so that it passes the same checks."""
        found = earlier(self.kind, state, row)
        form_class = self.get_form(request, row, change=row is not None)
        present = self.kind.snapshot(row) if row is not None else None
        if row is None:
            instance = cast(Any, self.model)(pk=change.object_id, version=change.version or 0)
        else:
            instance = copy(row)
        form = form_class(instance=instance)
        data = {name: form[name].value() for name in form.fields} | posted(form, found.values)
        form = form_class({**data, "seen_version": ""}, instance=instance)
        set_omitted(form, found.values)
        problems = tuple(error_lines(form))
        wanted = self.kind.snapshot(form.instance) if not problems else state
        today = wanted if present is None else present
        changed = differences(self.kind.readable(today), self.kind.readable(wanted))
        rendered = rendered_differences(islice(changed, MOST_SHOWN))
        return Restoration(form, rendered, found.notes, problems)

    def restore(
        self, request: HttpRequest, change: Change, restoration: Restoration
    ) -> HttpResponse:
        form = restoration.form
        is_present = not form.instance._state.adding
        with noting(Note(restored_from=change.pk)):
            row = form.save(commit=False)
            self.save_model(request, row, form, change=is_present)
        self.log_change(request, row, f"Restored from change {change.pk}.")
        for note in restoration.notes:
            self.message_user(request, note, messages.WARNING)
        self.message_user(request, f"{row} is restored.", messages.SUCCESS)
        return redirect(f"admin:{self.url_prefix}_history", row.pk)

    # --- Deleting -----------------------------------------------------------------------------

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


def error_lines(form: VersionedForm[Any]) -> Iterator[str]:
    """A line for each mistake, with its place."""
    for name, lines in form.errors.items():
        findings = getattr(form.fields[name].widget, "findings", ()) if name in form.fields else ()
        errors = [finding for finding in findings if finding.severity == "error"]
        for finding in errors:
            yield f"{name}: {finding.path}: {finding.message}" if finding.path else finding.message
        if not errors:
            yield from (f"{name}: {line}" if name != "__all__" else str(line) for line in lines)
