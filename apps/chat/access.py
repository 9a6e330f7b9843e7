"""Whose conversation it is: the visitor behind a request or a socket, and what belongs to them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.caller import Caller
from apps.chat.models import Conversation
from apps.errors import Refused
from apps.live.models import Run
from apps.workspace.local.models import FormerBucket

VISITOR = "visitor"
"""The session's entry with the bucket that its conversations had before its owner signed in."""


def bucket_of(session_key: str) -> str:
    """The session's name among owners; the key itself is a credential and is not kept."""
    return f"session-{hashlib.sha256(session_key.encode()).hexdigest()[:32]}"


def caller_of(user: Any, session: SessionBase, locale: str) -> Caller:
    """Who asks. Raises `Refused` for a browser without a session: it has never seen a page."""
    if user is not None and user.is_authenticated:
        return Caller(f"user-{user.pk}", "user", user_id=user.pk, locale=locale)
    if not session.session_key:
        raise Refused("no_session", "Your session has ended. Reload the page to go on.")
    return Caller(bucket_of(session.session_key), locale=locale)


def caller_of_scope(scope: Mapping[str, Any]) -> Caller:
    """The same for a connection that Django's middleware has not seen. Raises `Refused`."""
    name = settings.PROXY_LANGUAGE_HEADER.encode()
    accepted = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    return caller_of(scope["user"], scope["session"], first_language(accepted.decode("latin-1")))


def first_language(accepted: str) -> str:
    """The first language of an `Accept-Language` header."""
    return accepted.split(",")[0].split(";")[0].strip()[:35] or "en"


def own(caller: Caller) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner=caller.bucket)


def under(slug: str) -> Q:
    """The conversations under the address of an application, also of one that was deleted."""
    return Q(application__slug=slug) | Q(application=None, former_slug=slug)


def find(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """A conversation of the caller's. Raises `Refused`; a foreign one is a missing one."""
    found = own(caller).filter(under(application), pk=conversation).first()
    if found is None:
        raise Refused("conversation_not_found", "There is no such conversation.")
    return found


def find_open(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """The same to go on with. Raises `Refused` also when its application was deleted."""
    found = find(caller, conversation, application)
    if found.application_id is None:
        raise Refused("application_deleted", why_ended(found))
    return found


def why_ended(conversation: Conversation) -> str:
    return (
        f"“{conversation.former_title}” was deleted. You can read this conversation, download it "
        "and delete it, but not continue it."
    )


@transaction.atomic
def adopt(bucket: str, caller: Caller) -> None:
    """Give somebody who signed in what they began before they did."""
    Conversation.objects.filter(owner=bucket).update(owner=caller.bucket)
    Run.objects.filter(bucket=bucket).update(bucket=caller.bucket)
    FormerBucket.objects.update_or_create(name=bucket, defaults={"bucket": caller.bucket})
