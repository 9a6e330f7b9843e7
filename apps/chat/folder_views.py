"""The instructions and the files of a folder in the rail, which belong to its owner alone."""

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from apps.chat import folder_content
from apps.chat.arrangement import find_folder
from apps.chat.file_views import check_length, with_json_errors
from apps.chat.folders import described
from apps.chat.visitors import visitor
from apps.errors import Refused


@require_http_methods(["GET", "POST"])
@never_cache
@with_json_errors
def content(request: HttpRequest, folder: int) -> HttpResponseBase:
    """What the folder brings to its conversations; a POST changes its `instructions` before."""
    found = find_folder(visitor(request), str(folder))
    if request.method == "POST":
        folder_content.instruct(found, request.POST.get("instructions", ""))
    return JsonResponse(folder_content.document_of(found))


@csrf_exempt  # `take` checks it: the check reads the whole form, so the length is looked at first
@with_json_errors
@require_POST
def upload(request: HttpRequest, folder: int) -> HttpResponseBase:
    check_length(request)
    return take(request, folder)


@csrf_protect
def take(request: HttpRequest, folder: int) -> HttpResponseBase:
    """Take one file for a folder."""
    caller = visitor(request)
    found = find_folder(caller, str(folder))
    sent = request.FILES.getlist("file")
    if len(sent) != 1:
        raise Refused("bad_request", "file: send one file.")
    stored = folder_content.add_file(caller, found, sent[0].name or "", sent[0])
    return JsonResponse(described(stored), status=201)
