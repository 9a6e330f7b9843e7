"""Pages of an application's draft: publishing is requested or sent back, live changes are taken over."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.addresses import address_of
from apps.catalog.history.differences import differences
from apps.catalog.history.display import MOST_SHOWN, rendered_clash, rendered_differences
from apps.catalog.models import Application
from apps.catalog.versions.drafts import DraftOvertaken, draft_from_version, draft_of
from apps.catalog.versions.publishing_requests import (
    LONGEST_WORDS,
    is_required,
    request_publishing,
    send_back,
)
from apps.catalog.versions.rebase import (
    ConflictsOpen,
    is_outdated,
    merge_with_live,
    readable,
    take_over_live,
)
from apps.catalog.versions.version_notes import LONGEST_NOTE
from apps.console.admin.compared_versions import refusals, shown_change, version_of
from apps.console.admin.edit_merge import CHOICE
from apps.console.admin.versions import ApplicationVersions
from apps.integers import read_integer

OVERTAKEN = "{} Below is what is in it now."


class DraftPages(ApplicationVersions):
    def get_urls(self) -> list[URLPattern]:
        page = require_http_methods(["GET", "HEAD", "POST"])
        route = "<int:pk>/versions/"
        return [
            self.staff_path(f"{route}request/", page(self.request_view), "request"),
            self.staff_path(f"{route}return/", require_POST(self.return_view), "return"),
            self.staff_path(f"{route}take-over/", page(self.take_over_view), "take_over"),
            self.staff_path(
                f"{route}<int:number>/draft/",
                require_POST(self.draft_version_view),
                "draft_version",
            ),
            *super().get_urls(),
        ]

    def edited_row(self, request: HttpRequest, pk: int) -> Application:
        """A row that the person may change. Raises Http404, PermissionDenied."""
        row = self.seen_row(request, pk)
        if not self.has_change_permission(request, row) or row.archived_at is not None:
            raise PermissionDenied
        return row

    def request_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what publishing would change; a POST with a note asks somebody else to publish it."""
        row = self.edited_row(request, pk)
        note, problems = request.POST.get("note", ""), []
        if request.method == "POST":
            seen, user = read_integer(request.POST.get("seen", "")), request.user
            address = address_of(request)
            problems = refusals(lambda: asked(row, note, user, seen=seen, address=address))
            if not problems:
                self.message_user(request, "Somebody else can publish it now.", messages.SUCCESS)
                return redirect(self.url("versions", pk))
        if not is_required(row):
            return redirect(self.url("publish", pk))
        context = {
            "row": row,
            "draft": draft_of(row),
            "differences": shown_change(row),
            "problems": problems,
            "note": note,
            "longest_note": LONGEST_NOTE,
        }
        name = "admin/catalog/application/request.html"
        return self.page(request, name, f"Request publishing of {row.title}", context)

    def return_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = self.published_row(request, pk)
        words, user = request.POST.get("words", "")[: LONGEST_WORDS + 1], request.user
        address = address_of(request)
        problems = refusals(lambda: send_back(row, words, user, address=address))  # type: ignore[arg-type]
        return self.told(request, row, problems, "It was sent back with your words.")

    def draft_version_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        row = self.edited_row(request, pk)
        version = version_of(row, number)
        problems = refusals(lambda: draft_from_version(row, version, request.user))  # type: ignore[arg-type]
        return self.told(request, row, problems, f"What version {number} was is the draft now.")

    def take_over_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show how the draft and the live version are merged; a POST with the choices saves it."""
        row = self.edited_row(request, pk)
        draft, problems = draft_of(row), []
        if not is_outdated(row, draft):
            self.message_user(request, "The draft has the changes of the live version already.")
            return redirect(self.url("versions", pk))
        chosen = {
            name.removeprefix(CHOICE): str(value)
            for name, value in request.POST.items()
            if name.startswith(CHOICE)
        }
        if request.method == "POST":
            seen, live = (read_integer(request.POST.get(name, "")) for name in ("seen", "live"))
            options = {"seen": seen, "live": live}
            problems = refusals(lambda: taken_over(row, chosen, request.user, **options))
            if not problems:
                done = f"The draft has the changes of version {row.live_number} now."
                self.message_user(request, done, messages.SUCCESS)
                return redirect(self.url("versions", pk))
            row.refresh_from_db()
            draft = draft_of(row)
        merged, clashes = merge_with_live(row, draft, chosen)
        brought = [*differences(readable(draft), merged)][:MOST_SHOWN]
        context = {
            "row": row,
            "draft": draft,
            "clashes": [(rendered_clash(one), chosen.get(one.path, "")) for one in clashes],
            "differences": rendered_differences(brought),
            "problems": problems,
        }
        name = "admin/catalog/application/take_over.html"
        title = f"Take over the changes of version {row.live_number}"
        return self.page(request, name, title, context)


def asked(row: Application, note: str, user: Any, *, seen: int | None, address: str) -> None:
    """Raises `ValidationError`."""
    try:
        request_publishing(row, note, user, seen=seen, address=address)
    except DraftOvertaken as error:
        raise ValidationError(OVERTAKEN.format(error)) from error


def taken_over(
    row: Application, choices: dict[str, str], user: Any, *, seen: int | None, live: int | None
) -> None:
    """Raises `ValidationError`."""
    try:
        take_over_live(row, choices, user, seen=seen, live=live)
    except DraftOvertaken as error:
        raise ValidationError(OVERTAKEN.format(error)) from error
    except ConflictsOpen as error:
        raise ValidationError(str(error)) from error
