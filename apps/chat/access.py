"""The visitor behind a request or a socket, and the conversations that belong to them."""

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
"""The key of the session under which the bucket is kept until its owner signs in."""


def bucket_of(session_key: str) -> str:
    """The bucket of a session without an account."""
    # The key itself is a credential, so only its hash is stored.
    return f"session-{hashlib.sha256(session_key.encode()).hexdigest()[:32]}"


def caller_of(user: Any, session: SessionBase, locale: str) -> Caller:
    """Raises `Refused` for a browser without a session, which has not loaded a page yet."""
    if user is not None and user.is_authenticated:
        return Caller(f"user-{user.pk}", "user", user_id=user.pk, locale=locale)
    if not session.session_key:
        raise Refused("no_session", "Your session has ended. Reload the page to go on.")
    return Caller(bucket_of(session.session_key), locale=locale)


def caller_of_scope(scope: Mapping[str, Any]) -> Caller:
    """The caller of a connection that Django's middleware has not seen. Raises `Refused`."""
    name = settings.PROXY_LANGUAGE_HEADER.encode()
    accepted = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    return caller_of(scope["user"], scope["session"], first_language(accepted.decode("latin-1")))


def first_language(accepted: str) -> str:
    return accepted.split(",")[0].split(";")[0].strip()[:35] or "en"


def own(caller: Caller) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner=caller.bucket)


def under(slug: str) -> Q:
    """Conversations of the application with this slug, also of a deleted one."""
    return Q(application__slug=slug) | Q(application=None, former_slug=slug)


def find(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """A conversation of the caller's. Raises `Refused`, for another's as for a missing one."""
    found = own(caller).filter(under(application), pk=conversation).first()
    if found is None:
        raise Refused("conversation_not_found", "There is no such conversation.")
    return found


def find_open(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """A conversation that can be continued. Raises `Refused` also if its application is deleted."""
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
    """Give a user who signed in the conversations and files of the session before that."""
    Conversation.objects.filter(owner=bucket).update(owner=caller.bucket)
    Run.objects.filter(bucket=bucket).update(bucket=caller.bucket)
    FormerBucket.objects.update_or_create(name=bucket, defaults={"bucket": caller.bucket})
