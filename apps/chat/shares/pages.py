"""The links of a conversation for its owner, and what is read under one."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from allauth.core.internal import ratelimit
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

from apps.accounts.addresses import address_of
from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.access import person_stream
from apps.chat.account_page import person
from apps.chat.file_views import show, with_json_errors
from apps.chat.models import Conversation, Message
from apps.chat.shares import links
from apps.chat.shares.copies import begin_copy
from apps.chat.shares.models import Share
from apps.chat.shares.snapshot import shared_runs
from apps.chat.visitors import find_conversation, visitor
from apps.errors import FileRefused, Forbidden, Missing, TooOften
from apps.live.notifications import announce_growth
from apps.workspace.local import files

RATES = {"share": "30/5m/user", "continue": "30/5m/ip"}
"""Links that a person makes, and copies that are made from one address."""
SHOWN_CHARACTERS = 100

View = Callable[..., HttpResponseBase]


def unlisted(view: View) -> View:
    """Nobody keeps the page, finds it in a search, or learns its address from a request that it makes."""

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
    """The links to a conversation; with POST a new one. Raises Http404 for another's conversation."""
    found, caller = find_conversation(request, slug, conversation), visitor(request)
    if not request.user.is_authenticated:
        raise Forbidden("sign_in", gettext("Sign in to share a conversation."))
    if request.method == "POST":
        check_rate(request, "share")
        row = links.create(
            person(request), caller, found, links.ShareWishes.read(request.POST.dict())
        )
        return no_store(JsonResponse({"share": described(request, row)}, status=201))
    rows = links.own_shares(caller).filter(conversation=found)
    return no_store(
        JsonResponse(
            {
                "shares": [described(request, row) for row in rows],
                "anyone": links.allows_anyone(found.application),
                **extent(found),
            }
        )
    )


def check_rate(request: HttpRequest, action: str) -> None:
    """Raises `Refused`."""
    if not ratelimit.consume(request, app="apps.chat", action=action, config=RATES):
        raise TooOften(
            "too_often", gettext("That was too often. Wait a few minutes, then try again.")
        )


def no_store(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response


def described(request: HttpRequest, row: Share) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("shared", args=(row.token,)))
    return links.described(row, address)


def extent(conversation: Conversation) -> dict[str, Any]:
    """How many answers a link would show, and the last question among them."""
    runs = shared_runs(conversation)
    asked = Message.objects.filter(run__in=runs[-1:], role=Message.Role.USER)
    text = " ".join((asked.values_list("text", flat=True).first() or "").split())
    is_cut = len(text) > SHOWN_CHARACTERS
    return {
        "answers": len(runs),
        "until": f"{text[: SHOWN_CHARACTERS - 1]}…" if is_cut else text,
    }


def listed(request: HttpRequest, caller: Caller) -> list[dict[str, Any]]:
    """The links of a person for a page of theirs."""
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
    """With `back` to the settings. Raises Http404 for a link that is not the person's, or not there any more."""
    caller = visitor(request)
    row = links.own_shares(caller).filter(pk=share).first()
    if row is None:
        raise Http404("There is no such link.")
    links.revoke(caller, row)
    if "back" not in request.POST:  # of the dialog, which says it itself
        return HttpResponse(status=204)
    messages.success(
        request, gettext("The link is revoked. Nobody can read the conversation with it now.")
    )
    return redirect("/settings/#links")


@require_safe
@ensure_csrf_cookie
@unlisted
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """What was shared. 404 in the same words for what is unknown, revoked, over, or not for the reader."""
    row = links.find(token, request.user)
    if row is None:
        return gone(request)
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
    """Whoever reads; a browser gets no session for that alone."""
    if request.user.is_authenticated:
        return visitor(request)
    return Caller("", address=address_of(request))


def gone(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/shared_gone.html", status=404)


def find_usable(request: HttpRequest, row: Share) -> Application | None:
    """The application, if the reader may use it."""
    if row.conversation.application_id is None:
        return None
    return usable(reader_of(request)).filter(pk=row.conversation.application_id).first()


@require_safe
@unlisted
def file(request: HttpRequest, token: str, number: int, name: str) -> HttpResponseBase:
    """A file that was shared, while it is as it was then."""
    row = links.find(token, request.user)
    if row is None or not row.with_files or not 0 < number <= len(row.files):
        return gone(request)
    kept = row.files[number - 1]
    try:
        found = files.find(row.owner, kept["path"])
        if found.etag != kept["etag"] or kept["name"] != name:
            return gone(request)
        return show(request, found)
    except FileRefused:
        return gone(request)


@require_POST
@with_json_errors
def go_on(request: HttpRequest, token: str) -> HttpResponseBase:
    """Begin a conversation of the reader's with what was shared; where it is."""
    row = links.find(token, request.user)
    if row is None:
        raise Missing("link_over", gettext("This link does not work any more."))
    application = find_usable(request, row)
    if application is None:
        raise Forbidden("no_application", gettext("You may not use this application."))
    check_rate(request, "continue")
    caller = visitor(request)
    made = begin_copy(caller, application, row)
    async_to_sync(announce_growth)(person_stream(caller.bucket))
    address = reverse("conversation", args=(application.slug, made.pk))
    return JsonResponse({"address": address}, status=201)
