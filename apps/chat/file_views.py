"""Uploads, lists, serves and deletes a visitor's files. Requests for another user's file get a 404
error.
"""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.caller import Caller
from apps.catalog.application_uploads import reader_for
from apps.catalog.models import Application
from apps.chat.notes.access import is_file_of_notes
from apps.chat.visitors import find_application, visitor
from apps.conversations.access import own, under
from apps.conversations.files import folder, unsent
from apps.conversations.files.content_types import is_written
from apps.conversations.files.refusals import size_refusal
from apps.conversations.models import Conversation
from apps.errors import FileMissing, FileRefused, Refused, TooLarge
from apps.integers import read_integer
from apps.runs.explanations import error_text
from apps.workspace.local.files import files
from apps.workspace.local.files.downloads import headers_of, part_of
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.readers import FileReader
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile

OVERHEAD_BYTES = 16 * 1024
"""The maximum number of bytes that an upload's request body can contain in addition to the file."""
SHOWN = re.compile(
    r"image/(png|jpeg|gif|webp|avif|svg\+xml)|application/pdf|(audio|video)/[\w.+-]+"
)
"""The content types that a browser displays. Text is served as plain text, and all other types are
downloaded.
"""
LOCKED = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; media-src 'self'"
"""The content security policy for files that are opened by their URL. It blocks scripts and network
requests, and isolates the file from this site's origin.
"""
LOCKED_PDF = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'"
"""The content security policy for PDF files. It has no `sandbox`, because browsers do not show PDF
files in a sandbox. Their PDF viewers are sandboxed anyway.
"""

View = Callable[..., HttpResponseBase]


def with_json_errors(view: View) -> View:
    """Wrap a view so that it returns errors as JSON, for the page's scripts."""

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        try:
            return view(request, *arguments, **named)
        except Http404:
            return problem(
                "conversation_not_found", gettext("This conversation does not exist."), 404
            )
        except FileMissing:
            return problem("file_missing", gettext("This file does not exist."), 404)
        except (Refused, FileRefused) as error:
            status = 413 if isinstance(error, FileRefused) else error.http_status
            return problem(error.code, error_text(error), status)

    return answer


def problem(code: str, text: str, status: int) -> JsonResponse:
    return JsonResponse({"error": {"message": text, "code": code}}, status=status)


# `receive_upload` checks the CSRF token. The check reads the whole form, so the length must be
# checked first.
@csrf_exempt
@with_json_errors
@require_POST
def upload(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Store an uploaded file for a conversation, which does not need to have any messages yet."""
    check_length(request, settings.CHAT_UPLOAD_MAX_BYTES)
    return receive_upload(request, slug)


def check_length(request: HttpRequest, limit: int) -> None:
    """Raise `TooLarge` if the request body is too large for a file of up to `limit` bytes."""
    if read_integer(request.META.get("CONTENT_LENGTH") or "0", limit + OVERHEAD_BYTES) is None:
        raise TooLarge("too_large", size_refusal(limit))


@csrf_protect
def receive_upload(request: HttpRequest, slug: str) -> HttpResponseBase:
    caller = visitor(request)
    application = find_application(caller, slug)
    return store_sent(request, caller, application, settings.CHAT_UPLOAD_MAX_BYTES)


def store_sent(
    request: HttpRequest,
    caller: Caller,
    application: Application,
    limit: int,
    types: Sequence[str] = (),
) -> HttpResponseBase:
    """Store the uploaded file for the conversation whose ID is in the form field `conversation`.

    `limit` is the file's maximum size in bytes.
    `types` limits the content type; () allows all types. Raises `Refused`, `FileRefused` or
    Http404.
    """
    conversation = read_conversation(request.POST.get("conversation", ""))
    sent = request.FILES.getlist("file")
    if len(sent) != 1:
        raise Refused("bad_request", "file: send one file.")
    known = Conversation.objects.filter(pk=conversation).first()
    if known is not None and not is_own(known, caller, application.pk):
        raise Http404("This conversation does not exist.")
    unsent.delete(files.buckets_of(caller.bucket), but=conversation)
    name, content = sent[0].name or "", sent[0]
    stored = folder.store_upload(caller, conversation, name, content, types, limit)
    return JsonResponse(folder.describe_file(stored), status=201)


def read_conversation(text: str) -> UUID:
    """Parse a conversation's ID. Raises `Refused` if it is not a UUID."""
    if not folder.is_uuid(text):
        raise Refused("bad_request", "conversation: use the ID of a conversation.")
    return UUID(text)


def is_own(conversation: Conversation, caller: Caller, application: int) -> bool:
    return conversation.owner == caller.bucket and conversation.application_id == application


@with_json_errors
@require_GET
def listing(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """List the files in the visitor's conversation. Raises Http404 if the visitor has no such
    conversation.
    """
    caller = visitor(request)
    if not own(caller).filter(under(slug), pk=conversation).exists():
        raise Http404("This conversation does not exist.")
    found = JsonResponse({"files": folder.list_files(caller, conversation)})
    found["Cache-Control"] = "no-store"
    return found


@require_http_methods(["GET", "HEAD", "DELETE"])
def file(request: HttpRequest, bucket: str, name: str) -> HttpResponseBase:
    """Serve a stored file, or delete it if the method is DELETE. Raises Http404 if the visitor has
    no access.
    """
    return show_or_delete(request, visitor(request), bucket, name)


def show_or_delete(
    request: HttpRequest, caller: Caller, bucket: str, name: str
) -> HttpResponseBase:
    path = write_path(bucket, name)
    try:
        if request.method == "DELETE":
            files.delete(caller.bucket, path)
            return HttpResponse(status=204)
        return show_file(request, files.find_stored(reader_of(caller, bucket, name), path))
    except FileRefused:
        raise Http404("This file does not exist.") from None


def reader_of(caller: Caller, bucket: str, name: str) -> FileReader | str:
    """Return the reader whose access to the file is checked: the owner of the notes (a user or a
    team) for a file in notes, otherwise the caller.
    """
    return bucket if is_file_of_notes(caller, bucket, name) else reader_for(caller)


def show_file(request: HttpRequest, row: StoredFile) -> HttpResponseBase:
    """Return the response with the file's content, or the requested range of it. Raises
    `FileMissing` if the storage has no such file.
    """
    unchanged = get_conditional_response(request, etag=f'"{row.etag}"')
    if unchanged is not None:
        return unchanged
    if not storage().exists(row.storage_name):
        raise files.missing(row.name)
    part = part_of(row.size, request.headers.get("Range", ""))
    if part is None:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{row.size}"})
    content_type = row.content_type.partition(";")[0].strip().lower()
    is_text = is_written(content_type) and content_type != "image/svg+xml"
    is_shown = is_text or SHOWN.fullmatch(content_type) is not None
    response = StreamingHttpResponse(
        storage().part(row.storage_name, part.first, part.end),
        status=part.status,
        headers=headers_of(row, part, is_shown=is_shown and "download" not in request.GET),
    )
    # Text is always sent as plain text, whatever the file's name, so that it cannot become a page
    # of this site.
    response["Content-Type"] = "text/plain; charset=utf-8" if is_text else content_type
    is_pdf = content_type == "application/pdf"
    response["Content-Security-Policy"] = LOCKED_PDF if is_pdf else LOCKED
    return response
