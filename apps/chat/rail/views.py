"""The views for the sidebar: the conversation list, search, folders, and pinned applications."""

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.chat.file_views import check_length, with_json_errors
from apps.chat.models import PinnedApplication
from apps.chat.rail import content
from apps.chat.templatetags.tiles import tile
from apps.chat.visitors import find_application, find_conversation, visitor
from apps.conversations import forks
from apps.conversations.access import own, own_lasting, person_stream, record_denial, under
from apps.conversations.asking import handovers
from apps.conversations.asking.folder_content import add_file, folder_document, instruct
from apps.conversations.files.folder import describe_file
from apps.conversations.keeping import arrangement, selection
from apps.conversations.keeping.search import search_in
from apps.conversations.keeping.search_filters import read_filters, searched_applications
from apps.conversations.keeping.tags import used_tags
from apps.conversations.models import Conversation, Folder
from apps.errors import Refused
from apps.live.hub import HUB
from apps.live.journal.notifications import announce_growth

MOST_HITS = 20
LONGEST_QUERY = 500
LONGEST_DETAIL = 200


@require_GET
@never_cache
@with_json_errors
def conversations(request: HttpRequest) -> HttpResponseBase:
    """Return one page of the conversation list as JSON.

    `?folder=` selects a folder, and `?part=archived` the archive. `after` is the cursor of the
    previous page. Without `after`, the main list includes pinned conversations and folders.
    """
    caller, after = visitor(request), request.GET.get("after", "")
    folder, part = request.GET.get("folder", ""), request.GET.get("part", "main")
    if folder:
        found = content.of_folder(caller, arrangement.find_folder(caller, folder).pk)
    elif part == "archived":
        found = content.of_part(caller, "archived")
    elif part != "main":
        raise Refused("bad_request", "part: use main or archived.")
    elif not after:
        return JsonResponse(content.first_page(caller))
    else:
        found = content.of_part(caller, "main")
    page = content.read_page(caller, found, after)
    return JsonResponse({"conversations": page.rows, "next": page.next})


@require_GET
@never_cache
@with_json_errors
def search(request: HttpRequest) -> HttpResponseBase:
    """Return the user's conversations whose title or messages contain the words in `?q=`.

    The filters are `?app=` (an application's slug), `?days=` (the maximum age in days), `?tag=` and
    `?has=` (`files` or `code`). `?has=` can be repeated.
    """
    caller, query = visitor(request), request.GET.get("q", "")[:LONGEST_QUERY]
    filters = read_filters(request.GET.dict(), request.GET.getlist("has"))
    hits = search_in(own_lasting(caller), query, MOST_HITS, filters)
    found = own(caller).select_related("application").in_bulk([hit.id for hit in hits])
    shown = [hit for hit in hits if hit.id in found]
    rows = content.rows_of(caller, [found[hit.id] for hit in shown])
    return JsonResponse(
        {
            "hits": [
                {**row, "excerpt": hit.excerpt, "message": hit.message}
                for row, hit in zip(rows, shown, strict=True)
            ]
        }
    )


@require_GET
@never_cache
@with_json_errors
def search_filters(request: HttpRequest) -> HttpResponseBase:
    """Return the applications and tags that the user can choose as search filters."""
    mine = own_lasting(visitor(request))
    return JsonResponse({"applications": searched_applications(mine), "tags": used_tags(mine)})


