"""The visitor behind a request or a socket, and the conversations that belong to them."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import translation
from django.utils.translation import gettext

from apps.accounts import audit
from apps.accounts.addresses import address_of_scope
from apps.accounts.audit import AuditEvent
from apps.accounts.buckets import caller_in, of_person
from apps.accounts.caller import Caller
from apps.accounts.key_holders import find_holder_of
from apps.accounts.sender_headers import locale_of
from apps.accounts.teams import may_work_in, team_now, team_of
from apps.catalog.access import usable
from apps.chat.folders import folder_of
from apps.chat.languages import accepted_language, chosen_for_scope
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, Folder, PinnedApplication
from apps.errors import Gone, Missing, NotAdmitted, Refused
from apps.feedback import ratings
from apps.live import consents
from apps.live.models import Run
from apps.live.rates import counted_name
from apps.workspace.local.models import FormerBucket
from apps.workspace.local.tool_accounts import delete_of_bucket

VISITOR = "visitor"
"""The key of the session under which the bucket is kept until its owner signs in."""
NOT_FOUND = "conversation_not_found"
PERSONS = UUID("5f3f0a52-6f0e-4d39-9a0b-6f1a5d0a7c11")
"""The name space of their streams."""


def person_stream(bucket: str) -> UUID:
    """The id under which processes tell each other of news for the owner of a bucket."""
    return uuid5(PERSONS, bucket)


def bucket_of(session_key: str) -> str:
    """The bucket of a session without an account."""
    # The key itself is a credential, so only its hash is stored.
    return f"session-{hashlib.sha256(session_key.encode()).hexdigest()[:32]}"


def stranger(locale: str) -> Caller:
    """A caller without an account and without a session, who owns nothing."""
    return Caller(bucket_of(secrets.token_hex()), locale=locale)


def caller_of(user: Any, session: SessionBase, locale: str) -> Caller:
    """Raises `Refused` for a browser without a session, which has not loaded a page yet."""
    if user is not None and user.is_authenticated:
        return caller_in(user.pk, team_of(user, session), locale=locale)
    if not session.session_key:
        raise NotAdmitted(
            "no_session", gettext("Your session has ended. Reload the page to go on.")
        )
    return Caller(bucket_of(session.session_key), locale=locale)


async def caller_of_scope(scope: Mapping[str, Any]) -> Caller:
    """The caller of a connection that Django's middleware has not seen. Raises `Refused`.

    What the task of the connection says from now on is in the caller's language.
    """
    name = settings.PROXY_LANGUAGE_HEADER.encode()
    accepted = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    languages = accepted.decode("latin-1")

    def find() -> tuple[str, Caller]:
        chosen = chosen_for_scope(scope)
        return chosen, caller_of(scope["user"], scope["session"], chosen or locale_of(languages))

    # What was chosen and the team are looked for in the database, on one way there.
    found: tuple[str, Caller] = await database_sync_to_async(find)()
    chosen, caller = found
    translation.activate(chosen or accepted_language(languages))
    return replace(caller, address=address_of_scope(scope))


def has_moved(caller: Caller, session_key: str) -> bool:
    """Whether the person of an open connection works elsewhere by now, or has left the team."""
    if caller.kind == "key":
        prefix = caller.bucket.removeprefix("key-")
        return caller.team is not None and find_holder_of(prefix) is None
    if caller.user_id is None:
        return False
    return team_now(caller.user_id, session_key) != caller.team


async def look_whether_moved(caller: Caller, session_key: str) -> bool:
    found: bool = await database_sync_to_async(has_moved)(caller, session_key)
    return found


def reference_of(caller: Caller) -> dict[str, Any]:
    """What a run keeps of its caller beside the bucket; `caller_of_run` reads it."""
    names = ["kind", "user_id", "team", "locale", "timezone", "surface"]
    if caller.kind == "visitor":
        names.append("address")  # by which they are counted, also while they wait
    return {name: getattr(caller, name) for name in names}


def caller_of_run(run: Run) -> Caller:
    """The caller on whose behalf the run acts.

    Raises `Refused` for an account that is closed, for somebody who has left the team, and for a
    key that is not valid any more.
    """
    folder = folder_of(run.stream)
    if run.caller["kind"] == "key":
        holder = find_holder_of(run.bucket.removeprefix("key-"))
        if holder is None:
            raise Refused("no_key", gettext("The key that asked is not valid any more."))
        return Caller(run.bucket, folder=folder, **{**run.caller, **holder.limits})
    number = run.caller["user_id"]
    if number is not None:
        user = get_user_model().objects.filter(pk=number, is_active=True).first()
        if user is None:
            raise Refused("no_account", gettext("The account that asked is closed."))
        if not may_work_in(user, run.caller.get("team")):
            raise Refused("no_team", gettext("The person who asked is not in the team any more."))
    return Caller(run.bucket, folder=folder, **run.caller)


def own(caller: Caller) -> QuerySet[Conversation]:
    """The conversations of a caller, without deleted ones."""
    return Conversation.objects.kept().filter(owner=caller.bucket)


def own_lasting(caller: Caller) -> QuerySet[Conversation]:
    """Those of them that stand in lists and are searched: without temporary ones."""
    return Conversation.objects.lasting().filter(owner=caller.bucket)


def owned_by(user: int) -> Q:
    """Rows by their `owner` of all that is a person's, for themselves and in their teams."""
    return of_person(user, "owner")


