"""Defines the page about applications that were published with older predefined content."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.catalog.actions import republish
from apps.catalog.history.differences import ValueDifference
from apps.catalog.history.display import RenderedDifference, rendered_differences
from apps.catalog.models import Application, Role
from apps.catalog.versions.content_changes import OutdatedApplication, outdated_applications
from apps.console.admin.build.compared_versions import refusal_reasons
from apps.console.operator_rights import PUBLISH, editable_applications, with_role
from apps.console.publishing_texts import PUBLISHING_TEXTS
from apps.integers import read_integer


@dataclass(frozen=True, slots=True)
class UnpublishedApplication:
    pending: OutdatedApplication
    differences: list[RenderedDifference]


def unpublished_content(admin: Any, request: HttpRequest) -> HttpResponse:
    """List the user's applications that were published with older predefined content. A POST with a
    note publishes the selected applications again.
    """
    may_publish = request.user.has_perm(PUBLISH)
    if request.method == "POST" and may_publish:
        publish_ticked(admin, request)
        return redirect(admin.url("unpublished"))
    seen = with_role(request, Role.EDITOR).order_by().values_list("pk", flat=True)
    found = [
        UnpublishedApplication(pending, rendered_differences(differences_of(pending)))
        for pending in outdated_applications(seen)
    ]
    context = {"found": found, "may_publish": may_publish, "texts": PUBLISHING_TEXTS}
    name = "admin/catalog/contentitem/unpublished.html"
    answer: HttpResponse = admin.page(request, name, "Unpublished content", context)
    return answer


def differences_of(pending: OutdatedApplication) -> Iterator[ValueDifference]:
    """Yield the changes to an application's predefined content. Each path starts with the slug,
    because a change to one item may affect several applications.
    """
    for change in pending.changes:
        for one in change.differences:
            yield replace(one, path=f"{pending.slug}: {one.path}")


def publish_ticked(admin: Any, request: HttpRequest) -> None:
    written = request.POST.getlist("application")
    numbers = [number for one in written if (number := read_integer(one)) is not None]
    rows = editable_applications(request).filter(pk__in=numbers, archived_at=None)
    if not numbers:
        admin.message_user(request, "Select the applications to publish.", messages.WARNING)
    for row in rows:
        problems = publish_content(request, row)
        for problem in problems:
            admin.message_user(request, f"{row.title}: {problem}", messages.ERROR)
        if not problems:
            admin.message_user(request, f"{row.title} was published.", messages.SUCCESS)


def publish_content(request: HttpRequest, row: Application) -> list[str]:
    """Publish the live version with the current predefined content. Return the problems, if any."""
    note = request.POST.get("note", "")
    return refusal_reasons(republish.execute, row, note, user=request.user)