@require_POST
@with_json_errors
def arrange(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Pin, archive, move or tag the conversation, and return it as JSON."""
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    arrangement.arrange(caller, found, request.POST)
    return read_state_response(caller, conversation)


@require_POST
@with_json_errors
def change_selected(request: HttpRequest) -> HttpResponseBase:
    """Archive, move, tag, delete or restore several conversations. Return the IDs of all changed
    conversations, and the changed conversations that are not deleted.
    """
    caller = visitor(request)
    changed = selection.change_selected(HUB, caller, request.POST)
    announce(caller)
    rows = own(caller).select_related("application").filter(pk__in=changed)
    return JsonResponse(
        {
            "changed": [str(key) for key in changed],
            "conversations": content.rows_of(caller, rows),
        }
    )


@require_http_methods(["GET", "POST"])
@never_cache
@with_json_errors
def hand_over(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Return the applications that can continue the conversation. A POST hands the conversation
    over to the application in the form field `application`.
    """
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    if request.method == "GET":
        offered = handovers.successors(caller, found)
        return JsonResponse({"applications": [successor(one) for one in offered]})
    handovers.hand_over(caller, found, request.POST.get("application", ""))
    return read_state_response(caller, conversation)


def successor(application: Application) -> dict[str, Any]:
    detail = application.description[:LONGEST_DETAIL]
    return {"slug": application.slug, "title": application.title, "detail": detail} | tile(
        application
    )


@require_POST
@with_json_errors
def fork(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Copy the conversation up to the answer in the form field `message`, and return the copy as
    JSON.
    """
    caller = visitor(request)
    message = read_uuid(request.POST.get("message", ""))
    made = forks.fork(caller, slug, conversation, message)
    return read_state_response(caller, made.pk, status=201)


def read_uuid(written: str) -> UUID:
    """Parse a message's ID. Raises `Refused` if it is not a UUID."""
    try:
        return UUID(written)
    except ValueError:
        raise Refused("bad_request", "message: use the ID of a message.") from None


@require_POST
@with_json_errors
def restore(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Restore a deleted conversation. Raises Http404 if it was permanently deleted."""
    caller = visitor(request)
    mine = Conversation.objects.filter(owner=caller.bucket, deleted_at__isnull=False)
    found = mine.filter(under(slug), pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, slug)
        raise Http404("The conversation was permanently deleted.")
    arrangement.restore(found)
    return read_state_response(caller, conversation)


@require_POST
@with_json_errors
def create_folder(request: HttpRequest) -> HttpResponseBase:
    caller = visitor(request)
    folder = arrangement.create_folder(caller, request.POST.get("name", ""))
    return all_folders(caller, folder)


@require_POST
@with_json_errors
def change_folder(request: HttpRequest, folder: int) -> HttpResponseBase:
    caller = visitor(request)
    found = arrangement.find_folder(caller, str(folder))
    arrangement.change_folder(caller, found, request.POST)
    return all_folders(caller, found)


@require_POST
@with_json_errors
def delete_folder(request: HttpRequest, folder: int) -> HttpResponseBase:
    caller = visitor(request)
    arrangement.delete_folder(arrangement.find_folder(caller, str(folder)))
    return all_folders(caller)


@require_http_methods(["GET", "POST"])
@never_cache
@with_json_errors
def folder_content(request: HttpRequest, folder: int) -> HttpResponseBase:
    """Return the folder's instructions and files. A POST first stores the instructions from the
    form field `instructions`.
    """
    found = arrangement.find_folder(visitor(request), str(folder))
    if request.method == "POST":
        instruct(found, request.POST.get("instructions", ""))
    return JsonResponse(folder_document(found))


# `receive_file` checks the CSRF token. The check reads the whole form, so the length must be
# checked first.
@csrf_exempt
@with_json_errors
@require_POST
def upload_to_folder(request: HttpRequest, folder: int) -> HttpResponseBase:
    check_length(request, settings.CHAT_UPLOAD_MAX_BYTES)
    return receive_file(request, folder)


@csrf_protect
def receive_file(request: HttpRequest, folder: int) -> HttpResponseBase:
    """Store the uploaded file in the folder."""
    caller = visitor(request)
    found = arrangement.find_folder(caller, str(folder))
    sent = request.FILES.getlist("file")
    if len(sent) != 1:
        raise Refused("bad_request", "file: send one file.")
    stored = add_file(caller, found, sent[0].name or "", sent[0])
    return JsonResponse(describe_file(stored), status=201)


@require_POST
def pin_application(request: HttpRequest, slug: str) -> HttpResponse:
    """Pin or unpin an application. Raises Http404 if the user cannot use the application."""
    caller = visitor(request)
    application = find_application(caller, slug)
    if request.POST.get("pinned") == "true":
        PinnedApplication.objects.get_or_create(owner=caller.bucket, application=application)
    else:
        PinnedApplication.objects.filter(owner=caller.bucket, application=application).delete()
    return redirect("index")


def read_state_response(caller: Caller, conversation: UUID, status: int = 200) -> JsonResponse:
    announce(caller)
    row = own(caller).select_related("application").get(pk=conversation)
    return JsonResponse({"conversation": content.rows_of(caller, [row])[0]}, status=status)


def all_folders(caller: Caller, folder: Folder | None = None) -> JsonResponse:
    announce(caller)
    return JsonResponse(
        {"folders": content.folders_of(caller), "folder": None if folder is None else folder.pk}
    )


def announce(caller: Caller) -> None:
    """Notify the user's other open pages that the conversation list has changed."""
    async_to_sync(announce_growth)(person_stream(caller.bucket))
