"""The requests of the rail: pages of the list, the search, and how conversations and folders are kept."""

from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.caller import Caller
from apps.chat import arrangement, handovers, rail
from apps.chat.access import own, own_lasting, person_stream, record_denial, under
from apps.chat.file_views import with_json_errors
from apps.chat.models import Conversation, Folder, PinnedApplication
from apps.chat.search import search as search_in
from apps.chat.visitors import find_application, find_conversation, visitor
from apps.errors import Refused
from apps.live.notifications import announce_growth

MOST_HITS = 20
LONGEST_QUERY = 500


@require_GET
@never_cache
@with_json_errors
def conversations(request: HttpRequest) -> HttpResponseBase:
    """A page of the list, `?folder=` of a folder's, `?part=archived` of the archive's.

    Without `after`, the beginning of the list with what is pinned, and the folders.
    """
    caller, after = visitor(request), request.GET.get("after", "")
    folder, part = request.GET.get("folder", ""), request.GET.get("part", "main")
    if folder:
        found = rail.of_folder(caller, arrangement.find_folder(caller, folder).pk)
    elif part == "archived":
        found = rail.of_part(caller, "archived")
    elif part != "main":
        raise Refused("bad_request", "part: write main or archived.")
    elif not after:
        return JsonResponse(rail.first_page(caller))
    else:
        found = rail.of_part(caller, "main")
    page = rail.read_page(caller, found, after)
    return JsonResponse({"conversations": page.rows, "next": page.next})


@require_GET
@never_cache
@with_json_errors
def search(request: HttpRequest) -> HttpResponseBase:
    """Conversations with the words of `?q=`, in their titles or in what was said, archived ones too."""
    caller, query = visitor(request), request.GET.get("q", "")[:LONGEST_QUERY]
    hits = search_in(own_lasting(caller), query, MOST_HITS)
    found = own(caller).select_related("application").in_bulk([hit.id for hit in hits])
    shown = [hit for hit in hits if hit.id in found]
    rows = rail.rows_of(caller, [found[hit.id] for hit in shown])
    return JsonResponse(
        {
            "hits": [
                {**row, "excerpt": hit.excerpt, "message": hit.message}
                for row, hit in zip(rows, shown, strict=True)
            ]
        }
    )


@require_POST
@with_json_errors
def arrange(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Pin, archive or move a conversation; the row as it is then."""
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    arrangement.arrange(caller, found, request.POST)
    return told(caller, conversation)


@require_http_methods(["GET", "POST"])
@never_cache
@with_json_errors
def go_on(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """The applications that the conversation may go on with; a POST lets it, with the `application`."""
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    if request.method == "GET":
        return JsonResponse({"applications": handovers.successors(caller, found)})
    handovers.hand_over(caller, found, request.POST.get("application", ""))
    return told(caller, conversation)


@require_POST
@with_json_errors
def restore(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """Bring a deleted conversation back. Raises Http404 when it was erased."""
    caller = visitor(request)
    mine = Conversation.objects.filter(owner=caller.bucket, deleted_at__isnull=False)
    found = mine.filter(under(slug), pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, slug)
        raise Http404("It was erased.")
    arrangement.restore(found)
    return told(caller, conversation)


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


@require_POST
def pin_application(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep an application at hand, or no longer. Raises Http404 for one that may not be used."""
    caller = visitor(request)
    application = find_application(caller, slug)
    if request.POST.get("pinned") == "true":
        PinnedApplication.objects.get_or_create(owner=caller.bucket, application=application)
    else:
        PinnedApplication.objects.filter(owner=caller.bucket, application=application).delete()
    return redirect("index")


def told(caller: Caller, conversation: UUID) -> JsonResponse:
    announce(caller)
    row = own(caller).select_related("application").get(pk=conversation)
    return JsonResponse({"conversation": rail.rows_of(caller, [row])[0]})


def all_folders(caller: Caller, folder: Folder | None = None) -> JsonResponse:
    announce(caller)
    return JsonResponse(
        {"folders": rail.folders_of(caller), "folder": None if folder is None else folder.pk}
    )


def announce(caller: Caller) -> None:
    """Tell the person's other pages that the list has changed."""
    async_to_sync(announce_growth)(person_stream(caller.bucket))
