"""The history of a row in the admin: who did what, one change in detail, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Max, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods, require_safe

from apps.catalog.history.actors import Note, noting
from apps.catalog.history.differences import differences
from apps.catalog.history.display import MOST_SHOWN, RenderedDifference, rendered_differences
from apps.catalog.history.kinds import Kind, Snapshot, kind_of
from apps.catalog.history.recorder import between
from apps.catalog.history.restoration import earlier
from apps.catalog.models import Change
from apps.console.admin.deleting import DeletingAdmin
from apps.console.admin.versioned_form import VersionedForm, posted, set_omitted

Row = TypeVar("Row", bound=Model)

PER_PAGE = 50
SIDES = ("before", "after")
"""Of a change: which of the two states is restored."""
STARTING = "restore"
"""In the address of a form: `{number of a change}-{side}`, which it starts with."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """What restoring comes to. `form` saves it; `problems` say where it cannot be saved."""

    form: VersionedForm[Any]
    differences: list[RenderedDifference]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


class RecordedAdmin(DeletingAdmin[Row]):
    """For rows whose changes are recorded."""

    change_list_template = "admin/history/change_list.html"
    change_form_before_template: str | None = "admin/history/conflict.html"

    @property
    def kind(self) -> Kind:
        return kind_of(self.model)

    # --- Pages -------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        def staff(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        name = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path("deleted/", staff(require_safe(self.deleted_view)), name=f"{name}_deleted"),
            path(
                "<int:object_id>/history/<int:number>/",
                staff(require_safe(self.one_change_view)),
                name=f"{name}_one_change",
            ),
            path(
                "<int:object_id>/history/<int:number>/restore/<str:side>/",
                staff(require_http_methods(["GET", "HEAD", "POST"])(self.restore_view)),
                name=f"{name}_restore",
            ),
            *super().get_urls(),
        ]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """All changes of a row, also of one that is gone. Raises PermissionDenied, Http404."""
        if not object_id.isascii() or not object_id.isdecimal():
            raise Http404
        row = self.seen(request, int(object_id))
        changes = self.changes_of(int(object_id))
        page = Paginator(changes, PER_PAGE).get_page(request.GET.get("page"))
        if row is None and not page.paginator.count:
            raise Http404
        title = str(row) if row is not None else page.paginator.object_list[0].title
        context = {"row": row, "page": page, "name": title, "object_id": int(object_id)}
        return self.page(request, "list.html", f"History of {title}", context, extra_context)

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        """Rows that are gone, with the way back. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        deletions = Change.objects.filter(kind=self.kind.label, what=Change.What.DELETED)
        present = self.model._default_manager.values("pk")
        gone = deletions.exclude(object_id__in=present).values("object_id")
        numbers = gone.annotate(last=Max("pk")).order_by().values("last")
        rows = Change.objects.filter(pk__in=numbers).defer("before", "after")
        page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
        title = f"Deleted {self.opts.verbose_name_plural}"
        return self.page(request, "deleted.html", title, {"page": page, "kind": self.kind})

    def one_change_view(self, request: HttpRequest, object_id: int, number: int) -> HttpResponse:
        """What one change did, place by place. Raises PermissionDenied, Http404."""
        row = self.seen(request, object_id)
        change = self.found(object_id, number)
        found = between(self.kind, change.before, change.after)
        may_restore = self.kind.restorable and self.may_restore(request, row)
        earlier_one, later_one = neighbours(self.changes_of(object_id), number)
        context = {
            "row": row,
            "change": change,
            "differences": rendered_differences(islice(found, MOST_SHOWN)),
            "left_out": max(0, change.count - MOST_SHOWN),
            "sides": [side for side in SIDES if getattr(change, side)] if may_restore else [],
            "is_present": row is not None and change.after == self.kind.snapshot(row),
            "restorable": self.kind.restorable,
            "earlier": earlier_one,
            "later": later_one,
            "object_id": object_id,
        }
        return self.page(request, "change.html", f"{change.title}: {change.what}", context)

    def restore_view(
        self, request: HttpRequest, object_id: int, number: int, side: str
    ) -> HttpResponse:
        """Ask, with all that it would change today, then do it. Raises PermissionDenied, Http404."""
        with transaction.atomic():
            row = self.seen(request, object_id, lock=request.method == "POST")
            if not self.may_restore(request, row):
                raise PermissionDenied
            change = self.found(object_id, number)
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
            "starting": f"{STARTING}={change.pk}-{side}",
        }
        return self.page(request, "restore.html", f"Restore {change.title}", context)

    def page(self, request: HttpRequest, template: str, title: str, *contexts: Any) -> HttpResponse:
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "list_url": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"),
        }
        for also in contexts:
            context |= also or {}
        return TemplateResponse(request, f"admin/history/{template}", context)

    # --- What is there, and who may -----------------------------------------------------------

    def seen(self, request: HttpRequest, number: int, *, lock: bool = False) -> Row | None:
        """The row, None if it is gone. Raises PermissionDenied for who may not see it."""
        if lock:
            rows = self.model._default_manager.select_for_update(of=("self",))
            rows.filter(pk=number).first()
        row = cast("Row | None", self.get_object(request, str(number)))
        is_hidden = row is None and self.model._default_manager.filter(pk=number).exists()
        if is_hidden or not self.has_view_permission(request, row):
            raise PermissionDenied
        return row

    def may_restore(self, request: HttpRequest, row: Row | None) -> bool:
        if row is None:
            return bool(self.has_add_permission(request))
        return bool(self.has_change_permission(request, row))

    def changes_of(self, number: int) -> QuerySet[Change]:
        changes = Change.objects.filter(kind=self.kind.label, object_id=number)
        return changes.defer("before", "after").order_by("-pk")

    def found(self, object_id: int, number: int) -> Change:
        """Raises Http404."""
        change = Change.objects.filter(kind=self.kind.label, object_id=object_id, pk=number).first()
        if change is None:
            raise Http404
        return change

    # --- Restoring ----------------------------------------------------------------------------

    def restoration(
        self, request: HttpRequest, change: Change, state: Snapshot, row: Row | None
    ) -> Restoration:
        """The state, typed into the form that people use: it is checked as what they type is."""
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
        problems = tuple(problems_of(form))
        wanted = self.kind.snapshot(form.instance) if not problems else state
        today = wanted if present is None else present
        changed = differences(self.kind.readable(today), self.kind.readable(wanted))
        return Restoration(
            form, rendered_differences(islice(changed, MOST_SHOWN)), found.notes, problems
        )

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
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_history", row.pk)

    # --- The form -----------------------------------------------------------------------------

    def get_form(
        self, request: HttpRequest, obj: Row | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """On request it begins with an earlier state, which is not saved yet."""
        form = super().get_form(request, obj, change=change, **kwargs)
        if request.method == "GET" and (asked := request.GET.get(STARTING, "")):
            return type(form.__name__, (form,), {"starting": self.starting_values(asked, obj)})
        if obj is None and request.resolver_match is not None:
            number = request.resolver_match.kwargs.get("object_id", "")
            return type(form.__name__, (form,), {"gone": int(number) if number else None})
        return form

    def starting_values(self, asked: str, row: Row | None) -> Mapping[str, Any]:
        """Raises Http404 for what names no state of this row, or of one that is gone."""
        number, _, side = asked.partition("-")
        if not number.isascii() or not number.isdecimal() or side not in SIDES:
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
        """What was typed for a row that somebody deleted meanwhile comes back as a new one."""
        if object_id and request.method == "POST" and self.is_gone(request, object_id):
            object_id = None
        answer: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return answer

    def is_gone(self, request: HttpRequest, object_id: str) -> bool:
        if not object_id.isascii() or not object_id.isdecimal():
            return False
        if self.model._default_manager.filter(pk=object_id).exists():
            return False
        what = Change.What.DELETED
        return Change.objects.filter(
            kind=self.kind.label, object_id=int(object_id), what=what
        ).exists() and bool(self.has_add_permission(request))


def neighbours(changes: QuerySet[Change], number: int) -> tuple[int | None, int | None]:
    """The numbers of the change before and of the one after."""
    numbers = changes.order_by()
    before = numbers.filter(pk__lt=number).order_by("-pk").values_list("pk", flat=True).first()
    after = numbers.filter(pk__gt=number).order_by("pk").values_list("pk", flat=True).first()
    return before, after


def problems_of(form: VersionedForm[Any]) -> Iterator[str]:
    """One line for each mistake, with its place."""
    for name, lines in form.errors.items():
        findings = getattr(form.fields[name].widget, "findings", ()) if name in form.fields else ()
        errors = [finding for finding in findings if finding.severity == "error"]
        for finding in errors:
            yield f"{name}: {finding.path}: {finding.message}" if finding.path else finding.message
        if not errors:
            yield from (f"{name}: {line}" if name != "__all__" else str(line) for line in lines)
