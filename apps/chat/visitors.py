"""Whoever looks at a page, and what of theirs it is about."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone

from apps.accounts.addresses import address_of
from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.access import (
    VISITOR,
    adopt,
    bucket_of,
    caller_of,
    own,
    record_denial,
    stranger,
)
from apps.chat.languages import locale_of_request
from apps.chat.models import Conversation

VISITED_ON = "seen"
"""A session without an account stores the day of its last use under this name."""
READS = frozenset(("GET", "HEAD"))

View = Callable[..., HttpResponseBase]


class ConversationMoved(Http404):
    """It went on with another application, the one with this `slug`."""

    def __init__(self, slug: str) -> None:
        super().__init__("There is no such conversation.")
        self.slug = slug


def visitor(request: HttpRequest) -> Caller:
    """The caller of a page. A browser without a session gets one with its first POST, or with the
    socket of the page; one that only reads, such as a crawler's, gets none.
    """
    session = request.session
    # The user first: looking up one who has a new password empties the session of the old one.
    if not request.user.is_authenticated and not session.session_key:
        if request.method in READS:
            return replace(stranger(locale_of_request(request)), address=address_of(request))
        session.create()
    caller = caller_of(request.user, session, locale_of_request(request))
    caller = replace(caller, address=address_of(request))
    if caller.kind == "visitor":
        session_key: str = session.session_key or ""
        today = timezone.now().date().isoformat()
        if session.get(VISITED_ON) != today:  # a session that is used does not expire
            session[VISITED_ON] = today
            session[VISITOR] = bucket_of(session_key)
    elif VISITOR in session:
        adopt(session.pop(VISITOR), caller)
    return caller


def with_sign_in(view: View) -> View:
    """Redirect signed-out readers to the sign-in page where the view finds nothing for them.

    The redirect is the same for pages of others and for pages that do not exist.
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
    """Raises Http404."""
    return conversation_of(visitor(request), slug, conversation)


def conversation_of(caller: Caller, slug: str, conversation: UUID) -> Conversation:
    """One of an application with this slug, also of a deleted one. Raises Http404, `ConversationMoved`."""
    found = own(caller).filter(pk=conversation).select_related("application").first()
    if found is not None and found.application_slug == slug:
        return found
    if found is None:
        record_denial(caller, conversation, slug)
    elif found.application_id is not None and found.handed_over_at is not None:
        raise ConversationMoved(found.application_slug)
    raise Http404("There is no such conversation.")
