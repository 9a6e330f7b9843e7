"""Identifies the visitor who requests a page, and finds the visitor's conversations."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.client_address import address_of
from apps.accounts.languages import locale_of_request
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.models import PinnedApplication
from apps.conversations.access import (
    own,
    record_denial,
)
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Folder
from apps.doors.sessions import VISITOR, anonymous_caller, session_bucket, session_caller
from apps.feedback import ratings
from apps.live import consents
from apps.live.limits.quotas import counted_name
from apps.live.models import Run
from apps.workspace.local.models import FormerBucket
from apps.workspace.local.tools.tool_accounts import delete_of_bucket

VISITED_ON = "seen"
"""The session key for the date on which a signed-out browser was last active."""
READS = frozenset(("GET", "HEAD"))

View = Callable[..., HttpResponseBase]


class ConversationMoved(Http404):
    """The requested conversation was handed over to another application. `slug` is that
    application's slug.
    """

    def __init__(self, slug: str) -> None:
        super().__init__("This conversation does not exist.")
        self.slug = slug


def visitor(request: HttpRequest) -> Caller:
    """Return the caller who requests a page.

    A signed-out browser gets a session with its first POST, or when a page opens its WebSocket. A
    browser that only reads pages, such as a crawler, gets none.
    """
    session = request.session
    # `request.user` is read first, because reading it empties the session of a user whose password
    # has changed.
    if not request.user.is_authenticated and not session.session_key:
        if request.method in READS:
            return anonymous_caller(locale_of_request(request)).at(address=address_of(request))
        session.create()
    caller = session_caller(request.user, session, locale_of_request(request))
    caller = caller.at(address=address_of(request))
    if caller.kind == "visitor":
        session_key: str = session.session_key or ""
        today = timezone.now().date().isoformat()
        # A changed session gets a new expiry date. Once a day is enough.
        if session.get(VISITED_ON) != today:
            session[VISITED_ON] = today
            session[VISITOR] = session_bucket(session_key)
    elif VISITOR in session:
        adopt(session.pop(VISITOR), caller)
    return caller


def account_user(request: HttpRequest) -> User:
    """Return the signed-in user. Only views that require sign-in can call this."""
    assert isinstance(request.user, User)  # noqa: S101 - for the type checker
    return request.user


@transaction.atomic
def adopt(bucket: str, caller: Caller) -> None:
    """Move the conversations, folders and feedback from the anonymous session's `bucket` to the
    user who has signed in.
    """
    taken = [*Conversation.objects.filter(owner=bucket).values_list("pk", flat=True)]
    Conversation.objects.filter(owner=bucket).update(owner=caller.bucket)
    Folder.objects.filter(owner=bucket).update(owner=caller.bucket)
    pinned = PinnedApplication.objects.filter(owner=caller.bucket)
    known = list(pinned.values_list("application", flat=True))
    new = PinnedApplication.objects.filter(owner=bucket).exclude(application__in=known)
    new.update(owner=caller.bucket)
    for conversation in taken:
        transaction.on_commit(partial(mirror, conversation))
    Run.objects.filter(bucket=bucket).update(bucket=caller.bucket, counted_as=counted_name(caller))
    consents.hand_over(bucket, caller.bucket)
    ratings.transfer_feedback(bucket, caller.bucket)
    delete_of_bucket(bucket)  # Several users may share a browser.
    FormerBucket.objects.update_or_create(name=bucket, defaults={"bucket": caller.bucket})


def with_sign_in(view: View) -> View:
    """Wrap a view so that it redirects signed-out readers to the sign-in page instead of raising
    Http404.

    The redirect does not reveal whether the page exists.
    """

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        try:
            return view(request, *arguments, **named)
        except Http404:
            if request.user.is_authenticated or request.method not in READS:
                raise
            return redirect_to_login(request.get_full_path())

    return answer


def find_application(caller: Caller, slug: str) -> Application:
    return get_object_or_404(usable(caller), slug=slug)


def find_conversation(request: HttpRequest, slug: str, conversation: UUID) -> Conversation:
    """Return the visitor's conversation. Raises the same exceptions as `conversation_of`."""
    return conversation_of(visitor(request), slug, conversation)


def conversation_of(caller: Caller, slug: str, conversation: UUID) -> Conversation:
    """Return the caller's conversation with the application `slug`, even if the application was
    deleted.

    Raises `ConversationMoved` if the conversation was handed over to another application, and
    Http404 if the caller has no such conversation.
    """
    found = own(caller).filter(pk=conversation).select_related("application").first()
    if found is not None and found.application_slug == slug:
        return found
    if found is None:
        record_denial(caller, conversation, slug)
    elif found.application_id is not None and found.handed_over_at is not None:
        raise ConversationMoved(found.application_slug)
    raise Http404("This conversation does not exist.")
