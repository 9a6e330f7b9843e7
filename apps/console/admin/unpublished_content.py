"""The page of the applications that changed predefined content would change, to publish them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.catalog.history.differences import Difference
from apps.catalog.history.display import MOST_SHOWN, RenderedDifference, rendered_differences
from apps.catalog.models import Application, Role
from apps.catalog.versions import publication
from apps.catalog.versions.content_changes import PendingContent, pending_content
from apps.catalog.versions.version_notes import LONGEST_NOTE
from apps.console.admin.compared_versions import refusals
from apps.console.operated import PUBLISH, edited, with_role
from apps.integers import read_integer


@dataclass(frozen=True, slots=True)
class PendingApplication:
    pending: PendingContent
    differences: list[RenderedDifference]


def unpublished_content(admin: Any, request: HttpRequest) -> HttpResponse:
    """List the applications that the person edits; a POST publishes the ticked ones with a note."""
    may_publish = request.user.has_perm(PUBLISH)
    if request.method == "POST" and may_publish:
        publish_ticked(admin, request)
        return redirect(admin.url("unpublished"))
    seen = with_role(request, Role.EDITOR).order_by().values_list("pk", flat=True)
    found = [
        PendingApplication(
            pending,
            rendered_differences(islice(differences_of(pending), MOST_SHOWN)),
        )
        for pending in pending_content(seen)
    ]
    context = {"found": found, "may_publish": may_publish, "longest_note": LONGEST_NOTE}
    name = "admin/catalog/contentitem/unpublished.html"
    answer: HttpResponse = admin.page(request, name, "Unpublished content", context)
    return answer


def differences_of(pending: PendingContent) -> Iterator[Difference]:
    """Named after the application, because the same item may change several of them."""
    for change in pending.changes:
        for one in change.difference:
            yield replace(one, path=f"{pending.slug}: {one.path}")


def publish_ticked(admin: Any, request: HttpRequest) -> None:
    written = request.POST.getlist("application")
    numbers = [number for one in written if (number := read_integer(one)) is not None]
    rows = edited(request).filter(pk__in=numbers, archived_at=None)
    if not numbers:
        admin.message_user(request, "Tick the applications to publish.", messages.WARNING)
    for row in rows:
        problems = publish_content(request, row)
        for problem in problems:
            admin.message_user(request, f"{row.title}: {problem}", messages.ERROR)
        if not problems:
            admin.message_user(request, f"{row.title} is published.", messages.SUCCESS)


def publish_content(request: HttpRequest, row: Application) -> list[str]:
    """Publish what is live with the content of now; a draft stays as it is."""
    note, user = request.POST.get("note", ""), request.user
    return refusals(lambda: publication.republish(row, note, user=user))  # type: ignore[arg-type]
