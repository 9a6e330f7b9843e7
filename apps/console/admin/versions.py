"""The published versions of an application in the admin: compared, restored, withdrawn, archived."""

from itertools import islice
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.addresses import address_of
from apps.catalog.history.display import MOST_SHOWN, rendered_differences
from apps.catalog.models import Application, ApplicationDraft, Role
from apps.catalog.versions import publication
from apps.catalog.versions.content_changes import content_changes, live_content
from apps.catalog.versions.drafts import draft_of, last_save
from apps.catalog.versions.publishing_requests import is_required, publishing_refusal, request_of
from apps.catalog.versions.rebase import is_outdated
from apps.catalog.versions.states import state_of
from apps.catalog.versions.version_notes import LONGEST_NOTE
from apps.console.admin.compared_versions import (
    DRAFT,
    between,
    refusals,
    shown_change,
    side,
    version_of,
)
from apps.console.admin.history import PER_PAGE
from apps.console.admin.theme import Admin
from apps.console.operated import ERASE, PUBLISH, has_role


class ApplicationVersions(Admin[Application]):
    """Pages beside the form of an application. Whoever sees it may look, publishers act."""

    def get_urls(self) -> list[URLPattern]:
        look, act = require_safe, require_POST
        note = require_http_methods(["GET", "HEAD", "POST"])
        route = "<int:pk>/versions/"
        return [
            self.staff_path(route, look(self.versions_view), "versions"),
            self.staff_path(f"{route}compare/", look(self.compare_view), "compare"),
            self.staff_path(f"{route}publish/", note(self.publish_view), "publish"),
            self.staff_path(
                f"{route}<int:number>/restore/", act(self.restore_version_view), "restore_version"
            ),
            self.staff_path(f"{route}<int:number>/withdraw/", act(self.withdraw_view), "withdraw"),
            self.staff_path("<int:pk>/archive/", act(self.archive_view), "archive"),
            self.staff_path("<int:pk>/unarchive/", act(self.unarchive_view), "unarchive"),
            *super().get_urls(),
        ]

    def seen_row(self, request: HttpRequest, pk: int) -> Application:
        """Raises Http404, PermissionDenied."""
        row: Application | None = self.get_object(request, str(pk))
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return row

    def published_row(self, request: HttpRequest, pk: int) -> Application:
        """A row that the person may publish. Raises Http404, PermissionDenied."""
        row = self.seen_row(request, pk)
        if not self.may_publish(request, row):
            raise PermissionDenied
        return row

    def archived_row(self, request: HttpRequest, pk: int) -> Application:
        """A row that the person may archive. Raises Http404, PermissionDenied."""
        row = self.seen_row(request, pk)
        if not self.may_archive(request, row):
            raise PermissionDenied
        return row

    def may_publish(self, request: HttpRequest, row: Application | None = None) -> bool:
        return bool(request.user.has_perm(PUBLISH) and self.has_change_permission(request, row))

    def may_archive(self, request: HttpRequest, row: Application) -> bool:
        is_owner = has_role(request, row, Role.OWNER)
        return bool(is_owner and request.user.has_perm("catalog.delete_application"))

    def has_delete_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        """Deleting is erasing: it has a permission of its own, and follows archiving."""
        may = super().has_delete_permission(request, obj) and request.user.has_perm(ERASE)
        return bool(may and (obj is None or obj.archived_at is not None))

    def versions_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = self.seen_row(request, pk)
        versions = row.versions.defer("document").order_by("-number")
        draft, state = draft_of(row), state_of(row)
        context = {
            "row": row,
            "state": state,
            "draft": draft if draft.pk else None,
            "is_outdated": is_outdated(row, draft),
            "may_change": self.has_change_permission(request, row) and row.archived_at is None,
            **review_context(row, draft, request.user),
            "page": Paginator(versions, PER_PAGE).get_page(request.GET.get("page")),
            "pending": content_changes(row.manifest, *live_content(row)) if row.live_number else [],
            "may_publish": self.may_publish(request, row),
            "may_archive": self.may_archive(request, row),
            "may_erase": self.has_delete_permission(request, row),
        }
        name = "admin/catalog/application/versions.html"
        return self.page(request, name, f"Versions of {row.title}", context)

    def compare_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """`?from=1&to=draft`. Raises Http404."""
        row = self.seen_row(request, pk)
        one, other = (side(row, request.GET.get(name, "")) for name in ("from", "to"))
        numbers = row.versions.values_list("number", flat=True)
        context = {
            "row": row,
            "one": one.name,
            "other": other.name,
            "numbers": [*([DRAFT] if draft_of(row).pk else []), *numbers],
            "differences": rendered_differences(islice(between(one, other), MOST_SHOWN)),
        }
        name = "admin/catalog/application/compare.html"
        return self.page(request, name, f"{row.title}: {one.name} and {other.name}", context)

    def publish_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what publishing would change; a POST with a note publishes."""
        row = self.published_row(request, pk)
        draft = draft_of(row)
        problems: list[str] = []
        if request.method == "POST":
            is_over, only_new = ("over" in request.POST, "only_new" in request.POST)
            if request.POST.get("seen") != str(draft.version):
                said = last_save(draft if draft.pk else None, cast(Any, request.user))
                problems = [f"{said} Below is what it would change now."]
            elif not (
                problems := refusals(
                    lambda: publication.publish(
                        row,
                        request.POST.get("note", ""),
                        user=request.user,  # type: ignore[arg-type]
                        only_new=only_new,
                        is_over=is_over,
                        address=address_of(request),
                    )
                )
            ):
                row.refresh_from_db()
                self.message_user(request, f"Version {row.live_number} is live.")
                return redirect(self.url("versions", pk))
        review = review_context(row, draft, request.user)
        asked = review["asked"]
        context = {
            "row": row,
            "draft": draft,
            **review,
            "is_outdated": is_outdated(row, draft),
            "differences": shown_change(row),
            "problems": problems,
            "note": request.POST.get("note", "" if asked is None else asked.note),
            "longest_note": LONGEST_NOTE,
        }
        name = "admin/catalog/application/publish.html"
        return self.page(request, name, f"Publish {row.title}", context)

    def restore_version_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        row = self.published_row(request, pk)
        version_of(row, number)
        note = request.POST.get("note", "")
        problems = refusals(
            lambda: publication.restore(row, number, note, user=request.user)  # type: ignore[arg-type]
        )
        return self.told(request, row, problems, f"What version {number} was is live again.")

    def withdraw_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        row = self.published_row(request, pk)
        version = version_of(row, number)
        problems = refusals(lambda: publication.withdraw(version))
        return self.told(request, row, problems, f"Nobody can use version {number} any more.")

    def archive_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = self.archived_row(request, pk)
        publication.archive(row)
        return self.told(
            request, row, [], f"{row.title} is archived. All that belongs to it stays."
        )

    def unarchive_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = self.archived_row(request, pk)
        publication.unarchive(row)
        return self.told(request, row, [], f"{row.title} is out of the archive.")

    def told(
        self, request: HttpRequest, row: Application, problems: list[str], done: str
    ) -> HttpResponse:
        for problem in problems:
            self.message_user(request, problem, messages.ERROR)
        if not problems:
            self.message_user(request, done, messages.SUCCESS)
        return redirect(self.url("versions", row.pk))


def review_context(row: Application, draft: ApplicationDraft, user: Any) -> dict[str, Any]:
    """What pages say of publishing by two people; `asked` is the request, open or sent back."""
    if not is_required(row):
        return {"takes_two": False, "asked": None, "refusal": ""}
    refusal = publishing_refusal(row, draft, user)
    return {"takes_two": True, "asked": request_of(draft), "refusal": refusal}
