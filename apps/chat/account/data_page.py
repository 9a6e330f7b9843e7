"""The page on which users import, export and delete their conversations."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.catalog.access import usable
from apps.chat.account.deletion import (
    belongings_of,
    check_deletable,
    delete_account,
    delete_conversations,
)
from apps.chat.account.settings_page import RetentionForm, preferences_row
from apps.chat.exports.archive import archive_name, whole_export
from apps.chat.imports.files import EXPECTED, LARGEST_FILE
from apps.chat.imports.tree import UnreadableConversation
from apps.chat.imports.writer import ConversationImportReport, import_file
from apps.chat.visitors import account_user, visitor
from apps.conversations.access import person_stream
from apps.doors.sessions import announce_end
from apps.errors import Refused
from apps.live.journal.notifications import announce_growth


@login_required
@require_safe
@never_cache
def data(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **told: Any) -> HttpResponse:
    """Render the page for importing, exporting and deleting data. `told` adds a success or error
    message to the template context.
    """
    caller = visitor(request)
    context = {
        "applications": usable(caller).only("slug", "title", "description"),
        "largest_file": LARGEST_FILE,
        "belongings": belongings_of(account_user(request).pk),
        "retention_form": RetentionForm(instance=preferences_row(request), auto_id="retention-%s"),
        **told,
    }
    return render(request, "chat/data.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_conversations(request: HttpRequest) -> HttpResponse:
    """Import conversations from the uploaded file into the application whose slug is in the form
    field `application`. A GET, for example of a bookmark, is redirected to the form.
    """
    if request.method != "POST":
        return redirect("data")
    caller = visitor(request)
    slug = request.POST.get("application", "")
    chosen: dict[str, Any] = {"chosen": slug}
    application = usable(caller).filter(slug=slug).first()
    if application is None:
        problem = gettext("Choose an app that you have access to.")
        return page(request, 400, import_problem=problem)
    file = request.FILES.get("file")
    if file is None or file.file is None:
        return page(request, 400, import_problem=gettext("Choose a file first."), **chosen)
    chosen["import_file"] = file.name
    if file.size is None or file.size > LARGEST_FILE:
        return page(request, 400, import_problem=too_large(), **chosen)
    try:
        report = import_file(caller, application, file.file)
    except UnreadableConversation as error:
        return page(request, 400, import_problem=str(error), **chosen)
    if report.unreadable and not report.conversations and not report.duplicates:
        return page(request, 400, import_problem=unreadable(report), **chosen)
    async_to_sync(announce_growth)(person_stream(caller.bucket))
    return page(request, report=report, imported_into=application, **chosen)


def unreadable(report: ConversationImportReport) -> str:
    """Return the reasons why the file has no readable conversations, and the accepted formats."""
    reasons = "; ".join(dict.fromkeys(reason for _, reason in report.skipped))
    found = gettext("It has no readable conversations ({reasons}).").format(reasons=reasons)
    return f"{found} {EXPECTED}"


def too_large() -> str:
    megabytes = LARGEST_FILE // 1024 // 1024
    return gettext(
        "The file is larger than {megabytes} MB. If it’s a ZIP, unpack it and choose the conversations.json file inside."
    ).format(megabytes=megabytes)


@login_required
@require_safe
@never_cache
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Stream all of the user's data as a ZIP file."""
    name = archive_name(timezone.now())
    return StreamingHttpResponse(
        whole_export(account_user(request).pk),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete_all(request: HttpRequest) -> HttpResponse:
    """Show the confirmation page. A POST deletes all conversations if the form field `confirmation`
    contains “delete”.
    """
    caller, user = visitor(request), account_user(request)
    context = {"belongings": belongings_of(user.pk)}
    if request.method != "POST":
        return render(request, "chat/data_delete.html", context)
    if request.POST.get("confirmation", "").strip().strip('“”"').lower() != "delete":
        problem = gettext("Nothing was deleted. Type the word “delete” to continue.")
        return render(request, "chat/data_delete.html", {**context, "problem": problem}, status=400)
    count = delete_conversations(caller, user.pk)
    announce_end(user)  # The user's open pages then reload their lists.
    messages.success(
        request,
        ngettext(
            "{count} conversation was deleted.", "{count} conversations were deleted.", count
        ).format(count=count),
    )
    return redirect("data")


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete_own_account(request: HttpRequest) -> HttpResponse:
    """Show the confirmation page. A POST deletes the account if the form field `confirmation`
    contains the username.
    """
    caller, user = visitor(request), account_user(request)
    context = {"belongings": belongings_of(user.pk), "refusal": refusal_of(request)}
    if request.method != "POST":
        return render(request, "chat/account_delete.html", context)
    if request.POST.get("confirmation", "").strip() != user.get_username():
        context["problem"] = gettext("Nothing was deleted. Type your username to continue.")
        return render(request, "chat/account_delete.html", context, status=400)
    try:
        report = delete_account(caller, user)
    except Refused as error:
        context["refusal"] = str(error)
        return render(request, "chat/account_delete.html", context, status=409)
    logout(request)
    announce_end(user)
    words = gettext("Your account was deleted. Your erasure report number is {report}.")
    messages.success(request, words.format(report=report.pk))
    return redirect("login")


def refusal_of(request: HttpRequest) -> str:
    try:
        check_deletable(account_user(request))
    except Refused as error:
        return str(error)
    return ""
