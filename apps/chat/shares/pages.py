"""The pages for shared conversations: the sharing dialog, the list of links, and the shared
conversation.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from allauth.core import ratelimit
from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.caller import Caller, ClientInfo
from apps.accounts.client_address import address_of
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.file_views import show_file, with_json_errors
from apps.chat.shares import links
from apps.chat.shares.copies import begin_copy
from apps.chat.shares.models import Share
from apps.chat.shares.snapshot import shared_runs
from apps.chat.visitors import account_user, find_conversation, visitor
from apps.conversations.access import person_stream
from apps.conversations.models import Conversation, Message
from apps.errors import FileRefused, Forbidden, Missing, TooOften
from apps.live.journal.notifications import announce_growth
from apps.workspace.local.files import files

SHOWN_CHARACTERS = 100

View = Callable[..., HttpResponseBase]


def unlisted_view(view: View) -> View:
    """Wrap a view so that its responses are not cached or indexed, and browsers send no referrer."""

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        response = view(request, *arguments, **named)
        response["X-Robots-Tag"] = "noindex, nofollow"
        response["Referrer-Policy"] = "no-referrer"
        patch_cache_control(response, private=True, no_store=True)
        return response

    return answer


@require_http_methods(["GET", "POST"])
@with_json_errors
def shares(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponseBase:
    """List the links to a conversation. A POST creates one. Raises Http404 if the visitor has no
    such conversation.
    """
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    if not request.user.is_authenticated:
        raise Forbidden("sign_in", gettext("Sign in to share a conversation."))
    if request.method == "POST":
        check_rate(request, "share")
        row = links.create(
            account_user(request), caller, found, links.ShareOptions.read(request.POST.dict())
        )
        return no_store(JsonResponse({"share": describe_row(request, row)}, status=201))
    rows = links.own_shares(caller).filter(conversation=found)
    return no_store(
        JsonResponse(
            {
                "shares": [describe_row(request, row) for row in rows],
                "anyone": links.allows_anyone(found.application),
                **extent(found),
            }
        )
    )


def check_rate(request: HttpRequest, action: str) -> None:
    """Raise `TooOften` if the client has reached the rate limit for this action."""
    if not ratelimit.consume(request, action=action):
        raise TooOften(
            "too_often", gettext("Too many attempts. Wait a few minutes, then try again.")
        )


def no_store(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response


def describe_row(request: HttpRequest, row: Share) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("shared", args=(row.token,)))
    return links.describe_link(row, address)


def extent(conversation: Conversation) -> dict[str, Any]:
    """Return data for the sharing dialog: the number of answers that a new link would show, and the
    beginning of the last question.
    """
    runs = shared_runs(conversation)
    asked = Message.objects.filter(run__in=runs[-1:], role=Message.Role.USER)
    text = " ".join((asked.values_list("text", flat=True).first() or "").split())
    is_cut = len(text) > SHOWN_CHARACTERS
    return {
        "answers": len(runs),
        "until": f"{text[: SHOWN_CHARACTERS - 1]}…" if is_cut else text,
    }


def list_links(request: HttpRequest, caller: Caller) -> list[dict[str, Any]]:
    """Return the user's links as template data for the settings page."""
    return [
        {
            "row": row,
            "address": request.build_absolute_uri(reverse("shared", args=(row.token,))),
            "application": row.conversation.application_title,
        }
        for row in links.own_shares(caller)
    ]


@login_required
@require_POST
def revoke(request: HttpRequest, share: int) -> HttpResponse:
    """Revoke a link. If the form contains the field `back`, redirect to the settings page. Raises
    Http404 if the user has no such link.
    """
    caller = visitor(request)
    row = links.own_shares(caller).filter(pk=share).first()
    if row is None:
        raise Http404("This link does not exist.")
    links.revoke(caller, row)
    if "back" not in request.POST:  # The dialog shows its own message.
        return HttpResponse(status=204)
    messages.success(request, gettext("The link was revoked and no longer opens the conversation."))
    return redirect("/settings/#links")


@require_safe
@ensure_csrf_cookie
@unlisted_view
def show_shared(request: HttpRequest, token: str) -> HttpResponse:
    """Show a shared conversation. Links that are unknown, revoked, expired or meant for other
    readers all return the same 404 page.
    """
    row = links.find(token, request.user)
    if row is None:
        return show_gone(request)
    caller = reader_of(request)
    is_own = row.user_id == request.user.pk
    if not is_own:
        links.record(caller, row, "contents.read")
    application = row.conversation.application
    context = {
        "share": row,
        "title": row.title or gettext("Untitled"),
        "application": application or Application(title=row.conversation.application_title),
        "author": row.user.get_full_name(),
        "is_own": is_own,
        "may_continue": find_usable(request, row) is not None,
        "turns": row.turns,
    }
    return render(request, "chat/shared.html", context)


def reader_of(request: HttpRequest) -> Caller:
    """Return the reader of a shared conversation as a caller. A signed-out reader gets no
    session.
    """
    if request.user.is_authenticated:
        return visitor(request)
    return Caller("", client=ClientInfo(address=address_of(request)))


def show_gone(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/shared_gone.html", status=404)


def find_usable(request: HttpRequest, row: Share) -> Application | None:
    """Return the conversation's application if the reader can use it, else None."""
    if row.conversation.application_id is None:
        return None
    return usable(reader_of(request)).filter(pk=row.conversation.application_id).first()


@require_safe
@unlisted_view
def file(request: HttpRequest, token: str, number: int, name: str) -> HttpResponseBase:
    """Return the file with this number from a shared conversation, or a 404 page if the file has
    changed or been deleted since it was shared.
    """
    row = links.find(token, request.user)
    if row is None or not row.with_files or not 0 < number <= len(row.files):
        return show_gone(request)
    kept = row.files[number - 1]
    try:
        found = files.find_stored(row.owner, kept["path"])
        if found.etag != kept["etag"] or kept["name"] != name:
            return show_gone(request)
        return show_file(request, found)
    except FileRefused:
        return show_gone(request)


@require_POST
@with_json_errors
def continue_shared(request: HttpRequest, token: str) -> HttpResponseBase:
    """Copy the shared conversation for the reader, and return the copy's URL."""
    row = links.find(token, request.user)
    if row is None:
        raise Missing(
            "link_over", gettext("This link no longer works. Ask the sender for a new link.")
        )
    application = find_usable(request, row)
    if application is None:
        raise Forbidden("no_application", gettext("You can’t use this app."))
    check_rate(request, "continue")
    caller = visitor(request)
    made = begin_copy(caller, application, row)
    async_to_sync(announce_growth)(person_stream(caller.bucket))
    address = reverse("conversation", args=(application.slug, made.pk))
    return JsonResponse({"address": address}, status=201)
