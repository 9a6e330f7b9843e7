"""The page on which people bring in conversations, take theirs along, and have them deleted."""

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.catalog.access import usable
from apps.chat.access import person_stream
from apps.chat.imports.files import LARGEST_FILE
from apps.chat.imports.tree import Unreadable
from apps.chat.imports.writer import import_file
from apps.chat.visitors import visitor
from apps.live.notifications import announce_growth


@login_required
@require_safe
@never_cache
def data(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **told: object) -> HttpResponse:
    """`told` says what was done, or why nothing was."""
    caller = visitor(request)
    context = {
        "applications": usable(caller).only("slug", "title"),
        "largest_file": LARGEST_FILE,
        **told,
    }
    return render(request, "chat/data.html", context, status=status)


@login_required
@require_POST
def import_conversations(request: HttpRequest) -> HttpResponse:
    """The form fields are a `file`, and the slug of an `application`."""
    caller = visitor(request)
    slug = request.POST.get("application", "")
    chosen = {"chosen": slug}
    application = usable(caller).filter(slug=slug).first()
    if application is None:
        problem = "application: choose one that you may use."
        return page(request, 400, import_problem=problem)
    file = request.FILES.get("file")
    if file is None:
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
    return f"The file has more than {megabytes} MB. Unpack a ZIP, and choose the file conversations.json in it."
