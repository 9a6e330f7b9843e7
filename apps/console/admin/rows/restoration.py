"""Restores recorded states of rows, after a preview of the differences or through the form."""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.catalog.history.actors import ChangeNote, noting
from apps.catalog.history.differences import differences
from apps.catalog.history.display import RenderedDifference, rendered_differences
from apps.catalog.history.recorded_models import Snapshot
from apps.catalog.history.restoration import earlier_state
from apps.catalog.models import Change
from apps.console.admin.rows.edit_merge import posted_values, set_omitted
from apps.console.admin.rows.history import SIDES, HistoryAdmin, is_row_number
from apps.console.admin.rows.versioned_form import VersionedForm

RESTORE_PARAMETER = "restore"
"""The query parameter that fills a form with a recorded state, such as `17-before`: the ID of the
change, and the side.
"""


@dataclass(frozen=True, slots=True)
class Restoration:
    """The preview of a restoration that the user has to confirm."""

    restore: Callable[[], Model]
    """The function that saves the row and returns it. It must not be called if there are
    `problems`.
    """
    differences: list[RenderedDifference]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    button: str = "Restore"
    about: str = ""
    has_form: bool = False
    """True if the page has a link to the edit form, filled with the recorded values."""


Prepare = Callable[[HttpRequest, Change, Snapshot, Any], Restoration]
"""A function that prepares a restoration. Its last argument is the stored row, or None if it was
deleted.
"""


def restore_view(
    admin: HistoryAdmin[Any],
    prepare: Prepare,
    request: HttpRequest,
    object_id: int,
    number: int,
    side: str,
) -> HttpResponse:
    """Show the differences between a recorded state and the current row. A POST restores the state.

    Raises `PermissionDenied` if the user may not change the row, and `Http404` if there is no such
    state.
    """
    with transaction.atomic():
        row = admin.visible_row(request, object_id, lock=request.method == "POST")
        if not admin.may_save(request, row):
            raise PermissionDenied
        change = admin.find_change(object_id, number)
        state = getattr(change, side) if side in SIDES else None
        if not state or not admin.kind.restorable:
            raise Http404
        restoration = prepare(request, change, state, row)
        version = getattr(row, "version", 0)
        seen = request.POST.get("seen_version", "")
        is_stale = request.method == "POST" and seen != str(version)
        if request.method == "POST" and not is_stale and not restoration.problems:
            return restore(admin, request, change, restoration)
    context = {
        "row": row,
        "change": change,
        "restoration": restoration,
        "is_stale": is_stale,
        "version": version,
        "object_id": object_id,
        "starting": f"{RESTORE_PARAMETER}={change.pk}-{side}",
    }
    return admin.page(request, "admin/history/restore.html", f"Restore {change.title}", context)


def prepare_restoration(
    admin: HistoryAdmin[Any],
    request: HttpRequest,
    change: Change,
    state: Snapshot,
    row: Model | None,
) -> Restoration:
    """Validate the recorded state with the admin's form, as if a user had submitted it."""
    found = earlier_state(admin.kind, state, row)
    form_class = admin.get_form(request, row, change=row is not None)
    present = admin.kind.snapshot(row) if row is not None else None
    new = admin.model(pk=change.object_id, version=change.version or 0)
    instance = new if row is None else copy(row)
    form = form_class(instance=instance)
    data = {name: form[name].value() for name in form.fields} | posted_values(form, found.values)
    form = form_class({**data, "seen_version": ""}, instance=instance)
    set_omitted(form, found.values)
    wanted = state if form.errors else admin.kind.snapshot(form.instance)
    today = wanted if present is None else present
    changed = differences(admin.kind.readable(today), admin.kind.readable(wanted))
    rendered = rendered_differences(changed)
    problems = tuple(error_lines(form))
    act = partial(save_form, admin, request, form, change.pk)
    return Restoration(act, rendered, found.notes, problems, has_form=True)


def save_form(
    admin: HistoryAdmin[Any], request: HttpRequest, form: VersionedForm[Any], change: int
) -> Model:
    is_present = not form.instance._state.adding
    with noting(ChangeNote(restored_from=change)):
        row: Model = form.save(commit=False)
        admin.save_model(request, row, form, change=is_present)
    return row


def restore(
    admin: HistoryAdmin[Any], request: HttpRequest, change: Change, restoration: Restoration
) -> HttpResponse:
    row = restoration.restore()
    admin.log_change(request, row, f"Restored from change {change.pk}.")
    for note in restoration.notes:
        admin.message_user(request, note, messages.WARNING)
    admin.message_user(request, f"{row} was restored.", messages.SUCCESS)
    return redirect(admin.url("history", row.pk))


def starting_values(
    admin: HistoryAdmin[Any], request: HttpRequest, reference: str, row: Model | None
) -> Mapping[str, Any]:
    """Return the recorded state as the initial values of a form.

    If `row` is None, the state can be that of any deleted row. Otherwise, raises `Http404` if the
    state belongs to another row.
    """
    number, _, side = reference.partition("-")
    if not is_row_number(number) or side not in SIDES:
        raise Http404
    gone = admin.deletions(request).values("object_id")
    deleted = Q(object_id__in=gone) & ~Q(object_id__in=admin.model._default_manager.values("pk"))
    found = Change.objects.filter(deleted if row is None else Q(object_id=row.pk))
    state = found.filter(kind=admin.kind.label, pk=int(number)).values_list(side, flat=True).first()
    if not state:
        raise Http404
    return earlier_state(admin.kind, state, row).values


def error_lines(form: VersionedForm[Any]) -> Iterator[str]:
    """Yield a line for each error in the form, with its field and path."""
    for name, lines in form.errors.items():
        findings = getattr(form.fields[name].widget, "findings", ()) if name in form.fields else ()
        errors = [finding for finding in findings if finding.severity == "error"]
        for finding in errors:
            yield f"{name}: {finding.path}: {finding.message}" if finding.path else finding.message
        if not errors:
            yield from (f"{name}: {line}" if name != "__all__" else str(line) for line in lines)
