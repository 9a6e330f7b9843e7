"""Restoring recorded states of rows: on a page that shows the differences, or in the form."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods

from apps.catalog.history.actors import Note, noting
from apps.catalog.history.differences import differences
from apps.catalog.history.display import MOST_SHOWN, RenderedDifference, rendered_differences
from apps.catalog.history.kinds import Snapshot
from apps.catalog.history.restoration import earlier
from apps.catalog.models import Change
from apps.console.admin.edit_merge import posted, set_omitted
from apps.console.admin.history import SIDES, HistoryAdmin, is_number
from apps.console.admin.versioned_form import VersionedForm

Row = TypeVar("Row", bound=Model)

RESTORE_PARAMETER = "restore"
"""In the address of a form: `{number of a change}-{side}`, the state that the form starts with."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """`form` saves the restored row, unless there are `problems`."""

    form: VersionedForm[Any]
    differences: list[RenderedDifference]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


class RestoringAdmin(HistoryAdmin[Row]):
    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(self.restore_view)
        route = "<int:object_id>/history/<int:number>/restore/<str:side>/"
        return [self.staff_path(route, view, "restore"), *super().get_urls()]

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
        new = self.model(pk=change.object_id, version=change.version or 0)
        instance = new if row is None else copy(row)
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
        return redirect(self.url("history", row.pk))

    def starting_values(
        self, request: HttpRequest, asked: str, row: Row | None
    ) -> Mapping[str, Any]:
        """Raises Http404, unless the state is one of this row's, or for a new row of a deleted one."""
        number, _, side = asked.partition("-")
        if not is_number(number) or side not in SIDES:
            raise Http404
        gone = self.deletions(request).values("object_id")
        deleted = Q(object_id__in=gone) & ~Q(object_id__in=self.model._default_manager.values("pk"))
        found = Change.objects.filter(deleted if row is None else Q(object_id=row.pk))
        state = (
            found.filter(kind=self.kind.label, pk=int(number)).values_list(side, flat=True).first()
        )
        if not state:
            raise Http404
        return earlier(self.kind, state, row).values


def error_lines(form: VersionedForm[Any]) -> Iterator[str]:
    """A line for each mistake, with its place."""
    for name, lines in form.errors.items():
        findings = getattr(form.fields[name].widget, "findings", ()) if name in form.fields else ()
        errors = [finding for finding in findings if finding.severity == "error"]
        for finding in errors:
            yield f"{name}: {finding.path}: {finding.message}" if finding.path else finding.message
        if not errors:
            yield from (f"{name}: {line}" if name != "__all__" else str(line) for line in lines)
