"""Defines the pages on which users compare, publish, restore, withdraw and archive versions of an
application.
"""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.client_address import address_of
from apps.catalog.actions import archive, publish, restore, withdraw
from apps.catalog.history.display import rendered_differences
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.comparison import compare_definitions, unpublished_differences
from apps.catalog.versions.content_changes import content_changes, live_content
from apps.catalog.versions.definitions import shown_definition
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.publishing_requests import is_required, publishing_refusal, request_of
from apps.catalog.versions.rebase import is_outdated
from apps.catalog.versions.states import application_state
from apps.console.admin.build.compared_versions import (
    DRAFT,
    named_side,
    refusal_reasons,
)
from apps.console.admin.rows.history import PER_PAGE
from apps.console.admin.theme import Admin
from apps.console.link_choices import link_choices
from apps.console.operator_rights import PUBLISH, get_version, may_archive
from apps.console.publishing_texts import PUBLISHING_TEXTS
from apps.console.studio.working_copy import findings_data, review_draft
from apps.integers import read_integer


def version_urls(admin: Admin[Application]) -> list[URLPattern]:
    """Return the URL patterns of the version pages. Everyone who can see the application can view
    these pages, but only publishers can change anything.
    """
    look, act = require_safe, require_POST
    note = require_http_methods(["GET", "HEAD", "POST"])
    route = "<int:pk>/versions/"
    return [
        admin.staff_path(route, look(partial(versions_view, admin)), "versions"),
        admin.staff_path(f"{route}compare/", look(partial(compare_view, admin)), "compare"),
        admin.staff_path(f"{route}publish/", note(partial(publish_view, admin)), "publish"),
        admin.staff_path(
            f"{route}<int:number>/restore/",
            act(partial(restore_version_view, admin)),
            "restore_version",
        ),
        admin.staff_path(
            f"{route}<int:number>/withdraw/", act(partial(withdraw_view, admin)), "withdraw"
        ),
        admin.staff_path("<int:pk>/archive/", note(partial(archive_view, admin)), "archive"),
        admin.staff_path("<int:pk>/unarchive/", act(partial(unarchive_view, admin)), "unarchive"),
    ]


def seen_row(admin: Admin[Application], request: HttpRequest, pk: int) -> Application:
    """Return the application with this ID. Raises `Http404` or `PermissionDenied` if the user may
    not see it.
    """
    row: Application | None = admin.get_object(request, str(pk))
    if row is None:
        raise Http404
    if not admin.has_view_permission(request, row):
        raise PermissionDenied
    return row


def published_row(admin: Admin[Application], request: HttpRequest, pk: int) -> Application:
    """Return the application with this ID. Raises `Http404` or `PermissionDenied` if the user may
    not publish it, or if it is archived.
    """
    row = seen_row(admin, request, pk)
    if not may_publish(admin, request, row) or row.archived_at is not None:
        raise PermissionDenied
    return row


def archived_row(admin: Admin[Application], request: HttpRequest, pk: int) -> Application:
    """Return the application with this ID. Raises `Http404` or `PermissionDenied` if the user may
    not archive it.
    """
    row = seen_row(admin, request, pk)
    if not may_archive(request, row):
        raise PermissionDenied
    return row


def may_publish(
    admin: Admin[Application], request: HttpRequest, row: Application | None = None
) -> bool:
    return bool(request.user.has_perm(PUBLISH) and admin.has_change_permission(request, row))


def versions_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    row = seen_row(admin, request, pk)
    versions = row.versions.defer("document").order_by("-number")
    draft, state = draft_of(row), application_state(row)
    is_archived = row.archived_at is not None and row.live_number > 0
    context = {
        "row": row,
        "state": state,
        "published": f"version {row.live_number}" if is_archived else "the live version",
        "draft": draft if draft.pk else None,
        "is_outdated": is_outdated(row, draft),
        "may_change": admin.has_change_permission(request, row) and row.archived_at is None,
        **review_context(row, draft, request.user),
        "page": Paginator(versions, PER_PAGE).get_page(request.GET.get("page")),
        "pending": content_changes(row.manifest, *live_content(row)) if row.live_number else [],
        "may_publish": may_publish(admin, request, row) and row.archived_at is None,
        "may_archive": may_archive(request, row),
        "may_erase": admin.has_delete_permission(request, row),
    }
    name = "admin/catalog/application/versions.html"
    return admin.page(request, name, f"Versions of {row.title}", context)