def mark_read(conversation: UUID) -> None:
    Conversation.objects.filter(pk=conversation, is_unread=True).update(is_unread=False)


def under(slug: str) -> Q:
    """Conversations of the application with this slug, also of a deleted one."""
    return Q(application__slug=slug) | Q(application=None, former_slug=slug)


def find(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """A conversation of the caller's. Raises `Refused`, for another's as for a missing one."""
    found = own(caller).filter(under(application), pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, application)
        raise Missing(NOT_FOUND, gettext("There is no such conversation."))
    return found


def lock(conversation: Conversation) -> Conversation:
    """The row as it is now; what changes its path waits until the transaction is over."""
    rows = Conversation.objects.select_for_update(of=("self",))
    found = rows.filter(pk=conversation.pk).first()
    if found is None:
        raise Missing(NOT_FOUND, gettext("There is no such conversation."))
    return found


def record_denial(caller: Caller, conversation: UUID, application: str) -> None:
    """Note in the audit that somebody asked for the conversation of another."""
    if Conversation.objects.filter(pk=conversation).exists():
        denied = AuditEvent(
            "access.denied", caller.bucket, caller.address, application, conversation
        )
        audit.record(denied)


def find_open(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """A conversation that can be continued. Raises `Refused` also if its application is deleted.

    The caller of this function has found the application usable, or calls `check_continuable`.
    """
    found = find(caller, conversation, application)
    if found.application_id is None:
        raise Gone("application_deleted", why_ended(caller, found))
    return found


def check_continuable(caller: Caller, conversation: UUID, application: str) -> None:
    """Raise `Refused` if the caller can no longer use the conversation's application."""
    found = find_open(caller, conversation, application)
    if reason := why_ended(caller, found):
        raise Gone("application_unavailable", reason)


def continuable(caller: Caller, conversations: Iterable[Conversation]) -> set[int]:
    """The applications of these conversations that the caller can use."""
    asked = {one.application_id for one in conversations if one.application_id is not None}
    return set(usable(caller).filter(pk__in=asked).values_list("pk", flat=True)) if asked else set()


def why_ended(caller: Caller, conversation: Conversation) -> str:
    """Why the conversation is read-only, "" if its application can continue it."""
    application = conversation.application
    if application is None:
        reason = gettext(
            "“{former_title}” was deleted. You can read this conversation, download it and delete it, but not continue it."
        )
    elif application.archived_at is not None:
        reason = gettext(
            "“{former_title}” was archived. You can read this conversation, download it and delete it, but not continue it."
        )
    elif continuable(caller, [conversation]):
        return ""
    else:
        reason = gettext(
            "“{former_title}” is not available to you. You can read this conversation, download it and delete it, but not continue it."
        )
    return reason.format(former_title=conversation.application_title)


@transaction.atomic
def adopt(bucket: str, caller: Caller) -> None:
    """Give a user who signed in the conversations and files of the session before that."""
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
    ratings.hand_over(bucket, caller.bucket)
    delete_of_bucket(bucket)  # a browser is not always one person's
    FormerBucket.objects.update_or_create(name=bucket, defaults={"bucket": caller.bucket})
