"""The views for a widget's visitors: files, feedback and earlier messages. Requests contain a
token, not a cookie.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.caller import Caller, ClientInfo
from apps.accounts.client_address import address_of
from apps.catalog.models import Widget
from apps.chat.file_views import check_length, problem, show_or_delete, store_sent
from apps.chat.pages.data import find_manifest
from apps.chat.pages.feedback import change_feedback, list_feedback
from apps.chat.pages.turn_views import send_turns
from apps.chat.visitors import conversation_of
from apps.chat.widget.pages import language_of, own_origin
from apps.chat.widget.tokens import FILES_SALT, caller_of, check_token, read_token
from apps.conversations.files.application_files import is_within_scope
from apps.errors import Conflict, Forbidden, NotAdmitted, QuickAppError
from apps.live.limits.quotas import admit_request, rates_of
from apps.runs.explanations import error_text
from apps.workspace.local.models import StoredFile

MOST_FILES = 50
"""The maximum number of files that a visitor can store."""

View = Callable[..., HttpResponseBase]


def for_visitors(view: View) -> View:
    """Wrap a view so that it requires a valid token and returns errors as JSON. `view` is called
    with the request, the caller and the widget.
    """

    @csrf_exempt  # The view does not use cookies.
    @never_cache
    @wraps(view)
    def answer(request: HttpRequest, slug: str, **named: Any) -> HttpResponseBase:
        with translation.override(language_of(request)):
            try:
                token = read_token(bearer_of(request))
                widget = check_token(token, slug, token.host, own_origin(request))
                return view(request, caller_of(token, client_of(request)), widget, **named)
            except Http404 as error:
                return problem("not_found", str(error), 404)
            except QuickAppError as error:
                return refusal(error)

    return answer


def bearer_of(request: HttpRequest) -> str:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def client_of(request: HttpRequest) -> ClientInfo:
    return ClientInfo(locale=translation.get_language(), address=address_of(request))


def refusal(error: QuickAppError) -> JsonResponse:
    response = problem(error.code, error_text(error), error.http_status)
    seconds = getattr(error, "retry_after", None)
    if seconds is not None:
        response["Retry-After"] = str(seconds)
    return response


@for_visitors
@require_POST
def upload(request: HttpRequest, caller: Caller, widget: Widget) -> HttpResponseBase:
    """Store an uploaded file for a conversation, which does not need to have any messages yet. The
    upload counts toward the rate limits.
    """
    limit = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT
    check_length(request, limit)
    manifest = find_manifest(widget.application.slug)
    types = () if manifest is None else manifest.input_attachment_types
    if not types:
        raise Forbidden("no_uploads", gettext("This app doesn’t accept files."))
    async_to_sync(admit_request)(rates_of(caller, None))
    stored = StoredFile.objects.filter(bucket=caller.bucket, hidden_at=None).count()
    if stored >= MOST_FILES:
        text = gettext("You have {count} files; the limit is {most}.")
        raise Conflict("too_many_files", text.format(count=stored, most=MOST_FILES))
    return store_sent(request, caller, widget.application, limit, types)


@for_visitors
@require_http_methods(["DELETE"])
def delete_file(
    request: HttpRequest, caller: Caller, widget: Widget, bucket: str, name: str
) -> HttpResponseBase:
    check_file(caller, bucket, name)
    return show_or_delete(request, caller, bucket, name)


@require_safe
def show_file(
    request: HttpRequest, slug: str, key: str, bucket: str, name: str
) -> HttpResponseBase:
    """Return a visitor's file.

    Links and images cannot send a token, so their URLs contain a key that can only read files.
    Raises Http404 if the key is invalid or the visitor cannot read the file.
    """
    try:
        token = read_token(key, FILES_SALT)
        check_token(token, slug, token.host, own_origin(request))
    except NotAdmitted:
        raise Http404("This file does not exist.") from None
    caller = caller_of(token, client_of(request))
    check_file(caller, bucket, name)
    return show_or_delete(request, caller, bucket, name)


def check_file(caller: Caller, bucket: str, name: str) -> None:
    """Raise Http404 if the file belongs to another application's conversation."""
    if not is_within_scope(caller, bucket, name):
        raise Http404("This file does not exist.")


@for_visitors
@require_safe
def listing(request: HttpRequest, caller: Caller, widget: Widget) -> HttpResponseBase:
    """Return the visitor's feedback on the answers whose IDs are in the query parameter `message`,
    which can be repeated.
    """
    return list_feedback(request, caller)


@for_visitors
@require_http_methods(["POST", "DELETE"])
def rate(request: HttpRequest, caller: Caller, widget: Widget, message: UUID) -> HttpResponseBase:
    """Store or delete the visitor's feedback on an answer. Raises Http404 if the answer is not the
    visitor's own.
    """
    return change_feedback(request, caller, message)


@for_visitors
@require_safe
def turns(
    request: HttpRequest, caller: Caller, widget: Widget, conversation: UUID
) -> HttpResponseBase:
    """Return the turns of the visitor's conversation that the frame has not loaded yet."""
    return send_turns(request, conversation_of(caller, widget.application.slug, conversation))
