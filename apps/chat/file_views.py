"""Upload, list, show and delete a visitor's files. Files of others are reported as missing."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.caller import Caller
from apps.chat import folders, unsent_files
from apps.chat.access import own, under
from apps.chat.file_types import is_written
from apps.chat.models import Conversation
from apps.chat.notes.access import is_file_of_notes
from apps.chat.visitors import find_application, visitor
from apps.errors import FileMissing, FileRefused, Refused, TooLarge
from apps.integers import read_integer
from apps.runs.error_texts import error_text
from apps.workspace.local import files
from apps.workspace.local.downloads import headers_of, part_of, pieces
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import write_path

OVERHEAD_BYTES = 16 * 1024
"""Bytes of a form beside its file."""
SHOWN = re.compile(
    r"image/(png|jpeg|gif|webp|avif|svg\+xml)|application/pdf|(audio|video)/[\w.+-]+"
)
"""Types that a browser displays; text is shown as plain text, everything else is a download."""
LOCKED = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; media-src 'self'"
"""The policy of a file that is opened by itself: no scripts, no requests, an origin of its own."""
LOCKED_PDF = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'"
"""Browsers show no PDF in a sandbox, and their PDF viewers are sandboxed anyway."""

View = Callable[..., HttpResponseBase]


def with_json_errors(view: View) -> View:
    """Answer refusals as JSON, which the page's scripts read."""

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        try:
            return view(request, *arguments, **named)
        except Http404:
            return problem("conversation_not_found", gettext("There is no such conversation."), 404)
        except FileMissing:
            return problem("file_missing", gettext("There is no such file."), 404)
        except (Refused, FileRefused) as error:
            status = 413 if isinstance(error, FileRefused) else error.http_status
            return problem(error.code, error_text(error), status)

    return answer


def problem(code: str, text: str, status: int) -> JsonResponse:
    return JsonResponse({"error": {"message": text, "code": code}}, status=status)


@csrf_exempt  # `take` checks it: the check reads the whole form, so the length is looked at first
@with_json_errors
@require_POST
def upload(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Take one file for a conversation, which need not have begun yet."""
    check_length(request)
    return take(request, slug)


def check_length(request: HttpRequest) -> None:
    """Raises `Refused` for a form that cannot hold a file of a possible size."""
    limit = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT
    if read_integer(request.META.get("CONTENT_LENGTH") or "0", limit + OVERHEAD_BYTES) is None:
        raise TooLarge(
            "too_large",
            gettext("The file is too large; at most {limit} bytes are possible.").format(
                limit=number_format(limit, force_grouping=True)
            ),
        )


@csrf_protect
def take(request: HttpRequest, slug: str) -> HttpResponseBase:
    caller = visitor(request)
    application = find_application(caller, slug)
    conversation = read_conversation(request.POST.get("conversation", ""))
    sent = request.FILES.getlist("file")
    if len(sent) != 1:
        raise Refused("bad_request", "file: send one file.")
    known = Conversation.objects.filter(pk=conversation).first()
    if known is not None and not is_own(known, caller, application.pk):
        raise Http404("There is no such conversation.")
    unsent_files.delete(files.buckets_of(caller.bucket), but=conversation)
    stored = folders.store_upload(caller, conversation, sent[0].name or "", sent[0])
    return JsonResponse(folders.described(stored), status=201)


def read_conversation(text: str) -> UUID:
    """Raises `Refused`."""
    if not folders.is_uuid(text):
        raise Refused("bad_request", "conversation: write the id of a conversation.")
    return UUID(text)


def is_own(conversation: Conversation, caller: Caller, application: int) -> bool:
    return conversation.owner == caller.bucket and conversation.application_id == application


@with_json_errors
@require_GET
def listing(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """The files of a conversation. Raises Http404 for one that is not the visitor's."""
    caller = visitor(request)
    if not own(caller).filter(under(slug), pk=conversation).exists():
        raise Http404("There is no such conversation.")
    found = JsonResponse({"files": folders.listed(caller, conversation)})
    found["Cache-Control"] = "no-store"
    return found


@require_http_methods(["GET", "HEAD", "DELETE"])
def file(request: HttpRequest, bucket: str, name: str) -> HttpResponseBase:
    """Show or delete a file. Raises Http404 for one that the visitor may not read."""
    caller = visitor(request)
    path = write_path(bucket, name)
    try:
        if request.method == "DELETE":
            files.delete(caller.bucket, path)
            return HttpResponse(status=204)
        return show(request, files.find(reader_of(caller, bucket, name), path))
    except FileRefused:
        raise Http404("There is no such file.") from None


def reader_of(caller: Caller, bucket: str, name: str) -> str:
    """The bucket to read a file from; notes of a team have their files in one of its own."""
    if is_file_of_notes(caller, bucket, name):
        return bucket
    return files.reader_of(caller.bucket, write_path(bucket, name))


def show(request: HttpRequest, row: StoredFile) -> HttpResponseBase:
    """Raises `FileMissing` when the bytes are gone."""
    unchanged = get_conditional_response(request, etag=f'"{row.etag}"')
    if unchanged is not None:
        return unchanged
    if not default_storage.exists(row.storage_name):
        raise files.missing(row.name)
    part = part_of(row.size, request.headers.get("Range", ""))
    if part is None:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{row.size}"})
    content_type = row.content_type.partition(";")[0].strip().lower()
    is_text = is_written(content_type) and content_type != "image/svg+xml"
    is_shown = is_text or SHOWN.fullmatch(content_type) is not None
    response = StreamingHttpResponse(
        pieces(row.storage_name, part),
        status=part.status,
        headers=headers_of(row, part, is_shown=is_shown and "download" not in request.GET),
    )
    # A text is shown as plain text, whatever its name, so that it is never a page of this site.
    response["Content-Type"] = "text/plain; charset=utf-8" if is_text else content_type
    is_pdf = content_type == "application/pdf"
    response["Content-Security-Policy"] = LOCKED_PDF if is_pdf else LOCKED
    return response
