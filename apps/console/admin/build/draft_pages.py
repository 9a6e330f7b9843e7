"""Defines the pages on which users ask another user to publish a draft, return a draft to its
author, or merge changes from the live version into it.
"""

from functools import partial

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.client_address import address_of
from apps.catalog.actions import draft_version, request_publishing, send_back, take_over
from apps.catalog.actions.send_back import LONGEST_WORDS
from apps.catalog.history.differences import differences
from apps.catalog.history.display import rendered_clash, rendered_differences
from apps.catalog.models import Application
from apps.catalog.versions.comparison import unpublished_differences
from apps.catalog.versions.definitions import shown_definition
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.publishing_requests import is_required
from apps.catalog.versions.rebase import is_outdated, merge_with_live
from apps.console.admin.build.compared_versions import refusal_reasons
from apps.console.admin.build.versions import published_row, report_outcome, seen_row
from apps.console.admin.rows.edit_merge import choices_in
from apps.console.admin.theme import Admin
from apps.console.operator_rights import get_version
from apps.console.publishing_texts import PUBLISHING_TEXTS
from apps.integers import read_integer


def draft_urls(admin: Admin[Application]) -> list[URLPattern]:
    page = require_http_methods(["GET", "HEAD", "POST"])
    route = "<int:pk>/versions/"
    return [
        admin.staff_path(f"{route}request/", page(partial(request_view, admin)), "request"),
        admin.staff_path(f"{route}return/", require_POST(partial(return_view, admin)), "return"),
        admin.staff_path(f"{route}take-over/", page(partial(take_over_view, admin)), "take_over"),
        admin.staff_path(
            f"{route}<int:number>/draft/",
            require_POST(partial(draft_version_view, admin)),
            "draft_version",
        ),
    ]


def edited_row(admin: Admin[Application], request: HttpRequest, pk: int) -> Application:
    """Return the application with this ID. Raises `Http404` or `PermissionDenied` if the user may
    not change it.
    """
    row = seen_row(admin, request, pk)
    if not admin.has_change_permission(request, row) or row.archived_at is not None:
        raise PermissionDenied
    return row


def request_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Show the changes that publishing the draft would make. A POST with a note creates a
    publishing request.
    """
    row = edited_row(admin, request, pk)
    note, problems = request.POST.get("note", ""), []
    if request.method == "POST":
        seen, user = read_integer(request.POST.get("seen", "")), request.user
        address = address_of(request)
        act = request_publishing.execute
        problems = refusal_reasons(act, row, note, user, seen=seen, address=address)
        if not problems:
            admin.message_user(request, "Another user can publish it now.", messages.SUCCESS)
            return redirect(admin.url("versions", pk))
    if not is_required(row):
        return redirect(admin.url("publish", pk))
    context = {
        "row": row,
        "draft": draft_of(row),
        "differences": rendered_differences(unpublished_differences(row)),
        "problems": problems,
        "note": note,
        "texts": PUBLISHING_TEXTS,
    }
    name = "admin/catalog/application/request.html"
    return admin.page(request, name, f"Request publishing of {row.title}", context)


def return_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    row = published_row(admin, request, pk)
    words, user = request.POST.get("words", "")[: LONGEST_WORDS + 1], request.user
    address = address_of(request)
    problems = refusal_reasons(send_back.execute, row, words, user, address=address)
    return report_outcome(
        admin, request, row, problems, "The draft was sent back with your comment."
    )


def draft_version_view(
    admin: Admin[Application], request: HttpRequest, pk: int, number: int
) -> HttpResponse:
    row = edited_row(admin, request, pk)
    version = get_version(row, number)
    problems = refusal_reasons(draft_version.execute, row, version, request.user)
    return report_outcome(
        admin, request, row, problems, f"The draft now has the content of version {number}."
    )


def take_over_view(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Show the draft merged with the live version. A POST with a choice for each conflict saves the
    result as the draft.
    """
    row = edited_row(admin, request, pk)
    draft, problems = draft_of(row), []
    if not is_outdated(row, draft):
        admin.message_user(request, "The draft already contains the changes of the live version.")
        return redirect(admin.url("versions", pk))
    chosen = choices_in(request.POST)
    if request.method == "POST":
        seen, live = (read_integer(request.POST.get(name, "")) for name in ("seen", "live"))
        act = take_over.execute
        problems = refusal_reasons(act, row, chosen, request.user, seen=seen, live=live)
        if not problems:
            done = f"The draft now has the changes of version {row.live_number}."
            admin.message_user(request, done, messages.SUCCESS)
            return redirect(admin.url("versions", pk))
        row.refresh_from_db()
        draft = draft_of(row)
    merged = merge_with_live(row, draft, chosen)
    context = {
        "row": row,
        "draft": draft,
        "clashes": [(rendered_clash(one), chosen.get(one.path, "")) for one in merged.clashes],
        "differences": rendered_differences(
            differences(shown_definition(draft).as_json(), merged.value)
        ),
        "problems": problems,
    }
    name = "admin/catalog/application/take_over.html"
    title = f"Merge the changes of version {row.live_number}"
    return admin.page(request, name, title, context)
