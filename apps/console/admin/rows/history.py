"""Defines the admin pages for the history of a row, a single change, and deleted rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Max, Min, Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from django.views.decorators.http import require_safe

from apps.catalog.history.change_recorder import LONGEST_PATH, snapshot_differences
from apps.catalog.history.display import MOST_SHOWN, rendered_differences
from apps.catalog.history.recorded_models import RowKind, row_kind
from apps.catalog.models import Change
from apps.console.admin.theme import Admin
from apps.console.templatetags.field_labels import field_label
from apps.integers import read_integer

Row = TypeVar("Row", bound=Model)

PER_PAGE = 50
MOST_NAMED = 4
"""The list names at most this many changed fields per change."""
SIDES = ("before", "after")
"""The states in a recorded change that a user can restore."""


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A changed field whose values are not loaded."""

    path: str
    items: tuple[Any, ...] = ()


class HistoryAdmin(Admin[Row]):
    change_list_template = "admin/history/change_list.html"

    @property
    def kind(self) -> RowKind:
        return row_kind(self.model)

    def get_urls(self) -> list[URLPattern]:
        change = "<int:object_id>/history/<int:number>/"
        return [
            self.viewer_path("deleted/", require_safe(self.deleted_view), "deleted"),
            self.staff_path(change, require_safe(self.one_change_view), "one_change"),
            *super().get_urls(),
        ]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Show all changes to a row, even if it was deleted. Raises `PermissionDenied` or `Http404`
        if the user may not see it.
        """
        if not is_row_number(object_id):
            raise Http404
        row = self.visible_row(request, int(object_id))
        changes = self.changes_of(int(object_id)).defer("before", "after").order_by("-pk")
        page = Paginator(changes, PER_PAGE).get_page(request.GET.get("page"))
        named = self.with_named_fields([*page])
        if row is None and not page.paginator.count:
            raise Http404
        title = (
            self.row_title(request, row) if row is not None else page.paginator.object_list[0].title
        )
        context = {
            "row": row,
            "page": page,
            "changes": named,
            "name": title,
            "object_id": int(object_id),
        }
        context |= extra_context or {}
        return self.page(request, "admin/history/list.html", f"History of {title}", context)

    def with_named_fields(
        self, changes: Sequence[Change]
    ) -> list[tuple[Change, list[tuple[str, str]]]]:
        """Return each change with the paths and labels of the first changed fields."""
        # The names of list items are in the values.
        listed = [one.pk for one in changes if any("[" in path for path in first_paths(one))]
        full = Change.objects.in_bulk(listed)
        return [(one, self.named_fields(one, full.get(one.pk))) for one in changes]

    def named_fields(self, change: Change, full: Change | None) -> list[tuple[str, str]]:
        """Return the paths and labels of the first changed fields. `full` has the values of the
        change, or is None if its paths have no list items.
        """
        found = snapshot_differences(self.kind, full.before, full.after) if full else ()
        known = {one.path[:LONGEST_PATH]: one for one in found}
        named = [known.get(path) or ChangedField(path) for path in first_paths(change)]
        return [(one.path, field_label(one, self.opts)) for one in named]

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        """Show the last change to each deleted row that the user may see."""
        deletions = self.deletions(request)
        present = self.model._default_manager.values("pk")
        gone = deletions.exclude(object_id__in=present).values("object_id")
        numbers = gone.annotate(last=Max("pk")).order_by().values("last")
        rows = Change.objects.filter(pk__in=numbers).defer("before", "after")
        page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
        title = f"Deleted {self.opts.verbose_name_plural}"
        return self.page(request, "admin/history/deleted.html", title, {"page": page})

    def one_change_view(self, request: HttpRequest, object_id: int, number: int) -> HttpResponse:
        """Show what one change did. Raises `PermissionDenied` or `Http404` if the user may not see
        the row.
        """
        row = self.visible_row(request, object_id)
        change = self.find_change(object_id, number)
        found = snapshot_differences(self.kind, change.before, change.after)
        may_restore = self.kind.restorable and self.may_save(request, row)
        changes = self.changes_of(object_id)
        context = {
            "row": row,
            "change": change,
            "differences": rendered_differences(found),
            "left_out": max(0, change.count - MOST_SHOWN),
            "sides": [side for side in SIDES if getattr(change, side)] if may_restore else [],
            "is_present": row is not None and change.after == self.kind.snapshot(row),
            "restorable": self.kind.restorable,
            "earlier": changes.filter(pk__lt=number).aggregate(pk=Max("pk"))["pk"],
            "later": changes.filter(pk__gt=number).aggregate(pk=Min("pk"))["pk"],
            "object_id": object_id,
        }
        title = f"{change.title}: {change.what}"
        return self.page(request, "admin/history/change.html", title, context)

    def visible_row(self, request: HttpRequest, number: int, *, lock: bool = False) -> Row | None:
        """Return the row, locked if `lock` is True, or None if it was deleted. Raises
        `PermissionDenied` or `Http404` if the user may not see it.
        """
        if lock:
            rows = self.model._default_manager.select_for_update(of=("self",))
            rows.filter(pk=number).first()
        row = cast("Row | None", self.get_object(request, str(number)))
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        if row is None and self.is_hidden(request, number):
            raise Http404
        return row

    def is_hidden(self, request: HttpRequest, number: int) -> bool:
        """Return True unless the row was deleted and the user may see the deletion."""
        if self.model._default_manager.filter(pk=number).exists():
            return True
        return not self.deletions(request).filter(object_id=number).exists()

    def deletions(self, request: HttpRequest) -> QuerySet[Change]:
        """Return the recorded deletions of rows that the user may see."""
        found = Change.objects.filter(kind=self.kind.label, what=Change.What.DELETED)
        return found.filter(self.deletions_seen(request))

    def deletions_seen(self, request: HttpRequest) -> Q:
        return Q()

    def may_save(self, request: HttpRequest, row: Row | None) -> bool:
        """Return True if the user may change the row or, if it is None, add rows."""
        if row is None:
            return bool(self.has_add_permission(request))
        return bool(self.has_change_permission(request, row))

    def changes_of(self, number: int) -> QuerySet[Change]:
        return Change.objects.filter(kind=self.kind.label, object_id=number)

    def find_change(self, object_id: int, number: int) -> Change:
        return get_object_or_404(self.changes_of(object_id), pk=number)


def first_paths(change: Change) -> list[str]:
    return [*change.places[:MOST_NAMED]]


def is_row_number(text: str) -> bool:
    return read_integer(text) is not None
