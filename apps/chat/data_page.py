"""The page on which people bring in conversations, take theirs along, and have them deleted."""

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
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.catalog.access import usable
from apps.chat.access import person_stream
from apps.chat.account_deletion import (
    belongings_of,
    check_deletable,
    delete_account,
    delete_conversations,
)
from apps.chat.account_page import person
from apps.chat.composer.settings_page import RetentionForm, row_of
from apps.chat.imports.files import LARGEST_FILE
from apps.chat.imports.tree import Unreadable
from apps.chat.imports.writer import import_file
from apps.chat.session_end import announce_end
from apps.chat.visitors import visitor
from apps.chat.whole_export import file_name, whole_export
from apps.errors import Refused
from apps.live.notifications import announce_growth


@login_required
@require_safe
@never_cache
def data(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **told: Any) -> HttpResponse:
    """`told` says what was done, or why nothing was."""
    caller = visitor(request)
    context = {
        "applications": usable(caller).only("slug", "title"),
        "largest_file": LARGEST_FILE,
        "belongings": belongings_of(person(request).pk),
        "retention_form": RetentionForm(instance=row_of(request), auto_id="retention-%s"),
        **told,
    }
    return render(request, "chat/data.html", context, status=status)


@login_required
@require_POST
def import_conversations(request: HttpRequest) -> HttpResponse:
    """The form fields are a `file`, and the slug of an `application`."""
    caller = visitor(request)
    slug = request.POST.get("application", "")
    chosen: dict[str, Any] = {"chosen": slug}
    application = usable(caller).filter(slug=slug).first()
    if application is None:
        problem = "application: choose one that you may use."
        return page(request, 400, import_problem=problem)
    file = request.FILES.get("file")
    if file is None or file.file is None:
        return page(request, 400, import_problem="file: choose a file first.", **chosen)
    if file.size is None or file.size > LARGEST_FILE:
        return page(request, 400, import_problem=too_large(), **chosen)
    try:
        report = import_file(caller, application, file.file)
    except Unreadable as error:
        return page(request, 400, import_problem=str(error), **chosen)
    async_to_sync(announce_growth)(person_stream(caller.bucket))
    return page(request, report=report, imported_into=application, **chosen)


def too_large() -> str:
    megabytes = LARGEST_FILE // 1024 // 1024
    return gettext(
        "The file has more than {megabytes} MB. Unpack a ZIP, and choose the file conversations.json in it."
    ).format(megabytes=megabytes)


@login_required
@require_safe
@never_cache
def export(request: HttpRequest) -> StreamingHttpResponse:
    """All conversations of the person, as a ZIP that is made while it is sent."""
    name = file_name(timezone.now())
    return StreamingHttpResponse(
        whole_export(person(request).pk),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete_all(request: HttpRequest) -> HttpResponse:
    """Delete all conversations, once the form field `confirmation` says so."""
    caller, user = visitor(request), person(request)
    context = {"belongings": belongings_of(user.pk)}
    if request.method != "POST":
        return render(request, "chat/data_delete.html", context)
    if request.POST.get("confirmation", "").strip().strip('“”"').lower() != "delete":
        problem = gettext("Nothing was deleted. Write the word “delete” to go on.")
        return render(request, "chat/data_delete.html", {**context, "problem": problem}, status=400)
    count = delete_conversations(caller, user.pk)
    announce_end(user)  # whose pages then look at what there is
    messages.success(
        request,
        ngettext(
            "{count} conversation is deleted.", "{count} conversations are deleted.", count
        ).format(count=count),
    )
    return redirect("data")


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete_own_account(request: HttpRequest) -> HttpResponse:
    """Delete the account, once the form field `confirmation` is its username."""
    caller, user = visitor(request), person(request)
    context = {"belongings": belongings_of(user.pk), "refusal": refusal_of(request)}
    if request.method != "POST":
        return render(request, "chat/account_delete.html", context)
    if request.POST.get("confirmation", "").strip() != user.get_username():
        context["problem"] = gettext("Nothing was deleted. Write your username to go on.")
        return render(request, "chat/account_delete.html", context, status=400)
    try:
        delete_account(caller, user)
    except Refused as error:
        context["refusal"] = str(error)
        return render(request, "chat/account_delete.html", context, status=409)
    logout(request)
    announce_end(user)
    messages.success(request, gettext("Your account is deleted."))
    return redirect("login")


def refusal_of(request: HttpRequest) -> str:
    try:
        check_deletable(person(request))
    except Refused as error:
        return str(error)
    return ""