def compare_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Show the differences between the two versions in the query, such as `?from=1&to=draft`.
    Raises `Http404` if either version does not exist.
    """
    row = seen_row(admin, request, pk)
    one, other = (request.GET.get(name, "") for name in ("from", "to"))
    sides = named_side(row, one), named_side(row, other)
    titles = version_titles(row)
    context = {
        "row": row,
        "from": link_choices(request, "from", titles),
        "to": link_choices(request, "to", titles),
        "differences": rendered_differences(compare_definitions(*sides)),
    }
    name = "admin/catalog/application/compare.html"
    title = " and ".join("draft" if name == DRAFT else f"version {name}" for name in (one, other))
    return admin.page(request, name, f"{row.title}: {title}", context)


def version_titles(row: Application) -> dict[str, str]:
    """Return the titles of the states that can be compared, by their values in the URL."""
    draft = {DRAFT: "Draft"} if draft_of(row).pk else {}
    versions = row.versions.values_list("number", "note")
    live = {row.live_number: " (live)"}
    return draft | {
        str(number): f"Version {number}{live.get(number, '')}: {note}" for number, note in versions
    }


def publish_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Show the changes that publishing the draft would make, and its issues. A POST with a note publishes the
    draft.
    """
    row = published_row(admin, request, pk)
    draft = draft_of(row)
    problems: list[str] = []
    if request.method == "POST":
        problems = refusal_reasons(
            publish.execute,
            row,
            request.POST.get("note", ""),
            user=request.user,
            seen=read_integer(request.POST.get("seen", "")) or 0,
            only_new="only_new" in request.POST,
            is_over="over" in request.POST,
            address=address_of(request),
        )
        if not problems:
            row.refresh_from_db()
            admin.message_user(request, f"Version {row.live_number} is live.")
            return redirect(admin.url("versions", pk))
    review = review_context(row, draft, request.user)
    asked = review["asked"]
    default_note = "" if row.live_number else PUBLISHING_TEXTS["first"]
    shown = shown_definition(draft)
    context = {
        "row": row,
        "draft": draft,
        **review,
        "is_outdated": is_outdated(row, draft),
        "differences": rendered_differences(unpublished_differences(row)),
        "problems": problems,
        "note": request.POST.get("note", default_note if asked is None else asked.note),
        "next_number": row.live_number + 1,
        "findings": findings_data(review_draft(row, shown), shown.manifest),
        "texts": PUBLISHING_TEXTS,
    }
    name = "admin/catalog/application/publish.html"
    return admin.page(request, name, f"Publish {row.title}", context)


def restore_version_view(
    admin: Admin[Application], request: HttpRequest, pk: int, number: int
) -> HttpResponse:
    row = published_row(admin, request, pk)
    get_version(row, number)
    note = request.POST.get("note", "")
    problems = refusal_reasons(restore.execute, row, number, note, user=request.user)
    return report_outcome(
        admin, request, row, problems, f"The content of version {number} is live again."
    )


def withdraw_view(
    admin: Admin[Application], request: HttpRequest, pk: int, number: int
) -> HttpResponse:
    row = published_row(admin, request, pk)
    version = get_version(row, number)
    problems = refusal_reasons(withdraw.execute, version)
    return report_outcome(admin, request, row, problems, f"Version {number} can no longer be used.")


def archive_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for confirmation. A POST archives the application."""
    row = archived_row(admin, request, pk)
    if request.method != "POST":
        name = "admin/catalog/application/archive.html"
        return admin.page(request, name, f"Archive {row.title}", {"row": row})
    archive.execute(row)
    return report_outcome(
        admin, request, row, [], f"{row.title} is archived. Its data is retained."
    )


def unarchive_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    row = archived_row(admin, request, pk)
    archive.undo(row)
    return report_outcome(admin, request, row, [], f"{row.title} is no longer archived.")


def report_outcome(
    admin: Admin[Application],
    request: HttpRequest,
    row: Application,
    problems: list[str],
    done: str,
) -> HttpResponse:
    for problem in problems:
        admin.message_user(request, problem, messages.ERROR)
    if not problems:
        admin.message_user(request, done, messages.SUCCESS)
    return redirect(admin.url("versions", row.pk))


def review_context(row: Application, draft: ApplicationDraft, user: Any) -> dict[str, Any]:
    """Return the template context for the review by a second user. `asked` is the publishing
    request, including one that was sent back, or None.
    """
    if not is_required(row):
        return {"takes_two": False, "asked": None, "refusal": ""}
    refusal = publishing_refusal(row, draft, user)
    return {"takes_two": True, "asked": request_of(draft), "refusal": refusal}
